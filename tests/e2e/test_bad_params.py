# SPDX-License-Identifier: MIT OR Apache-2.0
"""Parameter files that must be refused. One copy of the 1.1 GB file is patched in place and restored."""
import os
import shutil
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import bls
from harness import CUZK, PARAMS, POREP_2K, VECTORS, VK, Case, c1_path, golden_proof, main

BASE = f"v28-{POREP_2K}"
HEAD = 3 * 96 + 3 * 192 + 4  # to the first ic point
C1 = c1_path("porep-2k-a")


class Patched:
    """Bytes of a file replaced, and put back."""

    def __init__(self, path, at, data):
        self.path, self.at, self.data = path, at, data

    def __enter__(self):
        with open(self.path, "r+b") as f:
            f.seek(self.at)
            self.old = f.read(len(self.data))
            f.seek(self.at)
            f.write(self.data)

    def __exit__(self, *_):
        with open(self.path, "r+b") as f:
            f.seek(self.at)
            f.write(self.old)


class BadParams(Case):
    @classmethod
    def setUpClass(cls):
        cls.params = Path(tempfile.mkdtemp(prefix="cuzk-params-"))
        for suffix in ("params", "vk", "meta", "insecure"):
            subprocess.run(["cp", "--reflink=auto", PARAMS / f"{BASE}.{suffix}", cls.params], check=True)
        cls.file, cls.vk = cls.params / f"{BASE}.params", cls.params / f"{BASE}.vk"
        cls.size = cls.file.stat().st_size
        # Offsets of the first point of each section.
        cls.at = {}
        with open(cls.file, "rb") as f:
            at = cls.vk.stat().st_size
            for name, width in (("h", 96), ("l", 96), ("a", 96), ("b_g1", 96), ("b_g2", 192)):
                f.seek(at)
                n = struct.unpack(">I", f.read(4))[0]
                cls.at[name] = (at + 4, width, n)
                at += 4 + n * width
        assert at == cls.size

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.params)

    def args(self, params=None, *more):
        return ["prove", "--kind", "porep", "--c1", C1, "--params", params or self.params, "--out",
                self.dir / "proof", *more]

    def bad(self, words, *more, params=None):
        return self.refused(words, *self.args(params, *more))

    def verify_refused(self, words, params=None):
        return self.refused(words, "verify", "--kind", "porep", "--c1", C1, "--params", params or self.params,
                            "--proof", "-", stdin=golden_proof("porep-2k-a"))

    def small(self, **files):
        """Another folder, with links to the copy but for the suffixes given: bytes, a path to link to, or None."""
        d = Path(tempfile.mkdtemp(prefix="cuzk-params-"))
        self.addCleanup(shutil.rmtree, d)
        for suffix in ("params", "vk", "meta", "insecure"):
            what = files.get(suffix, self.params / f"{BASE}.{suffix}")
            name = d / f"{BASE}.{suffix}"
            if isinstance(what, bytes):
                name.write_bytes(what)
            elif what is not None:
                name.symlink_to(what)
        return d

    def test_links_work(self):
        """The folder of links is sound, so that what is refused below is refused for its own reason."""
        self.ok("verify", "--kind", "porep", "--c1", C1, "--params", self.small(params=None), "--proof", "-",
                stdin=golden_proof("porep-2k-a"))  # verifying needs no .params

    def test_absent(self):
        self.bad([str(self.dir / "nowhere"), "does not exist", "2KiB"], params=self.dir / "nowhere")
        self.bad([".params", "does not exist"], params=self.small(params=None))
        self.bad([".vk", "does not exist"], params=self.small(vk=None))
        self.verify_refused([".vk", "does not exist"], params=self.small(vk=None))

    def test_empty(self):
        self.bad([".params", "truncated"], params=self.small(params=b""))
        self.bad([".vk"], params=self.small(vk=b""))
        self.verify_refused([".vk"], params=self.small(vk=b""))

    def test_length(self):
        os.truncate(self.file, self.size - 1)
        try:
            self.bad([".params", "truncated", "b_g2"])
        finally:
            with open(self.file, "r+b") as f, open(PARAMS / f"{BASE}.params", "rb") as g:
                g.seek(self.size - 1)
                f.seek(self.size - 1)
                f.write(g.read(1))
        os.truncate(self.file, self.size + 1)
        try:
            self.bad([".params", f"expected {self.size}", f"found {self.size + 1}"])
        finally:
            os.truncate(self.file, self.size)

    def test_counts(self):
        for name, (at, _, _) in self.at.items():
            with self.subTest(name), Patched(self.file, at - 4, b"\xff" * 4):
                self.bad([".params", f"section {name}"])
        with Patched(self.vk, HEAD - 4, b"\xff" * 4):
            self.verify_refused([".vk"])
            self.bad([".vk"])

    def test_other_circuits(self):
        """Whole files of another circuit under this name."""
        window = next((VECTORS / "vk").glob("*0170db1f*.vk"))
        self.verify_refused(["another circuit", "expected 39", "found 22"], params=self.small(vk=window))
        self.bad(["another circuit", "expected 39", "found 22"], params=self.small(vk=window))
        # The right verifying key, and sections of a circuit with the same inputs and 20 wires.
        with open(self.file, "rb") as f:
            data = f.read(self.vk.stat().st_size)
            for name, (at, width, _) in self.at.items():
                f.seek(at)
                n = 63 if name == "h" else 20 if name == "l" else 40
                data += struct.pack(">I", n) + f.read(n * width)
        self.bad(["partition 0", "2685673", "20"], params=self.small(params=data))
        # .params and .vk of different circuits.
        with Patched(self.file, 5, b"\xaa"):
            self.bad(["does not belong to", "byte 5"])

    def point(self, path, at):
        with open(path, "rb") as f:
            f.seek(at)
            return f.read(96)

    def test_off_the_curve(self):
        at, width, n = self.at["h"]
        p = self.point(self.file, at)
        off = p[:95] + bytes([p[95] ^ 1])
        with Patched(self.file, at, off):
            self.bad([".params", "h", "curve"], "--check-params", "curve")
        with Patched(self.file, at, bls.be(bls.P) + p[48:]):  # x = p
            self.bad([".params", "h"])
        at, width, n = self.at["b_g2"]  # the last point of all
        last = at + (n - 1) * width + 191
        with open(self.file, "rb") as f:
            f.seek(last)
            byte = f.read(1)[0]
        with Patched(self.file, last, bytes([byte ^ 1])):
            self.bad([".params", "b_g2", "curve"], "--check-params", "curve")

    def test_outside_the_subgroup(self):
        at, width, n = self.at["l"]
        with Patched(self.file, at + (n // 2) * width, bls.uncompressed_g1(bls.g1_outside_subgroup())):
            self.bad([".params", "l", "prime order"])

    def test_verifying_key_points(self):
        """Always checked in full."""
        p = self.point(self.vk, 0)
        g1, g2 = bls.uncompressed_g1(bls.g1_outside_subgroup()), bls.uncompressed_g2(bls.g2_outside_subgroup())
        rows = {
            "alpha off the curve": (0, p[:95] + bytes([p[95] ^ 1]), ["alpha", "curve"]),
            "alpha outside the subgroup": (0, g1, ["alpha", "prime order"]),
            "beta_g2 outside the subgroup": (192, g2, ["beta", "prime order"]),
            "delta_g2 outside the subgroup": (HEAD - 4 - 192, g2, ["delta", "prime order"]),
            "ic outside the subgroup": (HEAD + 96 * 3, g1, ["ic", "prime order"]),
            "alpha at infinity": (0, b"\x40" + bytes(95), ["alpha", "infinity"]),
        }
        for what, (at, data, words) in rows.items():
            with self.subTest(what), Patched(self.vk, at, data):
                self.verify_refused([".vk", *words])
                self.bad([".vk"])

    def test_not_files(self):
        self.bad([".params", "directory"], params=self.small(params=self.params))
        self.bad([".params", "cannot open"], params=self.small(params=self.dir / "nowhere"))  # a dangling link
        self.bad([".vk", "directory"], params=self.small(vk=self.params))
        self.bad([".params", "device"], params=self.small(params="/dev/zero"))
        self.bad([".vk"], params=self.small(vk="/dev/zero"))
        self.bad("insecure", params=self.small(insecure=self.params))

    def test_shrinks(self):
        """The file loses its second half while it is read: an error, not a crash."""
        p = subprocess.Popen([CUZK, *map(str, self.args())], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            deadline = time.monotonic() + 60
            read = 0
            while read < 20 << 20 and p.poll() is None and time.monotonic() < deadline:
                with open(f"/proc/{p.pid}/io") as f:
                    read = int(f.readline().split()[1])
            self.assertIsNone(p.poll(), "it ended before its key was read")
            os.truncate(self.file, self.size // 8)
            err = p.communicate(timeout=60)[1].decode()
        finally:
            p.kill()
            p.wait()
            shutil.copyfile(PARAMS / f"{BASE}.params", self.file)
        self.assertEqual(p.returncode, 1, err)
        self.assertRegex(err, r"^cuzk: [^\n]*\.params: [^\n]*truncated[^\n]*\n$")
        self.assertEqual(list(self.dir.iterdir()), [])


if __name__ == "__main__":
    main()
