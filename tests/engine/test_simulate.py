# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk simulate from outside: figures, formats, logs that go round, sweeps, and flags that make no sense."""
import csv
import io
import json
import os
import subprocess
import tempfile
import unittest

CUZK = os.environ["CUZK_BIN"]
STANDARD = ["--policy", "standard", "--proofs", "10", "--synth", "38s", "--gpu", "26s"]


def run(*args, command="simulate"):
    return subprocess.run([CUZK, command, *map(str, args)], capture_output=True, timeout=120, text=True, check=False)


class Simulate(unittest.TestCase):
    def ok(self, *args, **kw):
        r = run(*args, **kw)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        return r.stdout

    def test_json(self):
        d = json.loads(self.ok(*STANDARD, "--json"))
        self.assertEqual(len(d["jobs"]), 10)
        self.assertAlmostEqual(d["steady"]["gpu_utilization_pct"], 68.42, 2)
        self.assertEqual(d["steady"]["avg_idle_gap_ms"], 12000)
        self.assertEqual(d["simulation"]["done"], 10)
        self.assertEqual(d["simulation"]["policy"], "standard")

    def test_formats(self):
        begins = {"text": "simulated: policy standard", "csv": "job,", "svg": "<svg", "html": "<!", "trace": "{"}
        for name, begin in begins.items():
            with self.subTest(name):
                out = self.ok(*STANDARD, "--format", name)
                self.assertIn(begin, out[:400])
        self.assertEqual(len(list(csv.DictReader(io.StringIO(self.ok(*STANDARD, "--format", "csv"))))), 10)

    def test_the_same_again(self):
        args = [*STANDARD, "--synthesis-concurrency", "3", "--synth-contention", "1.2", "--log", "-"]
        self.assertEqual(self.ok(*args), self.ok(*args))

    def test_log_goes_round(self):
        with tempfile.TemporaryDirectory() as d:
            log, page = os.path.join(d, "log"), os.path.join(d, "page.html")
            self.ok(*STANDARD, "--key-load", "30s", "--log", log, "--out", page)  # by its ending
            with open(page, encoding="utf-8") as f:
                self.assertIn("<html", f.read()[:2000])
            first = json.loads(self.ok(log, "--json", command="waterfall"))
            again = json.loads(self.ok("--from", log, "--json"))
            self.assertEqual(again["simulation"]["policy"], "standard")
            self.assertEqual(first["summary"], again["summary"])
            faster = json.loads(self.ok("--from", log, "--json", "--policy", "partition", "--devices", "2",
                                        "--synthesis-concurrency", "2", "--concurrency", "4"))
            self.assertLess(faster["simulation"]["wall_ms"], 0.7 * first["summary"]["wall_ms"])

    def test_sweep(self):
        rows = json.loads(self.ok("--policy", "standard", "--concurrency", "4", "--proofs", "12", "--json",
                                  "--partition-bytes", "1GiB", "--sweep", "synthesis_concurrency=1..3"))
        self.assertEqual([r["synthesis_concurrency"] for r in rows], [1, 2, 3])
        self.assertAlmostEqual(rows[0]["seconds_per_proof"], 38)
        self.assertAlmostEqual(rows[1]["seconds_per_proof"], 26)
        self.assertGreater(rows[1]["peak_memory_bytes"], rows[0]["peak_memory_bytes"])
        self.assertEqual(len(self.ok("--sweep", "devices=1..4").splitlines()), 5)
        self.assertEqual(len(self.ok("--sweep", "lookahead=2..3", "--format", "csv").splitlines()), 3)

    def test_kinds(self):
        args = ["--kinds", "2", "--proofs", "12", "--concurrency", "6", "--partitions", "1", "--key-load", "60s",
                "--budget", "64GiB", "--key-bytes", "47GiB", "--partition-bytes", "13.6GiB", "--json"]
        loads = {}
        for name, more in (("sorted", []), ("as they came", ["--sort-by-type", "off"]), ("no ageing", ["--ageing", "0s"]),
                           ("old", ["--ageing", "2min", "--synth", "60s"])):
            loads[name] = json.loads(self.ok(*args, *more))["simulation"]["key_loads"]
        self.assertEqual(loads["sorted"], 2)
        self.assertEqual(loads["as they came"], 12)
        self.assertEqual(loads["no ageing"], 12)
        self.assertTrue(2 < loads["old"] < 12, loads)
        # Three keys fit, with little beside them: either they stay, or more partitions are under way.
        args = ["--kinds", "3", "--proofs", "24", "--concurrency", "6", "--partitions", "4", "--budget", "156GiB",
                "--key-bytes", "47GiB", "--partition-bytes", "13.6GiB", "--key-load", "60s", "--json"]
        evictions = [json.loads(self.ok(*args, "--eviction-min-idle", t))["simulation"]["key_evictions"]
                     for t in ("0s", "1h")]
        self.assertGreater(evictions[0], 0)
        self.assertEqual(evictions[1], 0)

    def test_mistakes(self):
        for args, words in (
            (["--policy", "magic"], "standard, slotted, partition or batch"),
            (["--synth", "38"], "38s or"),
            (["--synth", "1s,,2s"], "38s or"),
            (["--gpu", "-1s"], "38s or"),
            (["--gpu", "1e9h"], "38s or"),
            (["--budget", "1.5gib"], "256GiB"),
            (["--sort-by-type", "yes"], "on or off"),
            (["--kinds", "0"], "--kinds takes a number"),
            (["--proofs", "0"], "--proofs takes a number"),
            (["--partitions", "70000"], "--partitions takes a number"),
            (["--synth-contention", "0.5"], "1 to 1000"),
            (["--sweep", "devices=3..1"], "PARAM=A..B"),
            (["--sweep", "devices"], "PARAM=A..B"),
            (["--sweep", "colour=1..3"], "the parameters are"),
            (["--sweep", "devices=1..2", "--format", "svg"], "text, json or csv"),
            (["--sweep", "devices=1..2", "--log", "x"], "no --log"),
            (["stray"], "stray"),
        ):
            with self.subTest(args):
                r = run(*args)
                self.assertEqual((r.returncode, r.stdout), (2, ""))
                self.assertIn(words, r.stderr)
                self.assertEqual(r.stderr.count("\n"), 1)

    def test_failures(self):
        r = run("--budget", "1GiB", "--key-bytes", "2GiB")
        self.assertEqual(r.returncode, 1)
        self.assertIn("TOO_BIG", r.stderr)
        self.assertEqual(run("--from", "no/such/file").returncode, 1)
        self.assertEqual(run("--log", "no/such/folder/log").returncode, 1)
        with tempfile.NamedTemporaryFile("w") as f:
            f.write("TIMELINE,0,SYNTH_START,a,\n")
            f.flush()
            r = run("--from", f.name)
            self.assertEqual(r.returncode, 1)
            self.assertIn(f.name, r.stderr)


if __name__ == "__main__":
    unittest.main()
