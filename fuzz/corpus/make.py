#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Writes the seeds, from tests/vectors. Run from anywhere; needs nothing but Python.
import json
import pathlib
import struct

here = pathlib.Path(__file__).resolve().parent
vectors = here.parent.parent / "tests" / "vectors"


def put(target, name, data):
    d = here / target
    d.mkdir(exist_ok=True)
    assert len(data) < 20000, name
    (d / name).write_bytes(data)


# C1 files in the shorthand of fuzz_c1.c.
Z, COLUMN, LABEL, PROOF = "\x01", "\x07", "\x08", "\x06"
CHALLENGE = "\x0e"
D = '{"data":{"Single":{"root":\x01,"leaf":\x01,"path":{"path":[\x04,\x04,\x04,\x04,\x04,\x04]}}}}'
SPELLED = (
    '{"comm_d_proofs":' + D + ',"comm_r_last_proof":' + PROOF + ',"replica_column_proofs":{"c_x":{"column":{"index":5,"rows":[' + Z + "," + Z
    + '],"_h":null},"inclusion_proof":{"data":{"Single":{"root":\x01,"leaf":\x01,"path":{"path":[{"hashes":[\x02],"index":7},\x05]}}}}},"drg_parents":['
    + ",".join([COLUMN] * 6) + '],"exp_parents":[' + ",".join([COLUMN] * 8) + ']},"labeling_proofs":[{"parents":[\x03],"layer_index":2,"node":63},'
    + LABEL + '],"encoding_proof":' + LABEL + "}")


def c1(proof="StackedDrg2KiBV1_1", key="StackedDrg2KiBV1", partitions=None, tail=""):
    p = partitions or "[[" + CHALLENGE + "," + SPELLED + "]]"
    return ('{"registered_proof":"%s","vanilla_proofs":{"%s":%s},"comm_r":\x01,"comm_d":\x01,"replica_id":\x01,"seed":\x01,"ticket":\x01}%s'
            % (proof, key, p, tail))


SUB = '{"data":{"Sub":{"base_proof":{"path":[\x05,\x05]},"sub_proof":{"path":[\x04]},"root":\x01,"leaf":\x01}}}'
TOP = '{"data":{"Top":{"base_proof":{"path":[\x05,\x05]},"sub_proof":{"path":[\x05]},"top_proof":{"path":[\x04]},"root":\x01,"leaf":\x01}}}'


def compound(tree, steps):
    column = '{"column":{"index":0,"rows":[\x01,\x01],"_h":null},"inclusion_proof":' + tree + "}"
    d = '{"data":{"Single":{"root":\x01,"leaf":\x01,"path":{"path":[' + ",".join(["\x04"] * steps) + "]}}}}"
    ch = ('{"comm_d_proofs":' + d + ',"comm_r_last_proof":' + tree + ',"replica_column_proofs":{"c_x":' + column + ',"drg_parents":['
          + ",".join([column] * 6) + '],"exp_parents":[' + ",".join([column] * 8) + ']},"labeling_proofs":[' + LABEL + "," + LABEL
          + '],"encoding_proof":' + LABEL + "}")
    return "[[" + ch + "," + ch + "]]"


seeds = {
    "valid": c1(),
    "valid-envelope": "\x10" + c1(),
    "valid-sub": c1("StackedDrg4KiBV1_1", "StackedDrg4KiBV1", compound(SUB, 7)),
    "valid-top": c1("StackedDrg32KiBV1_1", "StackedDrg32KiBV1", compound(TOP, 10)),
    "partitions": c1(partitions="[" + ",".join(["[\x0e,\x0e]"] * 13) + "]", proof="StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"),
    "contradiction": c1("StackedDrg8MiBV1_1"),
    "trailing": c1(tail="{}"),
    "unknown-keys": c1().replace('"comm_r"', '"x":[[{"y":[1e5,-1,null,true,"\\u0000"]}]],"comm_r"'),
    "duplicate": c1().replace('"seed"', '"seed":\x01,"seed"'),
    "reversed": '{"ticket":\x01,"seed":\x01,"replica_id":\x01,"comm_d":\x01,"comm_r":\x01,"vanilla_proofs":{"StackedDrg2KiBV1":[[\x0e,\x0e]]},"registered_proof":"StackedDrg2KiBV1"}',
    "deep": '{"a":' + "[" * 200,
    "envelope-bad": '{"SectorNum":1,"Phase1Out":"e30","SectorSize":2048}',
    "empty-object": "{}",
    "escapes": '{"\\u0063omm_r":\x01,"\\ud83d\\ude00":"\\"\\\\\\/\\b"}',
    "utf8": '{"\xc3\xa4":1,"comm_r":"\xff"}',
}
for name, text in seeds.items():
    put("fuzz_c1", name, text.encode("latin-1"))

