# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk pce: programs of circuits in files, good ones and damaged ones, and proofs that use them."""
import hashlib
import json
import resource
import unittest

from harness import PARAMS, VECTORS, Case, c1_path, golden, golden_proof, main, run

SHA = {d["sector_size"]: d["sha256"] for d in map(json.loads, (VECTORS / "r1cs.jsonl").read_text().splitlines())
       if d["kind"] == "porep"}


class Files(Case):
    def build(self, size="2KiB", out="p.pce", *more):
        path = self.dir / out
        r = self.ok("pce", "build", "--kind", "porep", "--sector-size", size, "--out", path, *more)
        return path, r

    def test_build_info_verify(self):
        path, r = self.build("2KiB", "p.pce", "--json")
        made = json.loads(r.stdout)
        self.assertEqual((made["kind"], made["sector_size"], made["constraints"], made["inputs"], made["aux"]),
                         ("porep", 2048, 2687921, 40, 2685673))
        found = json.loads(self.ok("pce", "info", "--in", path, "--json").stdout)
        self.assertEqual({k: made[k] for k in found}, found)
        text = self.ok("pce", "info", "--in", path, "--sector-size", "2KiB").stdout.decode()
        self.assertIn("porep, 2KiB: 2687921 constraints", text)
        r = self.ok("pce", "verify", "--in", path)
        self.assertIn(SHA[2048], r.stdout.decode())
        d = json.loads(self.ok("pce", "verify", "--in", path, "--json").stdout)
        self.assertEqual(d["sha256"], SHA[2048])
        # Always the same bytes; a folder gives the usual name.
        again = self.dir / "folder"
        again.mkdir()
        self.ok("pce", "build", "--kind", "porep", "--sector-size", "2KiB", "--out", again)
        names = [p.name for p in again.iterdir()]
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], r"^cuzk-pce-1-porep-2KiB-[0-9a-f]{16}\.pce$")
        self.assertEqual((again / names[0]).read_bytes(), path.read_bytes())

    def test_toys(self):
        """Circuits of any kind: the same three commands, and the same check against the circuit's own code."""
        for rows in (8, 1024, 10000):
            with self.subTest(rows=rows):
                path = self.dir / "toy.pce"
                r = self.ok("pce", "build", "--kind", "toy", "--sector-size", str(rows), "--out", path, "--json")
                made = json.loads(r.stdout)
                # Two of the rows are the prover's own.
                self.assertEqual((made["kind"], made["sector_size"], made["constraints"]), ("toy", rows, rows - 2))
                text = self.ok("pce", "info", "--in", path, "--kind", "toy").stdout.decode()
                self.assertIn(f"toy, {rows}: {rows - 2} constraints", text)
                r = self.ok("pce", "verify", "--in", path, "--kind", "toy", "--sector-size", str(rows))
                self.assertIn("true to the circuit", r.stdout.decode())
        data = bytearray(path.read_bytes())
        data[104] ^= 1
        path.write_bytes(data[:-32] + hashlib.sha256(data[:-32]).digest())
        self.refused("constraint stream", "pce", "verify", "--in", path, leaves=["toy.pce"])
        self.refused("another circuit (toy, 10000)", "pce", "info", "--in", path, "--sector-size", "2KiB",
                     leaves=["toy.pce"])
        self.refused("another kind (toy)", "pce", "info", "--in", path, "--kind", "porep", leaves=["toy.pce"])

    def test_large_circuit_small_file(self):
        path, _ = self.build("32GiB")
        self.assertLess(path.stat().st_size, 64 << 20)
        found = json.loads(self.ok("pce", "info", "--in", path, "--json").stdout)
        self.assertEqual(found["constraints"], 130278541)
        self.assertLess(found["memory_bytes"], 64 << 20)

    def test_damaged(self):
        path, _ = self.build()
        good = path.read_bytes()
        bad = self.dir / "bad"
        leaves = ["bad", "p.pce"]
        flips = [0, 7, 9, 20, 30, 40, 75, 100, len(good) // 2, len(good) - 33, len(good) - 1]
        for at in flips:
            with self.subTest(flip=at):
                bad.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:])
                for what in ("info", "verify"):
                    self.refused("bad: ", "pce", what, "--in", bad, leaves=leaves)
        for n in (0, 1, 50, 131, 132, 200, len(good) - 1):
            with self.subTest(length=n):
                bad.write_bytes(good[:n])
                self.refused("bad: ", "pce", "info", "--in", bad, leaves=leaves)
        bad.write_bytes(good + b"\0")
        self.refused("SHA-256", "pce", "info", "--in", bad, leaves=leaves)
        bad.write_bytes(b"\0" * len(good))
        self.refused("no program", "pce", "info", "--in", bad, leaves=leaves)

    def test_program_that_is_not_the_circuits(self):
        """A whole file whose program is another one: info cannot know, verify does."""
        path, _ = self.build()
        data = bytearray(path.read_bytes())
        # The tables begin with the coefficients; another one, below r, still makes a program.
        data[104] ^= 1
        body = bytes(data[:-32])
        path.write_bytes(body + hashlib.sha256(body).digest())
        self.ok("pce", "info", "--in", path)
        self.refused("constraint stream", "pce", "verify", "--in", path, leaves=["p.pce"])

    def test_other_circuit(self):
        path, _ = self.build("4KiB")
        self.refused("another circuit (porep, 4096)", "pce", "info", "--in", path, "--sector-size", "2KiB",
                     leaves=["p.pce"])

    def test_usage(self):
        self.refused("--in", "pce", "info", code=2)
        self.refused("--sector-size", "pce", "build", "--kind", "porep", code=2)
        self.refused("sector size", "pce", "build", "--kind", "porep", "--sector-size", "3KiB", code=2)
        self.refused("its rows, 8 to", "pce", "build", "--kind", "toy", "--sector-size", "2KiB", code=2)
        self.refused("8 to 16777216 rows", "pce", "build", "--kind", "toy", "--sector-size", "7", code=2)
        self.refused("porep, toy", "pce", "build", "--kind", "snap", "--sector-size", "2KiB", code=2)
        self.refused("takes 'build'", "pce", "burn", code=2)
        self.refused("no such file", "pce", "info", "--in", self.dir / "none")
        self.refused("nowhere", "pce", "build", "--kind", "porep", "--sector-size", "2KiB", "--out",
                     self.dir / "nowhere" / "p")

    def test_disk_full(self):
        """The write stops in the middle: an error, and nothing is left; an older file stays as it was."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        args = ["pce", "build", "--kind", "porep", "--sector-size", "2KiB", "--out", self.dir / "p"]
        self.refused("p", *args, preexec_fn=limit)
        (self.dir / "p").write_bytes(b"old")
        self.refused("p", *args, preexec_fn=limit, leaves=["p"])
        self.assertEqual((self.dir / "p").read_bytes(), b"old")


class Reference(Case):
    def test_witness_either_way(self):
        for name in ("porep-2k-a", "porep-32k-a"):
            fast = self.ok("witness", "digest", "--c1", c1_path(name), "--json").stdout
            slow = self.ok("witness", "digest", "--c1", c1_path(name), "--json", "--reference").stdout
            self.assertEqual(fast, slow)


class Proofs(Case):
    def prove(self, *more):
        out = self.dir / "proof"
        r = self.ok("prove", "--kind", "porep", "--c1", c1_path("porep-2k-a"), "--params", PARAMS, "--out", out,
                    "--check-params", "curve", "--test-blinding", golden("porep-2k-a")["blinding_label"], *more)
        self.assertEqual(out.read_bytes(), golden_proof("porep-2k-a"))
        return r.stderr.decode()

    def test_cache(self):
        cache = self.dir / "cache"
        cache.mkdir()
        self.ok("pce", "build", "--kind", "porep", "--sector-size", "2KiB", "--out", cache)
        (file,) = cache.iterdir()
        good = file.read_bytes()
        err = self.prove("--pce-cache", cache)
        self.assertIn("\npce_load ", err)
        self.assertNotIn("\npce ", err)
        self.assertIn("\nevaluate ", err)
        self.assertNotIn("program of the circuit", err)
        # Cut off: built anew, said so, and mended.
        file.write_bytes(good[:-7])
        err = self.prove("--pce-cache", cache)
        self.assertIn("WARNING: a program of the circuit was built anew", err)
        self.assertIn("\npce ", err)
        self.assertEqual(file.read_bytes(), good)
        self.assertEqual(list(cache.iterdir()), [file])

    def test_reference(self):
        err = self.prove("--reference", "--pce-cache", self.dir / "cache")
        self.assertNotIn("\nevaluate ", err)
        self.assertFalse((self.dir / "cache").exists())

    def test_unsatisfied_is_named(self):
        c1 = json.loads(c1_path("porep-2k-a").read_text())
        c1["vanilla_proofs"]["StackedDrg2KiBV1"][0][1]["replica_column_proofs"]["exp_parents"][3]["column"]["rows"][0][
            5] ^= 1
        r = run("prove", "--kind", "porep", "--c1", "-", "--params", PARAMS, "--out", self.dir / "p",
                "--check-params", "curve", "--skip-vanilla-check", stdin=json.dumps(c1).encode())
        self.assertEqual(r.returncode, 1)
        self.assertRegex(r.stderr.decode().splitlines()[-1],
                         r"partition 0: constraint \d+ is not satisfied: challenge_1/.*/enforce root is correct")
        self.assertEqual(list(self.dir.iterdir()), [])


if __name__ == "__main__":
    main()
