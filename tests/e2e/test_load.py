# SPDX-License-Identifier: MIT OR Apache-2.0
"""Many clients at once: nobody is forgotten, figures add up at every look, memory stays where it was, and the status
answers all the while. The program behind it is tests/service/load.c."""
import json
import os
import subprocess
import threading
import time
import unittest

import harness
from daemon import Case

LOAD = os.environ.get("CUZK_LOAD", "load")


class Poller(threading.Thread):
    """GET /status twenty times a second; what it took, and each time: is every accepted job somewhere?"""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.d, self.over, self.times, self.faults, self.longest_queue = daemon, threading.Event(), [], [], 0

    def run(self):
        while not self.over.wait(0.05):
            begin = time.monotonic()
            try:
                s = self.d.status()
                self.times.append(time.monotonic() - begin)
                c = s["cuzk"]["counts"]
                now = c["queued"] + c["running"]
                self.longest_queue = max(self.longest_queue, now)
                if now + c["completed"] + c["failed"] + c["cancelled"] != c["accepted"]:
                    self.faults.append(f"counts do not add up: {c}")
            except Exception as e:  # pylint: disable=broad-except
                self.faults.append(repr(e))

    def stop(self):
        self.over.set()
        self.join(30)


class Load(Case):
    def run_load(self, clients, jobs, rss_at, warm_up=0):
        # The tail of the timeline is memory that fills up by design, so it is small here.
        d = self.daemon({"daemon.max_pending": 64, "daemon.max_connections": 1024, "scheduler.results_kept": 64,
                         "pipeline.synthesis_concurrency": 2, "timeline.tail_lines": 1024})
        # Threads, arenas and connections' buffers come with the first jobs; what comes after that would be a leak.
        if warm_up > 0:
            subprocess.run([LOAD, "%s:%d" % d.grpc, "--clients", str(clients), "--jobs", str(warm_up), "--rows", "6", "--partitions", "3"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        poller = Poller(d)
        poller.start()
        begin = time.monotonic()
        p = subprocess.Popen([LOAD, "%s:%d" % d.grpc, "--clients", str(clients), "--jobs", str(jobs), "--bad", "10", "--cancel", "10",
                              "--gone", "5", "--rows", "6", "--partitions", "3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.stderr.close)
        rss, last = {}, ""
        for line in p.stdout:
            if line.startswith("done "):
                rss[int(line.split()[1])] = d.resident()
            else:
                last = line
        p.stdout.close()
        code = p.wait(60)
        seconds = time.monotonic() - begin
        complaints = p.stderr.read()
        self.assertEqual(code, 0, f"{last}{complaints}{d.text()[-2000:]}")
        tally = json.loads(last)
        # What was cancelled may still be on its way out.
        for _ in range(200):
            counts = d.status()["cuzk"]["counts"]
            if counts["queued"] + counts["running"] == 0:
                break
            time.sleep(0.05)
        poller.stop()
        times = sorted(poller.times)
        print(json.dumps({"clients": clients, "seconds": round(seconds, 1), **tally, "counts": counts, "polls": len(times),
                          "status_ms_median": round(times[len(times) // 2] * 1e3, 1), "status_ms_max": round(times[-1] * 1e3, 1),
                          "in_flight_max": poller.longest_queue, "rss_mib": {n: b >> 20 for n, b in rss.items()}}), flush=True)
        self.assertEqual(tally["jobs"], jobs)
        self.assertEqual(poller.faults, [])
        self.assertLess(times[-1], 1.0, "the slowest answer of /status")
        self.assertEqual(counts["queued"] + counts["running"], 0, counts)
        self.assertEqual(counts["failed"], 0, counts)
        self.assertEqual(counts["completed"] + counts["cancelled"], counts["accepted"])
        self.assertGreaterEqual(counts["completed"], warm_up + tally["completed"] + tally["gone_completed"])
        if rss_at:
            early, late = rss[rss_at[0]], rss[rss_at[1]]
            self.assertLess(late, early * 1.05, f"resident: {early >> 20} MiB after job {rss_at[0]}, {late >> 20} MiB after {rss_at[1]}")
        self.assertEqual(d.stop(), 0, d.text()[-2000:])


class Few(Load):
    def test_20_clients(self):
        self.run_load(20, 200, None)


class Many(Load):
    def test_200_clients(self):
        self.run_load(200, 2000, (200, 2000), warm_up=800)


if __name__ == "__main__":
    unittest.main(argv=["test_load", "-v", *harness.sys.argv[1:]])
