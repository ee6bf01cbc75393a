# SPDX-License-Identifier: MIT OR Apache-2.0
"""Proofs of two kinds in turn, and no room for both keys beside a proof of the larger one."""
import harness
import rpc
from daemon import Case

PROOFS = 6


class Kinds(Case):
    def loads(self, together):
        """Keys loaded for PROOFS proofs that all wait before the first one is done."""
        d = self.daemon({"gpus.backend": ["sim:kernel=1s"], "memory.total_budget": "21MB", "scheduler.sort_by_type": together})
        with d.rpc(timeout=120) as c:
            jobs = []
            for i in range(PROOFS):
                status, text, job = c.submit(rows=13 - i % 2, seed=i)
                self.assertEqual(status, rpc.OK, text)
                jobs.append(job)
            for job in jobs:
                status, text, r = c.wait(job)
                self.assertEqual((status, r["status"]), (rpc.OK, rpc.COMPLETED), text + r["error"])
        engine = d.status()["cuzk"]["engine"]
        self.assertEqual(d.stop(), 0)
        return engine["key_loads"]

    def test_one_kind_after_the_other(self):
        self.assertEqual(self.loads(True), 2)

    def test_as_they_came(self):
        self.assertGreaterEqual(self.loads(False), 4)


if __name__ == "__main__":
    harness.main()
