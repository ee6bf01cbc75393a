# SPDX-License-Identifier: MIT OR Apache-2.0
"""The command line itself: help, usage errors, JSON, exit codes, outputs that cannot be written, signals, progress."""
import json
import os
import pty
import signal
import subprocess
import time
import unittest

from harness import CUZK, PARAMS, ROOT, VECTORS, Case, c1_path, golden_proof, main, run

DIGEST = ["circuit", "digest", "--kind", "porep", "--sector-size", "2KiB"]
TRACE = ["circuit", "trace", "--kind", "porep", "--sector-size", "2KiB"]
COMMANDS = (["prove"], ["verify"], ["params"], ["circuit", "digest"], ["circuit", "trace"], ["witness", "digest"])


class Usage(Case):
    def test_help(self):
        r = self.ok("--help")
        for word in (b"prove", b"verify", b"params", b"circuit", b"witness", b"Examples", b"Exit codes"):
            self.assertIn(word, r.stdout)
        self.assertEqual(self.ok("help").stdout, r.stdout)
        for c in COMMANDS:
            with self.subTest(c):
                r = self.ok(*c, "--help")
                self.assertTrue(r.stdout.startswith(b"Usage: cuzk " + " ".join(c).encode()), r.stdout[:60])
                self.assertIn(b"Examples:\n  cuzk " + " ".join(c).encode(), r.stdout)
                self.assertIn(b"--json", r.stdout)
                self.assertEqual(r.stderr, b"")
        self.ok("circuit", "--help")
        self.ok("witness", "--help")

    def test_version(self):
        want = next(line for line in (ROOT / "CMakeLists.txt").read_text().splitlines() if "project(cuzk" in line)
        version = want.split("VERSION ")[1].split()[0]
        self.assertEqual(self.ok("--version").stdout.decode(), f"cuzk {version}\n")
        self.assertEqual(json.loads(self.ok("--version", "--json").stdout)["version"], version)

    def test_usage_errors(self):
        c1 = c1_path("porep-2k-a")
        p = ["prove", "--kind", "porep", "--c1", c1, "--params", PARAMS]
        rows = [
            ("command", []),
            (["unknown command", "frob", "prove, verify"], ["frob"]),
            (["unknown option", "--frob"], ["--frob"]),
            (["'digest' or 'trace'"], ["circuit"]),
            (["'digest' or 'trace'", "frob"], ["circuit", "frob"]),
            ("'digest'", ["witness"]),
            (["unknown option '--frob'", "cuzk prove --help"], [*p, "--frob"]),
            (["unknown option '-x'"], [*p, "-x"]),
            (["--out", "needs a value"], [*p, "--out"]),
            (["--json", "takes no value"], [*p, "--json=1"]),
            (["unexpected argument", "stray"], [*p, "stray"]),
            (["--out is needed"], p),
            (["--kind is needed"], ["prove", "--c1", c1, "--params", PARAMS, "--out", "x"]),
            (["--params is needed"], ["verify", "--kind", "porep", "--c1", c1, "--proof", "x"]),
            (["--insecure-test-label is needed"], ["params", "--kind", "porep", "--sector-size", "2KiB", "--out", "x"]),
            (["unknown kind 'post'", "kinds: porep"], ["prove", "--kind", "post"]),
            (["unknown kind 'winning'", "porep"], [*DIGEST[:2], "--kind", "winning", "--sector-size", "2KiB"]),
            (["'once', 'full' or 'curve'", "half"], [*p, "--check-params", "half"]),
            (["--threads", "'0'"], [*p, "--threads", "0"]),
            (["--threads", "'-1'"], [*p, "--threads", "-1"]),
            (["--threads", "'2x'"], [*p, "--threads", "2x"]),
            (["--threads", "99999999999999999999"], [*p, "--threads", "99999999999999999999"]),
            (["--every", "'0'"], [*TRACE, "--every", "0"]),
            (["API version", "1.3", "1.0, 1.1, 1.2"], [*DIGEST, "--api", "1.3"]),
            (["challenges", "none"], [*DIGEST, "--challenges", "none"]),
            (["--partition", "x"], ["witness", "digest", "--c1", c1, "--partition", "x"]),
        ]
        for size in ("3KiB", "2", "2 KiB", "-2KiB", "2KiBx", "", "1.5GiB", "99999999999999999999GiB", "KiB"):
            rows.append((["2KiB"] if size != "2" else ["size"], [*DIGEST[:4], "--sector-size", size]))
        for words, args in rows:
            with self.subTest(args=" ".join(map(str, args))):
                self.refused(words, *args, code=2)
                if args[-1:] == ["--out"]:  # there --json would be the value
                    continue
                r = run(*args, "--json")
                self.assertEqual(r.returncode, 2)
                self.assertEqual(json.loads(r.stdout)["error"]["status"], "USAGE")
                self.assertEqual(json.loads(r.stdout)["error"]["text"], r.stderr.decode()[len("cuzk: "):-1])

    def test_json_errors(self):
        r = run("prove", "--json", "--kind", "porep", "--c1", self.dir / "nowhere", "--params", PARAMS, "--out",
                self.dir / "proof")
        self.assertEqual((r.returncode, r.stdout.count(b"\n")), (1, 1))
        self.assertEqual(json.loads(r.stdout)["error"]["status"], "IO")
        # Where the proof would go to stdout nothing else does, errors neither.
        r = run("prove", "--json", "--kind", "porep", "--c1", self.dir / "nowhere", "--params", PARAMS, "--out", "-")
        self.assertEqual((r.returncode, r.stdout), (1, b""))
        # Bytes that are not UTF-8 and control characters break neither the line nor the document.
        for name in (b"\xff\xfe", b"a\nb\x1b[31m", b'"quoted"\\'):
            r = subprocess.run([CUZK, "verify", "--json", "--kind", "porep", "--c1", os.fsencode(self.dir) + b"/" + name,
                                "--params", str(PARAMS), "--proof", "x"], capture_output=True)
            self.assertEqual(r.returncode, 1)
            self.assertEqual(r.stderr.count(b"\n"), 1)
            self.assertNotIn(b"\x1b", r.stderr)
            self.assertEqual(json.loads(r.stdout)["error"]["status"], "IO")


