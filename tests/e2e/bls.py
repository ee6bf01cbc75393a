# SPDX-License-Identifier: MIT OR Apache-2.0
"""Just enough of BLS12-381 to make points that must be refused: off the curve, outside the subgroup, badly encoded.
Written from the curve's definition (y^2 = x^3 + 4 over Fp, y^2 = x^3 + 4(1 + u) over Fp2, u^2 = -1) and the usual
encoding: big-endian, the three top bits of the first byte are compressed, infinity, y is the greater."""

P = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB


def sqrt(a):
    r = pow(a, (P + 1) // 4, P)
    return r if r * r % P == a % P else None


def mul2(a, b):
    return ((a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P)


def sqrt2(a):
    """Complex method: a = (x + y u)^2 means x^2 = (a0 + |a|)/2 for one of the roots of the norm."""
    n = sqrt((a[0] * a[0] + a[1] * a[1]) % P)
    if n is None:
        return None
    for s in (n, P - n):
        x = sqrt((a[0] + s) * pow(2, -1, P) % P)
        if x:
            y = a[1] * pow(2 * x, -1, P) % P
            if mul2((x, y), (x, y)) == (a[0] % P, a[1] % P):
                return (x, y)
    return None


def g1_outside_subgroup():
    """(x, y) on the curve. A random point is in the subgroup with probability 2^-125."""
    x = 7
    while (y := sqrt((x**3 + 4) % P)) is None:
        x += 1
    return x, y


def g2_outside_subgroup():
    x = (3, 5)
    while True:
        rhs = mul2(mul2(x, x), x)
        y = sqrt2(((rhs[0] + 4) % P, (rhs[1] + 4) % P))
        if y is not None:
            return x, y
        x = (x[0] + 1, x[1])


def be(v):
    return v.to_bytes(48, "big")


def uncompressed_g1(pt):
    return be(pt[0]) + be(pt[1])


def uncompressed_g2(pt):  # the coefficient of u comes first
    (x0, x1), (y0, y1) = pt
    return be(x1) + be(x0) + be(y1) + be(y0)


def flag(data, bits):
    return bytes([data[0] | bits]) + data[1:]


def compressed_g1(pt):
    return flag(be(pt[0]), 0x80 | (0x20 if pt[1] > (P - 1) // 2 else 0))


def compressed_g2(pt):
    (x0, x1), (y0, y1) = pt
    greater = y1 > (P - 1) // 2 if y1 else y0 > (P - 1) // 2
    return flag(be(x1) + be(x0), 0x80 | (0x20 if greater else 0))
