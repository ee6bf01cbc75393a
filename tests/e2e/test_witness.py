# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk witness digest and cuzk circuit, against the reference digests."""
import json
import unittest

from harness import VECTORS, Case, c1_path, golden, main, run

KEYS = ("inputs", "aux", "constraints", "aux_zero", "aux_one", "inputs_sha256", "aux_sha256")


class Witness(Case):
    def digests(self, name):
        r = self.ok("witness", "digest", "--c1", c1_path(name), "--json", timeout=600)
        got = [json.loads(line) for line in r.stdout.splitlines()]
        want = golden(name)["partitions"]
        self.assertEqual([g["partition"] for g in got], list(range(len(want))))
        for g, w in zip(got, want):
            self.assertEqual(g["unsatisfied"], 0)
            self.assertEqual({k: g[k] for k in KEYS}, {k: w[k] for k in KEYS})

    def test_2k(self):
        for name in ("porep-2k-a", "porep-2k-v10", "porep-2k-synth", "porep-2k-zero"):
            with self.subTest(name):
                self.digests(name)

    def test_8m(self):
        self.digests("porep-8m-a")

    def test_text_and_one_partition(self):
        r = self.ok("witness", "digest", "--c1", c1_path("porep-2k-ni"), "--partition", "12")
        want = golden("porep-2k-ni")["partitions"][12]
        text = r.stdout.decode()
        self.assertIn("partition 12", text)
        self.assertIn(want["inputs_sha256"], text)
        self.assertIn(want["aux_sha256"], text)
        self.assertNotIn("partition 11", text)
        self.refused("13 partitions", "witness", "digest", "--c1", c1_path("porep-2k-ni"), "--partition", 13, code=2)

    def test_unsatisfied(self):
        c1 = json.loads(c1_path("porep-2k-a").read_text())
        # A label of a parent, which then hashes to another column. (Those of c_x the circuit computes itself.)
        c1["vanilla_proofs"]["StackedDrg2KiBV1"][0][1]["replica_column_proofs"]["exp_parents"][3]["column"]["rows"][0][
            5] ^= 1
        text = json.dumps(c1).encode()
        r = run("witness", "digest", "--c1", "-", "--json", stdin=text)
        self.assertEqual(r.returncode, 1)
        err = r.stderr.decode()
        self.assertRegex(err, r"^cuzk: partition 0: \d+ constraints do not hold, first constraint \d+: challenge_1/")
        self.assertEqual(err.count("\n"), 1)
        documents = [json.loads(line) for line in r.stdout.splitlines()]
        self.assertGreater(documents[0]["unsatisfied"], 0)
        self.assertIn("challenge_1/", documents[0]["first_unsatisfied"]["scope"])
        self.assertEqual(documents[1]["error"]["status"], "INPUT")


class Circuit(Case):
    def reference(self, size):
        for line in (VECTORS / "r1cs.jsonl").read_text().splitlines():
            d = json.loads(line)
            if d["kind"] == "porep" and d["sector_size"] == size:
                return line
        raise KeyError(size)

    def test_digest(self):
        # As text, so that the keys and their order are compared too. Neither the API version nor the kind of
        # challenges changes the circuit.
        for more in ([], ["--api", "1.0"], ["--challenges", "synthetic", "--api", "1.2"]):
            with self.subTest(more):
                r = self.ok("circuit", "digest", "--kind", "porep", "--sector-size", "2KiB", *more)
                self.assertEqual(r.stdout.decode(), self.reference(2048) + "\n")
                self.assertEqual(r.stderr, b"")

    def test_trace(self):
        want = (VECTORS / "trace" / "porep-2k.txt").read_bytes()
        r = self.ok("circuit", "trace", "--kind", "porep", "--sector-size", "2KiB")
        self.assertEqual(r.stdout, want)
        out = self.dir / "trace"
        self.ok("circuit", "trace", "--kind", "porep", "--sector-size", "2KiB", "--every", "500000", "--out", out)
        lines = want.splitlines()
        self.assertEqual(out.read_bytes().splitlines(), lines[499::500])


class AllSizes(Case):
    """Every size there is; minutes."""

    def test_digests(self):
        names = {2 << 10: "2KiB", 4 << 10: "4KiB", 16 << 10: "16KiB", 32 << 10: "32KiB", 8 << 20: "8MiB",
                 16 << 20: "16MiB", 512 << 20: "512MiB", 1 << 30: "1GiB", 32 << 30: "32GiB", 64 << 30: "64GiB"}
        for line in (VECTORS / "r1cs.jsonl").read_text().splitlines():
            d = json.loads(line)
            if d["kind"] == "porep":
                size = names[d["sector_size"]]
                with self.subTest(size):
                    r = self.ok("circuit", "digest", "--kind", "porep", "--sector-size", size, timeout=1700)
                    self.assertEqual(r.stdout.decode(), line + "\n")

    def test_ni_witness(self):
        Witness.digests(self, "porep-2k-ni")


if __name__ == "__main__":
    main()
