# SPDX-License-Identifier: MIT OR Apache-2.0
"""C1 files that must be refused: quickly, with one line that says what and where, and without leaving anything."""
import base64
import copy
import json
import os
import subprocess
import time
import unittest

from harness import CUZK, PARAMS, Case, c1_path, main

BARE = c1_path("porep-2k-a").read_bytes()
DOCUMENT = json.loads(BARE)
NAME = "StackedDrg2KiBV1"
R_BYTES = list((0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001).to_bytes(32, "little"))


def edited(edit):
    """The document after edit(document), as JSON."""
    d = copy.deepcopy(DOCUMENT)
    edit(d)
    return json.dumps(d).encode()


def challenge(d, k=0):
    return d["vanilla_proofs"][NAME][0][k]


def single(proof):
    return proof["data"]["Single"]


class BadC1(Case):
    def bad(self, words, data, code=1):
        """Through a file and through a pipe, by all three commands that read a C1."""
        name = self.dir / "c1.json"
        name.write_bytes(data)
        out = self.dir / "proof"
        started = time.monotonic()
        self.refused(words, "prove", "--kind", "porep", "--c1", name, "--params", PARAMS, "--out", out, code=code,
                     leaves=["c1.json"])
        self.refused(words, "prove", "--kind", "porep", "--c1", "-", "--params", PARAMS, "--out", out, code=code,
                     stdin=data, leaves=["c1.json"])
        self.refused(words, "witness", "digest", "--c1", name, code=code, leaves=["c1.json"])
        self.assertLess(time.monotonic() - started, 20)

    def table(self, rows):
        for what, (words, data) in rows.items():
            with self.subTest(what):
                self.bad(words, data)

    def test_files(self):
        out = self.dir / "proof"
        link = self.dir / "link"
        link.symlink_to(self.dir / "nowhere")
        args = ["--params", PARAMS, "--out", out]
        for path, words in ((self.dir / "missing", "missing"), (self.dir, "directory"), (link, "link")):
            with self.subTest(path=path.name):
                self.refused(words, "prove", "--kind", "porep", "--c1", path, *args, leaves=["link"])

    def test_text(self):
        first = DOCUMENT["seed"][0]
        seed = b'"seed":[%d' % first
        assert seed in BARE, "the file is expected to be compact"
        self.table({
            "empty": ("found nothing", b""),
            "a space": ("end of", b" "),
            "truncated": ("end of", BARE[:-1]),
            "truncated in the middle": ("end of", BARE[: len(BARE) // 2]),
            "trailing junk": ("byte", BARE + b"x"),
            "two documents": ("byte", BARE + BARE),
            "not JSON": ("byte", b"\x7fELF" + bytes(100)),
            "zero bytes": ("byte", bytes(1000)),
            "a byte order mark": ("byte", b"\xef\xbb\xbf" + BARE),
            "bad UTF-8 in a key": ("byte", BARE.replace(b'"seed"', b'"se\xff\xfe"')),
            "a list": ("expected", b"[]"),
            "a number": ("expected", b"7"),
            "null": ("expected", b"null"),
            "no keys": ("registered_proof", b"{}"),
            "a comment": ("byte", BARE.replace(b"{", b"{/**/", 1)),
            "duplicate key": (["seed", "twice"], BARE.replace(seed, b'"seed":' + json.dumps(DOCUMENT["seed"]).encode()
                                                              + b"," + seed)),
            "256": (["seed", "255", "256"], BARE.replace(seed, b'"seed":[256')),
            "-1": (["seed", "-1"], BARE.replace(seed, b'"seed":[-1')),
            "1.5": (["seed", "1.5"], BARE.replace(seed, b'"seed":[1.5')),
            "1e1": (["seed", "1e1"], BARE.replace(seed, b'"seed":[1e1')),
            "huge": ("seed", BARE.replace(seed, b'"seed":[' + b"9" * 400)),
            "a string": ("seed", BARE.replace(seed, b'"seed":["1"')),
            "10,000 deep": ("expected an object", b"[" * 10000),
            "10,000 deep inside": ("seed", BARE.replace(seed, b'"seed":' + b"[" * 10000)),
            "10,000 objects deep": ("expected", b'{"a":' * 10000),
        })

    def test_shape(self):
        def rename(d):
            d["vanilla_proofs"]["StackedDrg2KiBV9"] = d["vanilla_proofs"].pop(NAME)

        def resize(d):
            d["vanilla_proofs"]["StackedDrg8MiBV1"] = d["vanilla_proofs"].pop(NAME)

        self.table({
            "unknown proof": ("StackedDrg3KiBV1", edited(lambda d: d.update(registered_proof="StackedDrg3KiBV1"))),
            "unknown vanilla proof": ("StackedDrg2KiBV9", edited(rename)),
            "sizes contradict": (["2KiB", "8MiB"], edited(resize)),
            "sizes contradict, the other way": (["2KiB", "8MiB"],
                                                edited(lambda d: d.update(registered_proof="StackedDrg8MiBV1_1"))),
            "another number of partitions": ("partition", edited(
                lambda d: d.update(registered_proof="StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"))),
            "31 bytes": (["comm_r", "31"], edited(lambda d: d["comm_r"].pop())),
            "33 bytes": (["comm_d", "32"], edited(lambda d: d["comm_d"].append(0))),
            "no bytes": (["replica_id", "32"], edited(lambda d: d["replica_id"].clear())),
            "replica id is r": (["replica_id", "below r"], edited(lambda d: d.update(replica_id=R_BYTES))),
            "comm_d is r": (["comm_d", "below r"], edited(lambda d: d.update(comm_d=R_BYTES))),
            "comm_r is all ones": (["comm_r", "below r"], edited(lambda d: d.update(comm_r=[255] * 32))),
            "a label is r": (["rows", "below r"], edited(lambda d: challenge(d)["replica_column_proofs"]["c_x"][
                "column"]["rows"].__setitem__(0, R_BYTES))),
            "a sibling is r": (["hashes", "below r"], edited(lambda d: single(challenge(d)["comm_d_proofs"])["path"][
                "path"][0]["hashes"].__setitem__(0, R_BYTES))),
            "no seed": ("seed", edited(lambda d: d.pop("seed"))),
            "no partitions": ("partition", edited(lambda d: d["vanilla_proofs"][NAME].clear())),
            "surplus partition": ("partition", edited(
                lambda d: d["vanilla_proofs"][NAME].append(d["vanilla_proofs"][NAME][0]))),
            "a challenge less": ("challenge", edited(lambda d: d["vanilla_proofs"][NAME][0].pop())),
            "a challenge more": ("challenge", edited(
                lambda d: d["vanilla_proofs"][NAME][0].append(challenge(d)))),
            "tree D too low": ("comm_d_proofs", edited(
                lambda d: single(challenge(d)["comm_d_proofs"])["path"]["path"].pop())),
            "tree D too high": ("comm_d_proofs", edited(lambda d: single(challenge(d)["comm_d_proofs"])["path"][
                "path"].append(single(challenge(d)["comm_d_proofs"])["path"]["path"][0]))),
            "tree R too low": ("comm_r_last_proof", edited(
                lambda d: single(challenge(d, 1)["comm_r_last_proof"])["path"]["path"].pop())),
            "six siblings": ("hashes", edited(
                lambda d: single(challenge(d)["comm_r_last_proof"])["path"]["path"][0]["hashes"].pop())),
            "index 8 of 8": ("index", edited(lambda d: single(challenge(d)["comm_r_last_proof"])["path"]["path"][
                0].update(index=8))),
            "a parent less": ("drg_parents", edited(
                lambda d: challenge(d)["replica_column_proofs"]["drg_parents"].pop())),
            "a label less": ("labeling_proofs", edited(lambda d: challenge(d)["labeling_proofs"].pop())),
            "no labels": ("labeling_proofs", edited(lambda d: challenge(d).pop("labeling_proofs"))),
            "36 parents": ("parents", edited(lambda d: challenge(d)["labeling_proofs"][0]["parents"].pop())),
            "node beyond the sector": ("node", edited(lambda d: challenge(d)["labeling_proofs"][0].update(node=64))),
        })

    def test_envelope(self):
        text = base64.b64encode(BARE).decode()

        def envelope(**kw):
            e = {"SectorNum": 1, "Phase1Out": text, "SectorSize": 2048}
            e.update(kw)
            return json.dumps({k: v for k, v in e.items() if v is not None}).encode()

        self.table({
            "not base64": ("base64", envelope(Phase1Out="*" + text[1:])),
            "base64 cut": ("base64", envelope(Phase1Out=text[:-1])),
            "base64 of nothing": ("Phase1Out", envelope(Phase1Out="")),
            "base64 of junk": ("Phase1Out", envelope(Phase1Out=base64.b64encode(b"junk").decode())),
            "base64 with a line break": ("base64", envelope(Phase1Out=text[:76] + "\n" + text[76:])),
            "an envelope in an envelope": ("Phase1Out", envelope(Phase1Out=base64.b64encode(envelope()).decode())),
            "another size": ("SectorSize", envelope(SectorSize=8 << 20)),
            "no size": ("SectorSize", envelope(SectorSize=None)),
            "a negative number": ("SectorNum", envelope(SectorNum=-1)),
            "no content": ("Phase1Out", envelope(Phase1Out=None)),
        })

    def test_bad_sectors(self):
        """Well-formed, and wrong: the native check names the place, before any key is loaded."""
        def flip(path, at=3):
            def edit(d):
                x = challenge(d, 1)
                for key in path:
                    x = x[key]
                x[at] ^= 1
            return edited(edit)

        rows = {
            "label": flip(["replica_column_proofs", "c_x", "column", "rows", 1]),
            "parent of a label": flip(["labeling_proofs", 1, "parents", 14]),
            "data": flip(["comm_d_proofs", "data", "Single", "leaf"]),
            "sibling in tree D": flip(["comm_d_proofs", "data", "Single", "path", "path", 0, "hashes", 0]),
            "sibling in tree R": flip(["comm_r_last_proof", "data", "Single", "path", "path", 1, "hashes", 5]),
            "column of a parent": flip(["replica_column_proofs", "exp_parents", 3, "column", "rows", 0]),
        }
        out = self.dir / "proof"
        for what, data in rows.items():
            with self.subTest(what):
                self.refused(["partition 0", "challenge 1"], "prove", "--kind", "porep", "--c1", "-", "--params",
                             PARAMS, "--out", out, stdin=data)
        self.refused(["partition 0"], "prove", "--kind", "porep", "--c1", "-", "--params", PARAMS, "--out", out,
                     stdin=edited(lambda d: d["seed"].__setitem__(0, d["seed"][0] ^ 1)))  # other challenges
        # comm_r is checked against the trees' roots, not against anything the file claims about itself.
        self.refused("comm_r", "prove", "--kind", "porep", "--c1", "-", "--params", PARAMS, "--out", out,
                     stdin=edited(lambda d: d["comm_r"].__setitem__(0, d["comm_r"][0] ^ 1)))

    def test_too_large(self):
        """2 GiB of spaces: refused at the limit, without reading on."""
        out = self.dir / "proof"
        started = time.monotonic()
        head = subprocess.Popen("head -c 2147483648 /dev/zero | tr '\\0' ' '", shell=True, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
        r = subprocess.run([CUZK, "prove", "--kind", "porep", "--c1", "-", "--params", PARAMS, "--out", out],
                           stdin=head.stdout, capture_output=True, timeout=120)
        head.stdout.close()
        head.wait()
        self.assertEqual(r.returncode, 1)
        self.assertRegex(r.stderr.decode(), r"^cuzk: standard input: .*limit of 268435456 bytes\n$")
        self.assertLess(time.monotonic() - started, 60)
        sparse = self.dir / "sparse"
        with open(sparse, "wb") as f:
            os.truncate(f.fileno(), 2 << 30)
        self.refused(["limit", "268435456"], "prove", "--kind", "porep", "--c1", sparse, "--params", PARAMS, "--out",
                     out, leaves=["sparse"])


if __name__ == "__main__":
    main()
