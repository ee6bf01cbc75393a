# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the end-to-end tests share: the program under test, the reference files, and how a refusal must look."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests" / "vectors"
CUZK = os.environ.get("CUZK_BIN", "cuzk")
PARAMS = Path(os.environ.get("CUZK_PARAMS_DIR", ROOT / ".cache" / "params"))
POREP_2K = [
    "stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
    "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"
][0]
VK = VECTORS / "vk" / f"v28-{POREP_2K}.vk"


def case(name):
    return VECTORS / "cases" / name


def c1_path(name):
    return case(name) / "c1.json"


def golden(name):
    return json.loads((case(name) / "golden.json").read_text())


def golden_proof(name):
    return bytes.fromhex(golden(name)["proof"])


def sha256_file(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            h.update(block)
    return h.hexdigest()


def run(*args, stdin=None, env=None, timeout=1200, **more):
    """Runs the program; stdin is bytes. Both outputs are captured as bytes."""
    e = dict(os.environ)
    e.pop("CUZK_PROGRESS", None)
    e.update(env or {})
    if stdin is None:
        more.setdefault("stdin", subprocess.DEVNULL)
    else:
        more["input"] = stdin
    return subprocess.run([CUZK, *map(str, args)], capture_output=True, env=e, timeout=timeout, **more)


class Case(unittest.TestCase):
    """A test with a folder of its own, which must hold nothing but what the test expects."""

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="cuzk-e2e-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def ok(self, *args, **kw):
        r = run(*args, **kw)
        self.assertEqual(r.returncode, 0, f"{args}: {r.stderr.decode(errors='replace')}")
        return r

    def refused(self, words, *args, code=1, leaves=(), **kw):
        """The call fails: exit code, one line on stderr that starts with "cuzk: " and has all words, nothing on
        stdout, and in the test's folder nothing but `leaves`."""
        r = run(*args, **kw)
        err = r.stderr.decode(errors="replace")
        what = f"{args}: exit {r.returncode}, stderr {err!r}"
        self.assertEqual(r.returncode, code, what)
        self.assertTrue(err.startswith("cuzk: "), what)
        self.assertEqual(err.count("\n"), 1, what)
        self.assertTrue(err.endswith("\n"), what)
        for w in [words] if isinstance(words, str) else words:
            self.assertIn(w.lower(), err.lower(), what)
        self.assertEqual(r.stdout, b"", what)
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), sorted(leaves), what)
        return err


def main():
    argv = [sys.argv[0], "-v", *sys.argv[1:]]
    unittest.main(module="__main__", argv=argv)
