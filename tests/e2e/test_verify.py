# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk verify, with the verifying key of the vectors alone: what is accepted and what is not."""
import json
import unittest

import bls
from harness import VECTORS, Case, c1_path, golden_proof, main

PARAMS = VECTORS / "vk"
CASES = ["porep-2k-a", "porep-2k-v10", "porep-2k-synth", "porep-2k-zero", "porep-2k-ni"]
INFINITY_G1 = b"\xc0" + bytes(47)
INFINITY_G2 = b"\xc0" + bytes(95)


def verify_args(name="porep-2k-a", proof="-"):
    return ["verify", "--kind", "porep", "--c1", c1_path(name), "--params", PARAMS, "--proof", proof]


class Verify(Case):
    def test_golden_proofs(self):
        for name in CASES:
            with self.subTest(name):
                r = self.ok(*verify_args(name), stdin=golden_proof(name))
                self.assertTrue(r.stdout.startswith(b"valid: StackedDrg2KiB"))
                self.assertEqual(r.stderr, b"")  # no marker beside that key, no warning

    def test_json(self):
        r = self.ok(*verify_args(), "--json", stdin=golden_proof("porep-2k-a"))
        d = json.loads(r.stdout)
        self.assertIs(d["valid"], True)
        self.assertIsNone(d["insecure_label"])

    def test_from_file(self):
        path = self.dir / "proof"
        path.write_bytes(golden_proof("porep-2k-a"))
        self.ok(*verify_args(proof=path))

    def test_c1_from_stdin(self):
        path = self.dir / "proof"
        path.write_bytes(golden_proof("porep-2k-a"))
        args = ["verify", "--kind", "porep", "--c1", "-", "--params", PARAMS, "--proof"]
        self.ok(*args, path, stdin=c1_path("porep-2k-a").read_bytes())
        self.refused("cannot both", *args, "-", code=2, leaves=["proof"])

    def test_flipped_bytes(self):
        proof = golden_proof("porep-2k-a")
        for at in (20, 47, 60, 130, 143, 160, 191):  # in a, b and c
            with self.subTest(at=at):
                bad = bytearray(proof)
                bad[at] ^= 1
                self.refused(["partition 0"], *verify_args(), stdin=bytes(bad))

    def test_sign_flags(self):
        # The other root is a valid point, and the proof then does not verify.
        proof = golden_proof("porep-2k-a")
        for at in (0, 48, 144):
            with self.subTest(at=at):
                bad = bytearray(proof)
                bad[at] ^= 0x20
                self.refused(["partition 0", "verif"], *verify_args(), stdin=bytes(bad))

    def test_other_sectors(self):
        for name in CASES[1:4]:
            with self.subTest(name):
                self.refused(["partition 0", "verif"], *verify_args(), stdin=golden_proof(name))

    def test_partitions_swapped(self):
        proof = golden_proof("porep-2k-ni")
        swapped = proof[192:384] + proof[:192] + proof[384:]
        self.refused("partition 0", *verify_args("porep-2k-ni"), stdin=swapped)
        last = bytearray(proof)
        last[-1] ^= 1
        self.refused("partition 12", *verify_args("porep-2k-ni"), stdin=bytes(last))

    def test_lengths(self):
        proof = golden_proof("porep-2k-a")
        for bad in (b"", proof[:1], proof[:-1], proof + b"\0", proof + proof, proof * 13):
            with self.subTest(len=len(bad)):
                self.refused(["192 bytes", f"found {len(bad)}"], *verify_args(), stdin=bad)
        self.refused("2496 bytes", *verify_args("porep-2k-ni"), stdin=golden_proof("porep-2k-ni")[:-192])

    def test_encodings(self):
        proof = golden_proof("porep-2k-a")
        a, b, c = proof[:48], proof[48:144], proof[144:]
        x = int.from_bytes(bytes([a[0] & 0x1F]) + a[1:], "big")
        bad = {
            "a at infinity": INFINITY_G1 + b + c,
            "b at infinity": a + INFINITY_G2 + c,
            "c at infinity": a + b + INFINITY_G1,
            "infinity with a sign": b"\xe0" + bytes(47) + b + c,
            "infinity with an x": b"\xc0" + bytes(46) + b"\x01" + b + c,
            "not marked as compressed": bytes([a[0] & 0x7F]) + a[1:] + b + c,
            "all bits set": b"\xff" * 192,
            "all bits clear": bytes(192),
            "x is p": bls.flag(bls.be(bls.P), 0x80) + b + c,
            "c1 of b is p": a + bls.flag(bls.be(bls.P), 0x80) + b[48:] + c,
            "c0 of b is p": a + b[:48] + bls.be(bls.P) + c,
            "a outside the subgroup": bls.compressed_g1(bls.g1_outside_subgroup()) + b + c,
            "b outside the subgroup": a + bls.compressed_g2(bls.g2_outside_subgroup()) + c,
            "c outside the subgroup": a + b + bls.compressed_g1(bls.g1_outside_subgroup()),
        }
        if x + bls.P < 1 << 381:  # the same point, written unreduced
            bad["x + p"] = bls.flag(bls.be(x + bls.P), a[0] & 0xE0) + b + c
        for what, data in bad.items():
            with self.subTest(what):
                self.assertEqual(len(data), 192)
                self.refused("partition 0", *verify_args(), stdin=data)

    def test_proof_file(self):
        self.refused("nowhere", *verify_args(proof=self.dir / "nowhere"))
        self.refused("directory", *verify_args(proof=self.dir))
        self.refused("limit", *verify_args(), stdin=bytes(2 << 20))


if __name__ == "__main__":
    main()