for name, patches in {
    "none": [],
    "one-number": [(100, 0, 7)],
    "numbers": [(50 + 5000 * i, 0, 3 * i) for i in range(8)],
    "raw": [(4000, 2, ord("]"))],
    "mixed": [(30000, 1, 255), (31000, 3, ord("9")), (49000, 0, 0)],
}.items():
    put("fuzz_c1_patch", name, b"".join(struct.pack("<HBB", *p) for p in patches))

for name, text in {
    "empty": b"", "one": b"QQ==", "two": b"QUI=", "three": b"QUJD", "stray-bits": b"QR==", "early-pad": b"QQ==QQ==", "space": b"QU JD",
    "url": b"-_-_", "long": b"TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsu" * 20, "hex": b"00ffAAbb", "unpadded": b"QUI",
}.items():
    put("fuzz_base64", name, text)

# Points and keys, out of the official files.
vks = {p.name: p.read_bytes() for p in sorted((vectors / "vk").glob("*.vk"))}
small = min(vks.values(), key=len)
g1 = [small[0:96], small[96:192], small[576:672]]
# alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2, ic
g2 = [small[192:384], small[384:576], small[672:864]]
n_ic = struct.unpack(">I", small[864:868])[0]
ic = [small[868 + 96 * i:868 + 96 * (i + 1)] for i in range(n_ic)]
assert len(small) == 868 + 96 * n_ic
proof = bytes.fromhex(json.loads((vectors / "cases/porep-2k-a/golden.json").read_text())["proof"])[:192]
P = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB
for name, data in {
    "g1": b"\0" + proof[:48], "g1-other": b"\0" + proof[144:], "g1-infinity": b"\0" + b"\xc0" + bytes(47), "g1-bad-infinity": b"\0\xe0" + bytes(47),
    "g1-p": b"\0" + (P | 1 << 383).to_bytes(48, "big"), "g1-zero": b"\0\x80" + bytes(47),
    "g1-full": b"\1" + g1[0], "g1-full-infinity": b"\1\x40" + bytes(95), "g1-full-flag": b"\1\x20" + bytes(95),
    "g2": b"\2" + proof[48:144], "g2-infinity": b"\2\xc0" + bytes(95), "g2-sign": b"\2" + bytes([proof[48] ^ 0x20]) + proof[49:144],
    "g2-full": b"\3" + g2[0], "g2-full-infinity": b"\3\x40" + bytes(191),
}.items():
    put("fuzz_points", name, data)
put("fuzz_proof", "valid", proof)
put("fuzz_proof", "infinity-a", b"\xc0" + bytes(47) + proof[48:])
put("fuzz_proof", "swapped", proof[144:] + proof[48:144] + proof[:48])
put("fuzz_proof", "negated", bytes([proof[0] ^ 0x20]) + proof[1:])
put("fuzz_proof", "zeros", bytes(192))

for i, data in enumerate(sorted(vks.values(), key=len)[:3]):
    put("fuzz_vk", "official-%d" % i, data)
put("fuzz_vk", "no-inputs", small[:864] + bytes(4))
put("fuzz_vk", "one-input", small[:864] + struct.pack(">I", 1) + ic[0])
put("fuzz_vk", "many-inputs", small[:864] + b"\xff\xff\xff\xff" + ic[0])
put("fuzz_vk", "infinity", small[:864] + struct.pack(">I", 1) + b"\x40" + bytes(95))
put("fuzz_vk", "trailing", small + b"\0")
put("fuzz_vk", "cut", small[:-1])


def params(ic_n=1, h=1, l=1, a=1, b=1, b2=None, tail=b""):
    v = small[:864] + struct.pack(">I", ic_n) + b"".join(ic[i % n_ic] for i in range(ic_n))
    s = b"".join(struct.pack(">I", n) + b"".join(g1[i % 3] for i in range(n)) for n in (h, l, a, b))
    b2 = b if b2 is None else b2
    return v + s + struct.pack(">I", b2) + b"".join(g2[i % 3] for i in range(b2)) + tail


put("fuzz_params", "smallest", params())
put("fuzz_params", "small", params(2, 3, 2, 3, 2))
put("fuzz_params", "no-b", params(1, 1, 1, 1, 0))
put("fuzz_params", "h-not-power", params(1, 2, 1, 1, 1))
put("fuzz_params", "b-differ", params(1, 1, 1, 1, 1, 2))
put("fuzz_params", "trailing", params(tail=b"\0"))
put("fuzz_params", "huge-count", params()[:964] + b"\xff\xff\xff\xff")
put("fuzz_params", "cut", params()[:-1])


# Programs of circuits, without the SHA-256 behind them (fuzz_program.c).
def word(*v):
    return struct.pack("<%dI" % len(v), *(x & 0xFFFFFFFF for x in v))


