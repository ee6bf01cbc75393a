# SPDX-License-Identifier: MIT OR Apache-2.0
"""The wall clock of the daemon is stepped by hours, back and forth, while jobs run and clients wait. Whatever is measured
or waited for goes by the monotonic clock: limits of seconds still end, limits of an hour do not end early. What is off by
a step is off by hours: what is bounded here is bounded by the time the test has taken, or by no time at all."""
import json
import mmap
import os
import signal
import struct
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

import harness
import rpc
from daemon import Case
from rpc import eventually

LIBRARY = os.environ.get("CUZK_STEPPED_CLOCK")
HOUR = 3600
STEPS = (5, -7, 0, 30, -1, 12)  # hours from the true time


class Clock:
    def __init__(self, path):
        path.write_bytes(bytes(8))
        self.path = path
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 8)

    def set(self, hours):
        self.map[:] = struct.pack("=q", int(hours * HOUR * 1e9))

    def env(self):
        return {"LD_PRELOAD": LIBRARY, "CUZK_TEST_CLOCK": str(self.path)}


def busy(d):
    return d.status()["cuzk"]["counts"]["running"]


@unittest.skipUnless(LIBRARY, "CUZK_STEPPED_CLOCK does not name the library")
class Steps(Case):
    def setUp(self):
        super().setUp()
        self.clock = Clock(self.dir / "clock")
        self.begin = time.monotonic()

    def on(self, plan, **more):
        return self.daemon({"gpus.backend": [f"sim:{plan}"], "gpus.gpu_workers_per_device": 1, **more}, env=self.clock.env())

    def passed(self):
        """Seconds since the test began: what no measurement may exceed."""
        return time.monotonic() - self.begin

    def in_the_background(self, fn):
        pool = ThreadPoolExecutor(1)
        self.addCleanup(pool.shutdown)
        return pool.submit(fn)

    def waiting(self, d, job, timeout_ms=0):
        """A client that waits for a job; the clock is stepped only once the job runs."""
        def wait():
            with d.rpc(timeout=90) as c:
                return c.wait(job, timeout_ms)
        answer = self.in_the_background(wait)
        eventually("a running job", lambda: busy(d))
        time.sleep(0.2)  # and the wait has begun, most likely
        return answer

    def submit(self, d, **request):
        with d.rpc() as c:
            status, text, job = c.submit(**request)
        self.assertEqual(status, rpc.OK, text)
        return job

    def test_while_jobs_run(self):
        log = self.dir / "timeline.log"
        d = self.on("kernel=100ms", **{"timeline.path": log, "logging.level": "debug", "scheduler.job_deadline": "1h",
                                       "scheduler.stage_timeout": "1h", "scheduler.ageing": "1h"})
        with ThreadPoolExecutor(8) as pool:
            def prove(i):
                with d.rpc(timeout=90) as c:
                    return c.prove(partitions=4, seed=i)
            answers = [pool.submit(prove, i) for i in range(8)]
            uptimes = []
            for hours in STEPS:
                self.clock.set(hours)
                time.sleep(0.4)
                s = d.status()
                uptimes.append(s["uptime_secs"])
            for a in answers:
                code, text, r = a.result()
                self.assertEqual((code, r["status"]), (rpc.OK, rpc.COMPLETED), text + r["error"])
                self.assertLess(r["total_ms"] / 1000, self.passed())
        self.assertEqual(uptimes, sorted(uptimes))
        self.assertTrue(0 <= uptimes[0] and uptimes[-1] < self.passed(), uptimes)
        self.assertEqual(d.stop(), 0)
        # Offsets of the timeline are of the monotonic clock: one run, no gap of hours, whatever the wall says.
        rows = [line.split(",", 4) for line in log.read_text().splitlines() if line.startswith("TIMELINE,")]
        self.assertEqual(sum(r[2] == "EPOCH" for r in rows), 1)
        offsets = [float(r[1]) / 1000 for r in rows]
        self.assertTrue(0 <= min(offsets) and max(offsets) < self.passed(), (min(offsets), max(offsets)))
        analysis = json.loads(harness.run("waterfall", log, "--json").stdout)
        self.assertEqual(len(analysis["jobs"]), 8)
        self.assertLess(analysis["summary"]["wall_ms"] / 1000, self.passed())

    def test_the_log(self):
        """Its time is the wall's, so it jumps; every line still has one."""
        for form in ("text", "json"):
            with self.subTest(form):
                d = self.on("kernel=1ms", **{"logging.level": "debug", "logging.format": form})
                for i, hours in enumerate(STEPS):
                    self.clock.set(hours)
                    with d.rpc() as c:
                        self.assertEqual(c.prove(seed=i)[2]["status"], rpc.COMPLETED)
                self.clock.set(0)
                self.assertEqual(d.stop(), 0)
                lines = d.text().splitlines()
                times = [json.loads(line)["time"] if form == "json" else line.split()[0] for line in lines]
                for t in times:
                    self.assertRegex(t, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
                now = datetime.now(timezone.utc)
                hours = [(datetime.fromisoformat(t[:-1] + "+00:00") - now).total_seconds() / HOUR for t in times]
                self.assertTrue(max(hours) > 20 and min(hours) < -6, (form, min(hours), max(hours)))

    def test_a_wait_is_not_cut_short(self):
        d = self.on("kernel=2s")
        job = self.submit(d)
        answer = self.waiting(d, job, HOUR * 1000)
        with d.rpc() as c:
            for hours in STEPS:
                self.clock.set(hours)
                self.assertEqual(c.wait(job, 50)[2]["status"], rpc.TIMEOUT)  # so that the daemon looks at its clock
        status, text, r = answer.result()
        self.assertEqual((status, r["status"]), (rpc.OK, rpc.COMPLETED), text)

    def test_a_call_with_a_limit(self):
        """What the client says of its call (grpc-timeout)."""
        d = self.on("kernel=2s")
        for hours in (-7, 5):
            self.clock.set(0)

            def prove(seed=hours & 0xff):
                with d.rpc(timeout=90) as c:
                    return c.call(c.SERVICE + "Prove", rpc.message({1: rpc.submit_fields(seed=seed)}), HOUR)
            answer = self.in_the_background(prove)
            eventually("a running job", lambda: busy(d))
            self.clock.set(hours)
            status, text, data = answer.result()
            self.assertEqual((status, rpc.result(rpc.one(rpc.fields(data), 1))["status"]), (rpc.OK, rpc.COMPLETED), text)

    def test_a_wait_ends(self):
        d = self.on("hang@0+")
        for hours in (-7, 5):
            self.clock.set(0)
            job = self.submit(d, seed=hours & 0xff)
            answer = self.waiting(d, job, 1000)
            self.clock.set(hours)
            status, text, r = answer.result()
            self.assertEqual((status, r["status"]), (rpc.OK, rpc.TIMEOUT), text)
            with d.rpc() as c:
                self.assertEqual(c.wait(job, 300)[2]["status"], rpc.TIMEOUT)  # begun after the step
                self.assertEqual(c.cancel(job)[0], rpc.OK)

    def test_deadlines(self):
        for limit in ("scheduler.job_deadline", "scheduler.stage_timeout"):
            for hours in (-7, 5):
                with self.subTest(f"{limit}, {hours} h"):
                    self.clock.set(0)
                    d = self.on("hang@0", **{limit: "1s"})
                    answer = self.waiting(d, self.submit(d))
                    self.clock.set(hours)
                    status, text, r = answer.result()
                    self.assertEqual((status, r["status"]), (rpc.OK, rpc.FAILED), text)
                    self.assertEqual(d.stop(), 0)
                    self.clock.set(0)
                    d = self.on("kernel=1s", **{limit: "1h"})
                    answer = self.waiting(d, self.submit(d))
                    self.clock.set(hours)
                    status, text, r = answer.result()
                    self.assertEqual((status, r["status"]), (rpc.OK, rpc.COMPLETED), text + r["error"])
                    self.assertEqual(d.stop(), 0)

    def test_a_drain(self):
        for hours in (-7, 5):
            with self.subTest(f"{hours} h"):
                # A limit of an hour is not over because the clock says so,
                self.clock.set(0)
                d = self.on("kernel=2s", **{"daemon.shutdown_timeout": "1h"})
                answer = self.waiting(d, self.submit(d))
                d.process.send_signal(signal.SIGTERM)
                eventually("the drain", lambda: d.get("/healthz")[0] == 503)
                self.clock.set(hours)
                self.assertEqual(answer.result()[2]["status"], rpc.COMPLETED)
                self.assertEqual(d.process.wait(60), 0)
                # and one of a second is.
                self.clock.set(0)
                d = self.on("hang@0", **{"daemon.shutdown_timeout": "1s"})
                answer = self.waiting(d, self.submit(d))
                d.process.send_signal(signal.SIGTERM)
                eventually("the drain", lambda: d.get("/healthz")[0] == 503)
                self.clock.set(hours)
                self.assertEqual(answer.result()[2]["status"], rpc.JOB_CANCELLED)
                self.assertEqual(d.process.wait(60), 0)

    def test_a_device_rests_and_comes_back(self):
        d = self.on("abort@0", **{"gpus.failure_limit": 1, "gpus.retry_after": "1s", "pipeline.max_attempts": 1})
        with d.rpc() as c:
            self.assertEqual(c.prove(seed=1)[2]["status"], rpc.FAILED)
            self.clock.set(-7)
            self.assertEqual(c.prove(seed=2)[2]["status"], rpc.COMPLETED)
        self.assertTrue(d.status()["cuzk"]["devices"][0]["healthy"])


if __name__ == "__main__":
    harness.main()
