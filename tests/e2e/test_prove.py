# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk prove against the golden proofs, byte for byte, and what comes with a proof."""
import base64
import json
import unittest

from harness import PARAMS, Case, c1_path, golden, golden_proof, main, run


def prove_args(name="porep-2k-a", c1=None, out="proof"):
    return ["prove", "--kind", "porep", "--c1", c1 or c1_path(name), "--params", PARAMS, "--out", out]


def verify_args(name, proof):
    return ["verify", "--kind", "porep", "--c1", c1_path(name), "--params", PARAMS, "--proof", proof]


class Golden(Case):
    """One test a case, so that each is named in the report."""

    def golden(self, name, *more):
        out = self.dir / "proof"
        r = self.ok(*prove_args(name, out=out), "--test-blinding", golden(name)["blinding_label"], *more, timeout=900)
        self.assertEqual(out.read_bytes().hex(), golden_proof(name).hex())
        self.assertEqual([p.name for p in self.dir.iterdir()], ["proof"])
        r2 = self.ok(*verify_args(name, out))
        self.assertIn(b"WARNING: INSECURE: test parameters", r2.stderr)
        return r

    def test_a(self):
        r = self.golden("porep-2k-a")
        err = r.stderr.decode()
        self.assertEqual(r.stdout, b"")
        for word in ("synthesis", "msm_h", "verify", "key_load", "total", "peak MiB", "resident"):
            self.assertIn(word, err)
        self.assertIn("WARNING: INSECURE: test parameters, made from the label 'cuzk test'", err)
        self.assertIn("WARNING: INSECURE: test blinding", err)

    def test_v10_curve_check_json(self):
        r = self.golden("porep-2k-v10", "--check-params", "curve", "--json")
        d = json.loads(r.stdout)
        self.assertEqual((d["partitions"], d["proof_bytes"], d["sector_size"], d["retries"]), (1, 192, 2048, 0))
        self.assertEqual((d["insecure_label"], d["test_blinding"]), ("cuzk test", "porep-2k-v10"))
        outer = {s["stage"]: s for s in d["stages"] if s["depth"] == 0}
        self.assertLessEqual({"read", "parse", "vanilla_check", "key_load", "synthesis", "verify"}, set(outer))
        self.assertLessEqual(sum(s["ms"] for s in outer.values()), d["wall_ms"])
        # The key, a gigabyte, is never there as a whole; its longest section and the evaluations are.
        self.assertGreater(d["peak_bytes"]["key"], 300 << 20)
        self.assertLess(d["peak_bytes"]["total"], 800 << 20)

    def test_synth_one_thread(self):
        self.golden("porep-2k-synth", "--threads", "1")

    def test_zero_without_vanilla_check(self):
        self.golden("porep-2k-zero", "--skip-vanilla-check")


class Streams(Case):
    def test_envelope_stdin_stdout(self):
        bare = c1_path("porep-2k-a").read_bytes()
        envelope = {"SectorNum": 7, "Phase1Out": base64.b64encode(bare).decode(), "SectorSize": 2048}
        r = self.ok(*prove_args(c1="-", out="-"), "--json", stdin=json.dumps(envelope).encode())
        proof = r.stdout
        self.assertEqual(len(proof), 192)  # nothing but the proof
        self.assertNotEqual(proof, golden_proof("porep-2k-a"))  # random blinding
        document = [line for line in r.stderr.decode().splitlines() if line.startswith("{")]
        self.assertIsNone(json.loads(document[0])["test_blinding"])
        self.ok("verify", "--kind", "porep", "--c1", c1_path("porep-2k-a"), "--params", PARAMS, "--proof", "-",
                stdin=proof)
        # A second proof of the same sector differs, verifies too, and replaces what is there.
        out = self.dir / "proof"
        out.write_bytes(b"old")
        self.ok(*prove_args(out=out))
        self.assertNotEqual(out.read_bytes(), proof)
        self.ok(*verify_args("porep-2k-a", out))


class ManyPartitions(Case):
    """Thirteen partitions; minutes."""

    def test_ni(self):
        out = self.dir / "proof"
        label = golden("porep-2k-ni")["blinding_label"]
        self.ok(*prove_args("porep-2k-ni", out=out), "--test-blinding", label, timeout=1700)
        self.assertEqual(out.read_bytes().hex(), golden_proof("porep-2k-ni").hex())
        self.ok(*verify_args("porep-2k-ni", out))


if __name__ == "__main__":
    main()