def template(code, rows, slots=0, room=0, wires=0, inputs=0, field_wires=(), field_slots=()):
    return (word(len(code), rows, slots, room, wires, inputs, len(field_wires), len(field_slots)) + word(*code)
            + word(*field_wires) + word(*field_slots))


def program(templates, instances, inputs=1, aux=0, fields=0, rows=0, coeffs=(1, 7), kind=b"fuzz", version=1):
    runs = [r for _, rs in instances for r in rs]
    return (b"CUZK PCE" + word(version) + kind.ljust(16, b"\0") + struct.pack("<Q", 2048) + bytes(range(32))
            + word(inputs, aux, fields) + struct.pack("<Q", rows)
            + word(len(templates), len(instances), len(runs), len(coeffs))
            + b"".join(c.to_bytes(32, "little") for c in coeffs) + b"".join(templates)
            + b"".join(word(t, len(rs)) for t, rs in instances) + b"".join(word(*r) for r in runs))


WIDE, FIELD, SLOT, MINUS, AUX = 1 << 24, 1 << 31, 1 << 30, 1 << 23, 1 << 31
# (1 - w) w = 0 for an own bit at place 1.
BIT = template([2 | 1 << 8, 0 | 1 << 24, 1 | 255 << 24, 1 | 1 << 24], 1, wires=1)
# (bit 2^5 - bit 2^200 + 7 f) f' = 1 for a slot that is a bit, a slot that is a field element, an own field element.
MIX = template([WIDE, 2, 1, 1 | 5 << 24, 1 | MINUS | 200 << 24, FIELD | SLOT, 1, 0, 1, FIELD, 0, 1, 0, 0 | 0 << 24], 1,
               slots=2, room=4, wires=1, field_wires=[0], field_slots=[1])
ONE = program([BIT], [(0, [])], aux=1, rows=1)
put("fuzz_program", "empty", program([], []))
put("fuzz_program", "bit", ONE)
put("fuzz_program", "bits", program([BIT], [(0, [])] * 5, aux=5, rows=5))
MANY = program([BIT, template([], 0, wires=1, field_wires=[0]), MIX],
               [(0, []), (1, []), (2, [(AUX, 1, 2)]), (2, [(AUX, 2, 2)])], aux=4, fields=3, rows=3)
put("fuzz_program", "mixed", MANY)
put("fuzz_program", "input", program([template([], 0, inputs=1), MIX], [(0, []), (1, [(0, 1, 2)])], inputs=2, aux=1, fields=1,
                                     rows=1))
put("fuzz_program", "wire-too-far", program([BIT, MIX], [(0, []), (1, [(AUX, 5, 2)])], aux=2, fields=1, rows=2))
put("fuzz_program", "counts", program([BIT], [(0, [])], aux=2, rows=1))
put("fuzz_program", "rows-without-code", program([template([], 9)], [(0, [])], rows=9))
put("fuzz_program", "coefficient", program([BIT], [(0, [])], aux=1, rows=1, coeffs=(1 << 255,)))
put("fuzz_program", "version", program([BIT], [(0, [])], aux=1, rows=1, version=2))
put("fuzz_program", "cut", ONE[:-1])
put("fuzz_program", "trailing", ONE + b"\0")
put("fuzz_program", "huge", ONE.replace(word(1, 1, 0, 2), word(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF)))

# Messages: the type's number, then its bytes.
TOY = b"\x0a\x02id\x10\xe8\x07\x18\x02\x20\x05\x28\x04\x52\x08seedseed\x5a\x01a\x5a\x00\xa0\x01\x07\xb2\x01\x02rr"
put("fuzz_message", "submit", b"\0" + TOY)
put("fuzz_message", "prove", b"\1\x0a" + bytes([len(TOY)]) + TOY)
put("fuzz_message", "prove-twice", b"\1" + 2 * (b"\x0a" + bytes([len(TOY)]) + TOY))
put("fuzz_message", "await", b"\2\x0a\x02id\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
put("fuzz_message", "timeline", b"\3\x08\x05\x10\x80\x20")
put("fuzz_message", "unknown-fields", b"\4\xf8\x3f\x01\xf9\x3f12345678\xfd\x3f1234\xfa\x3f\x03abc")
put("fuzz_message", "status", b"\5\x0a\x04\x08\1\x12\0\x12\x02\x10\1\x1a\x04\x0a\x02aa")
put("fuzz_message", "health", b"\6\x0a\x03a.b")
put("fuzz_message", "two-questions", b"\7\x0a\x01h\x3a\0\x22\x01a\x2a\x04\x0a\x02xy")
put("fuzz_message", "cut", b"\0\x52\x7fab")
put("fuzz_message", "group", b"\0\x0b\x0c")
put("fuzz_message", "empty-fields", b"\0" + b"\x5a\0" * 4000)
put("fuzz_message", "field-0", b"\3\x08R\x80\0\x08")
