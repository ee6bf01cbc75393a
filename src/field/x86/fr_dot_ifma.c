// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Eight terms at a time, each lane with columns of its own; the lanes are added up at the end.
#include "field/x86/fr_dot_ifma.h"

#include "field/fr_dot.h"
#include "field/x86/fr_ifma.h"

// Terms of one reduction: a column takes at most 9 products' halves, each below 2^52, for each of them, so that it is
// below 2304 2^52 < 2^64; and the whole sum, below 256 r^2 < 2^518, has ten digits of 52 bits.
enum { LANES = 8, COLUMNS = 10, MOST_TERMS = 256 };

static const fr ZERO = {{0}};

LIMB_INLINE __m512i load_two(const fr *first, const fr *second) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)first)),
                              _mm256_loadu_si256((const __m256i *)second), 1);
}
LIMB_INLINE fr8 load_eight(const fr *const p[LANES]) {
    __m512i z[4], w[4];
    for (int i = 0; i < 4; i++) z[i] = load_two(p[2 * i], p[2 * i + 1]);
    fr8_transpose_in(w, z);
    return fr8_unpack(w[0], w[1], w[2], w[3]);
}

LIMB_INLINE void add_eight(__m512i column[COLUMNS], const fr *const a[LANES], const fr *const b[LANES]) {
    const fr8 x = load_eight(a), y = load_eight(b);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            column[i + j] = fr8_lo(column[i + j], x.l[i], y.l[j]);
            column[i + j + 1] = fr8_hi(column[i + j + 1], x.l[i], y.l[j]);
        }
}

static void dot(fr *out, const fr *const *a, const fr *const *b, size_t n) {
    __m512i column[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) column[i] = _mm512_setzero_si512();
    for (; n >= LANES; a += LANES, b += LANES, n -= LANES) add_eight(column, a, b);
    if (n > 0) {
        const fr *x[LANES], *y[LANES];
        for (size_t i = 0; i < LANES; i++) x[i] = i < n ? a[i] : &ZERO, y[i] = i < n ? b[i] : &ZERO;
        add_eight(column, x, y);
    }
    uint64_t d[COLUMNS], c = 0;
    for (int i = 0; i < COLUMNS; i++) {
        c += (uint64_t)_mm512_reduce_add_epi64(column[i]);
        d[i] = c & FR52_BITS;
        c >>= 52;
    }
    uint64_t t[9] = {d[0] | d[1] << 52,
                     d[1] >> 12 | d[2] << 40,
                     d[2] >> 24 | d[3] << 28,
                     d[3] >> 36 | d[4] << 16,
                     d[4] >> 48 | d[5] << 4 | d[6] << 56,
                     d[6] >> 8 | d[7] << 44,
                     d[7] >> 20 | d[8] << 32,
                     d[8] >> 32 | d[9] << 20,
                     d[9] >> 44};
    fr_dot_reduce(out, t);
}

void fr_dot_ifma(fr *out, const fr *const *a, const fr *const *b, size_t n) {
    fr sum = FR_ZERO;
    while (n > 0) {
        const size_t some = n < MOST_TERMS ? n : MOST_TERMS;
        fr part;
        dot(&part, a, b, some);
        fr_add(&sum, &sum, &part);
        a += some, b += some, n -= some;
    }
    *out = sum;
}
