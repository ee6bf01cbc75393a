# SPDX-License-Identifier: MIT OR Apache-2.0
"""More keys than fit: of two kinds in turn; and of one that was used a moment ago, while something else is under way."""
import harness
import rpc
from daemon import Case
from rpc import eventually

PROOFS = 6
CRITICAL = 4


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


class JustUsed(Case):
    """A job waits for memory. A key that was just used is idle, and a unit that hangs on the device holds more than is
    wanted. Room for all of it but for a few megabytes, less than that key."""

    def wait_for_memory(self, **settings):
        d = self.daemon({"gpus.backend": ["sim:hang@1"], "gpus.gpu_workers_per_device": 1, "memory.total_budget": "46MiB", **settings})
        with d.rpc(timeout=120) as c:
            self.assertEqual(c.prove(rows=13)[2]["status"], rpc.COMPLETED)
            self.hanging = c.submit(rows=14)[2]
            self.sees(d, "GPU_START", self.hanging)
        return d

    def sees(self, d, event, job):
        eventually(event, lambda: any(f",{event},{job}," in line for line in d.timeline()["lines"]))

    def submit(self, d, priority=0):
        with d.rpc() as c:
            status, text, job = c.submit(rows=12, priority=priority)
        self.assertEqual(status, rpc.OK, text)
        return job

    def evictions(self, d):
        return d.status()["cuzk"]["engine"]["key_evictions"]

    def goes_on(self, d, job):
        """The unit is let go, the job done; returns how many keys went in all."""
        with d.rpc(timeout=120) as c:
            self.assertEqual(c.cancel(self.hanging)[0], rpc.OK)
            status, text, r = c.wait(job)
            self.assertEqual((status, r["status"]), (rpc.OK, rpc.COMPLETED), text + r["error"])
        evictions = self.evictions(d)
        self.assertEqual(d.stop(), 0)
        return evictions

    def test_stays_for_a_while(self):
        d = self.wait_for_memory(**{"memory.eviction_min_idle": "1h"})
        job = self.submit(d)
        self.sees(d, "MEM_WAIT_START", job)
        self.assertEqual(self.evictions(d), 0)
        self.assertEqual(self.goes_on(d, job), 0)

    def test_goes_at_once(self):
        d = self.wait_for_memory(**{"memory.eviction_min_idle": "0s"})
        job = self.submit(d)
        eventually("the key's end", lambda: self.evictions(d) == 1)
        self.assertEqual(self.goes_on(d, job), 1)

    def test_goes_after_a_while(self):
        d = self.wait_for_memory(**{"memory.eviction_min_idle": "2s"})
        job = self.submit(d)
        eventually("the key's end", lambda: self.evictions(d) == 1)
        self.assertEqual(self.goes_on(d, job), 1)

    def test_goes_for_a_critical_job(self):
        d = self.wait_for_memory(**{"memory.eviction_min_idle": "1h"})
        job = self.submit(d, CRITICAL)
        eventually("the key's end", lambda: self.evictions(d) == 1)
        self.assertEqual(self.goes_on(d, job), 1)


if __name__ == "__main__":
    harness.main()