class Outputs(Case):
    """Where the result cannot go. Found before the work, where that can be known."""

    def prove(self, words, out, **kw):
        started = time.monotonic()
        self.refused(words, "prove", "--kind", "porep", "--c1", c1_path("porep-2k-a"), "--params", PARAMS, "--out",
                     out, "--check-params", "curve", **kw)
        return time.monotonic() - started

    def test_prove(self):
        self.assertLess(self.prove("nowhere", self.dir / "nowhere" / "proof"), 2)
        self.assertLess(self.prove("directory", self.dir), 2)
        self.assertLess(self.prove("proof/x", self.dir / "proof" / "x"), 2)
        self.assertLess(self.prove("cannot create", "/proc/proof"), 2)  # root may write everywhere but there

    def test_full(self):
        self.prove(["/dev/full", "space"], "/dev/full")
        self.assertTrue(os.path.exists("/dev/full") and not os.path.isfile("/dev/full"))
        with open("/dev/full", "wb") as full:
            r = subprocess.run([CUZK, *DIGEST], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(r.returncode, 1)
        self.assertRegex(r.stderr, rb"^cuzk: standard output: .*[Ss]pace.*\n$")

    def test_trace(self):
        self.refused("nowhere", *TRACE, "--out", self.dir / "nowhere" / "trace")
        self.refused("space", *TRACE, "--every", "100", "--out", "/dev/full")

    def test_params(self):
        args = ["params", "--kind", "porep", "--sector-size", "2KiB", "--insecure-test-label", "x", "--out"]
        (self.dir / "file").write_text("")
        self.refused("file", *args, self.dir / "file", leaves=["file"])
        self.refused("/proc", *args, "/proc/params", leaves=["file"])
        self.refused("label", *args[:5], "--insecure-test-label", "", "--out", self.dir / "p", code=2, leaves=["file"])

    def test_reader_gone(self):
        """A pipe whose reader leaves: an error and an early end, not a killed process."""
        p = subprocess.Popen([CUZK, *TRACE, "--every", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        p.stdout.read(100)
        p.stdout.close()
        err = p.stderr.read()
        p.stderr.close()
        self.assertEqual(p.wait(), 1)
        self.assertRegex(err, rb"^cuzk: standard output: [^\n]*\n$")


class Terminal(Case):
    def test_progress_on_a_terminal(self):
        """On a terminal a line that is redrawn and taken away; nothing of the kind in a pipe or a file."""
        master, slave = pty.openpty()
        p = subprocess.Popen([CUZK, "witness", "digest", "--c1", c1_path("porep-2k-ni")], stdout=subprocess.DEVNULL,
                             stderr=slave, stdin=subprocess.DEVNULL)
        os.close(slave)
        shown = b""
        while True:
            try:
                block = os.read(master, 4096)
            except OSError:  # the other side is closed
                break
            if not block:
                break
            shown += block
        os.close(master)
        self.assertEqual(p.wait(), 0)
        self.assertIn(b"\r\x1b[K", shown)
        self.assertIn(b"synthesis", shown)
        self.assertTrue(shown.endswith(b"\x1b[K"), shown[-80:])
        r = run("witness", "digest", "--c1", c1_path("porep-2k-ni"), env={"CUZK_PROGRESS": "1"})
        self.assertRegex(r.stderr, rb"progress: .*synthesis")
        self.assertNotIn(b"\x1b", r.stderr)

    def test_interrupt(self):
        """SIGINT and SIGTERM end the work in order: exit code 1, one line, nothing left."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                p = subprocess.Popen([CUZK, *TRACE, "--every", "1", "--out", self.dir / "trace"],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                while not any(self.dir.iterdir()):
                    self.assertIsNone(p.poll())
                time.sleep(0.1)
                p.send_signal(number)
                err = p.communicate(timeout=30)[1]
                self.assertEqual(p.returncode, 1, err)
                self.assertRegex(err, rb"^cuzk: [^\n]*cancel[^\n]*\n$")
                self.assertEqual(list(self.dir.iterdir()), [])


class Examples(Case):
    """examples/verify_c1.c, linked with the shared and with the static library."""

    def test_verify_c1(self):
        proof = self.dir / "proof"
        for program in os.environ["CUZK_EXAMPLES"].split(":"):
            with self.subTest(program):
                proof.write_bytes(golden_proof("porep-2k-a"))
                args = [program, VECTORS / "vk", c1_path("porep-2k-a"), proof]
                r = subprocess.run(args, capture_output=True)
                self.assertEqual((r.returncode, r.stdout, r.stderr), (0, b"valid\n", b""))
                proof.write_bytes(golden_proof("porep-2k-zero"))
                r = subprocess.run(args, capture_output=True)
                self.assertEqual(r.returncode, 1)
                self.assertTrue(r.stdout.startswith(b"not accepted (INVALID): "), r.stdout)
                self.assertEqual(subprocess.run([program], capture_output=True).returncode, 2)


if __name__ == "__main__":
    main()
