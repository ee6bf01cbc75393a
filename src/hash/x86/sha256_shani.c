// SPDX-License-Identifier: MIT OR Apache-2.0
//
// SHA-256 with the x86 SHA extensions (Intel, "Intel SHA Extensions", 2013). The instructions keep the state as two
// vectors, ABEF and CDGH (highest lane first), and sha256rnds2 does two rounds with the two lowest lanes of W + K.
#include "hash/x86/sha256_shani.h"

#include <immintrin.h>

#include "hash/sha256.h"

// Four rounds on message words already added to their constants.
static inline void rounds4(__m128i *abef, __m128i *cdgh, __m128i w, size_t round) {
    __m128i wk = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(const void *)(SHA256_K + round)));
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, wk);
    wk = _mm_shuffle_epi32(wk, 0x0e);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, wk);
}

// The next four words of the schedule from the last sixteen, w0 oldest.
static inline __m128i schedule4(__m128i w0, __m128i w1, __m128i w2, __m128i w3) {
    __m128i t = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
    return _mm_sha256msg2_epu32(t, w3);
}

void sha256_compress_shani(uint32_t state[8], const uint8_t *blocks, size_t n) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i lo = _mm_loadu_si128((const __m128i *)(const void *)state);       // d c b a
    __m128i hi = _mm_loadu_si128((const __m128i *)(const void *)(state + 4)); // h g f e
    lo = _mm_shuffle_epi32(lo, 0xb1);                                         // c d a b
    hi = _mm_shuffle_epi32(hi, 0x1b);                                         // e f g h
    __m128i abef = _mm_alignr_epi8(lo, hi, 8);
    __m128i cdgh = _mm_blend_epi16(hi, lo, 0xf0);
    for (; n != 0; n--, blocks += 64) {
        const __m128i abef0 = abef, cdgh0 = cdgh;
        __m128i w[4];
        for (size_t i = 0; i < 4; i++) {
            w[i] = _mm_loadu_si128((const __m128i *)(const void *)(blocks + 16 * i));
            w[i] = _mm_shuffle_epi8(w[i], swap);
            rounds4(&abef, &cdgh, w[i], 4 * i);
        }
        for (size_t r = 16; r < 64; r += 16) {
            for (size_t i = 0; i < 4; i++) {
                w[i] = schedule4(w[i], w[(i + 1) & 3], w[(i + 2) & 3], w[(i + 3) & 3]);
                rounds4(&abef, &cdgh, w[i], r + 4 * i);
            }
        }
        abef = _mm_add_epi32(abef, abef0);
        cdgh = _mm_add_epi32(cdgh, cdgh0);
    }
    lo = _mm_shuffle_epi32(abef, 0x1b); // f e b a -> a b e f
    hi = _mm_shuffle_epi32(cdgh, 0xb1); // g h c d
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(lo, hi, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(hi, lo, 8));
}
