# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk params. `Make` makes the parameters once for all other tests (a ctest fixture); the rest looks at them."""
import json
import os
import shutil
import unittest

from harness import PARAMS, POREP_2K, VECTORS, VK, Case, main, sha256_file

BASE = f"v28-{POREP_2K}"
ARGS = ["params", "--kind", "porep", "--sector-size", "2KiB", "--insecure-test-label", "cuzk test", "--out"]


class Make(Case):
    def test_make(self):
        self.ok(*ARGS, PARAMS, timeout=1700)


class Files(Case):
    def test_against_the_official_generator(self):
        want = json.loads((VECTORS / "params.jsonl").read_text().splitlines()[0])
        self.assertEqual(want["params_id"], POREP_2K)
        self.assertEqual((PARAMS / f"{BASE}.params").stat().st_size, want["params_bytes"])
        self.assertEqual(sha256_file(PARAMS / f"{BASE}.params"), want["params_sha256"])
        self.assertEqual(sha256_file(PARAMS / f"{BASE}.vk"), want["vk_sha256"])
        self.assertEqual((PARAMS / f"{BASE}.vk").read_bytes(), VK.read_bytes())
        self.assertEqual((PARAMS / f"{BASE}.meta").read_bytes(), b'{"sector_size":2048}')
        marker = (PARAMS / f"{BASE}.insecure").read_text()
        self.assertTrue(marker.startswith("INSECURE"))
        self.assertTrue(marker.endswith("label: cuzk test\n"))
        self.assertEqual([p.name for p in PARAMS.iterdir() if p.name.endswith(".tmp")], [])

    def links(self):
        """A folder with a hard link to .params, so that the rest can be damaged at no cost."""
        d = PARAMS.parent / f"params-test-{os.getpid()}"
        d.mkdir()
        self.addCleanup(shutil.rmtree, d)
        os.link(PARAMS / f"{BASE}.params", d / f"{BASE}.params")
        for suffix in ("vk", "meta", "insecure"):
            shutil.copy(PARAMS / f"{BASE}.{suffix}", d)
        return d

    def test_kept(self):
        d = self.links()
        before = {p.name: p.stat().st_mtime_ns for p in d.iterdir()}
        r = self.ok(*ARGS, d)
        self.assertIn(b"already there", r.stdout)
        self.assertIn(b"WARNING: INSECURE", r.stderr)
        self.assertEqual({p.name: p.stat().st_mtime_ns for p in d.iterdir()}, before)
        self.assertEqual(json.loads(self.ok(*ARGS, d, "--json").stdout)["result"], "kept")

    def test_small_files_are_made_again(self):
        d = self.links()
        (d / f"{BASE}.vk").unlink()
        (d / f"{BASE}.meta").write_text("{")
        inode = (d / f"{BASE}.params").stat().st_ino
        self.assertEqual(json.loads(self.ok(*ARGS, d, "--json").stdout)["result"], "repaired")
        self.assertEqual((d / f"{BASE}.vk").read_bytes(), VK.read_bytes())
        self.assertEqual((d / f"{BASE}.meta").read_bytes(), b'{"sector_size":2048}')
        self.assertEqual((d / f"{BASE}.params").stat().st_ino, inode)

    def test_not_replaced(self):
        d = self.links()
        other = [*ARGS[:5], "--insecure-test-label", "another", "--out", d]
        self.refused(["label 'cuzk test'", "--force"], *other, code=2)
        (d / f"{BASE}.insecure").unlink()
        self.refused("not marked", *ARGS, d, code=2)
        self.refused("not marked", *ARGS, d, "--force", code=2)
        self.assertFalse((d / f"{BASE}.insecure").exists())


if __name__ == "__main__":
    main()
