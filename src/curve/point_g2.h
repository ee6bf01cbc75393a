// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What point_tmpl.c and encoding_array_tmpl.c need to become the functions of g2.h.
#ifndef CUZK_CURVE_POINT_G2_H
#define CUZK_CURVE_POINT_G2_H

#include "curve/g2.h"

#define POINT(name) g2_##name // the points
#define GENERATOR G2_GENERATOR
#define FE(name) fp2_##name // their coordinates

typedef fp2 fe;

static const fe FE_ZERO = {{{0}}, {{0}}};
static const fe FE_ONE = {{{UINT64_C(0x760900000002fffd), UINT64_C(0xebf4000bc40c0002), UINT64_C(0x5f48985753c758ba),
                            UINT64_C(0x77ce585370525745), UINT64_C(0x5c071a97a256ec6d), UINT64_C(0x15f65ec3fa80e493)}},
                          {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
                            UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}}};
static const fe CURVE_B = {
    {{UINT64_C(0xaa270000000cfff3), UINT64_C(0x53cc0032fc34000a), UINT64_C(0x478fe97a6b0a807f),
      UINT64_C(0xb1d37ebee6ba24d7), UINT64_C(0x8ec9733bbf78ab2f), UINT64_C(0x09d645513d83de7e)}},
    {{UINT64_C(0xaa270000000cfff3), UINT64_C(0x53cc0032fc34000a), UINT64_C(0x478fe97a6b0a807f),
      UINT64_C(0xb1d37ebee6ba24d7), UINT64_C(0x8ec9733bbf78ab2f), UINT64_C(0x09d645513d83de7e)}}}; // 4 (1 + u)

#endif
