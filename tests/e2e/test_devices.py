# SPDX-License-Identifier: MIT OR Apache-2.0
"""Devices that fail, behind a daemon: out of memory with and without the processors to fall back to, hangs, and one that
never returns."""
import harness
import rpc
from daemon import Case


class Devices(Case):
    def prove(self, d, **more):
        with d.rpc() as c:
            status, text, result = c.prove(rows=6, **more)
        self.assertEqual(status, rpc.OK, text)
        return result

    def test_out_of_memory(self):
        """The job fails and says so; the next one, for which there is memory, is done."""
        d = self.daemon({"gpus.backend": ["sim:oom@0,oom@1,oom@2"], "gpus.failure_limit": 0})
        r = self.prove(d)
        self.assertEqual(r["status"], rpc.FAILED)
        self.assertIn("OUT_OF_MEMORY", r["error"])
        self.assertIn("partition 0, device", r["error"])
        self.assertEqual(self.prove(d)["status"], rpc.COMPLETED)
        self.assertEqual(d.stop(), 0)

    def test_fallback(self):
        """With gpus.cpu_fallback the processors take over: in the log once, and in status and metrics."""
        d = self.daemon({"gpus.backend": ["sim:oom@0+"], "gpus.failure_limit": 0, "gpus.cpu_fallback": True})
        for seed in 1, 2:
            r = self.prove(d, partitions=2, seed=seed)
            self.assertEqual((r["status"], len(r["proof"])), (rpc.COMPLETED, 2 * 192), r["error"])
        self.assertEqual(d.text().count("goes to the fallback device"), 1)
        rpc.eventually("the line of a job", lambda: "2 on the fallback device" in d.text())
        code, metrics = d.get("/metrics")
        self.assertEqual(code, 200)
        self.assertIn(b"\ncuzk_partition_fallbacks_total 4\n", metrics)
        self.assertIn('"fallbacks":4', str(d.get("/status")[1]).replace(" ", ""))
        self.assertEqual(d.stop(), 0)

    def test_hang(self):
        """Found by the watchdog, stopped, and the device works again."""
        d = self.daemon({"gpus.backend": ["sim:hang@0"], "scheduler.stage_timeout": "3s"})
        r = self.prove(d)
        self.assertEqual(r["status"], rpc.FAILED)
        self.assertIn("STAGE_TIMEOUT", r["error"])
        self.assertIn("device 0", r["error"])
        self.assertEqual(self.prove(d)["status"], rpc.COMPLETED)
        self.assertEqual(d.stop(), 0)

    def test_stuck(self):
        """A device that does not even stop: nobody waits for ever, nor does the end of the daemon."""
        d = self.daemon({"gpus.backend": ["sim:stuck@0+"], "scheduler.stage_timeout": "3s", "daemon.shutdown_timeout": "1s"})
        with d.rpc() as c:
            jobs = [c.submit(rows=6, seed=seed)[2] for seed in (1, 2)]
            errors = [c.wait(job)[2]["error"] for job in jobs]
            self.assertIn("STAGE_TIMEOUT", errors[0])
            self.assertIn("NO_DEVICE", errors[1])
            self.assertEqual(c.submit(rows=6, seed=3)[0], rpc.UNAVAILABLE)
        self.assertEqual(d.stop(), 0)
        self.assertIn("does not stop", d.text())


if __name__ == "__main__":
    harness.main()
