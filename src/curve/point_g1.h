// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What point_tmpl.c and encoding_array_tmpl.c need to become the functions of g1.h.
#ifndef CUZK_CURVE_POINT_G1_H
#define CUZK_CURVE_POINT_G1_H

#include "curve/g1.h"

#define POINT(name) g1_##name // the points
#define GENERATOR G1_GENERATOR
#define FE(name) fp_##name // their coordinates

typedef fp fe;

static const fe FE_ZERO = {{0}};
static const fe FE_ONE = {{UINT64_C(0x760900000002fffd), UINT64_C(0xebf4000bc40c0002), UINT64_C(0x5f48985753c758ba),
                           UINT64_C(0x77ce585370525745), UINT64_C(0x5c071a97a256ec6d), UINT64_C(0x15f65ec3fa80e493)}};
static const fe CURVE_B = {{UINT64_C(0xaa270000000cfff3), UINT64_C(0x53cc0032fc34000a), UINT64_C(0x478fe97a6b0a807f),
                            UINT64_C(0xb1d37ebee6ba24d7), UINT64_C(0x8ec9733bbf78ab2f),
                            UINT64_C(0x09d645513d83de7e)}}; // 4

#endif
