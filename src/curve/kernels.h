// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The inner loop of reading points, behind a table: a proving key has ten million of them.
#ifndef CUZK_CURVE_KERNELS_H
#define CUZK_CURVE_KERNELS_H

#include "base/cpu.h"
#include "curve/encoding.h"

// True if all n uncompressed encodings are those of finite points on the curve, coordinates below p and no flags; then
// out[0..n) has the points, what the decoding of each alone gives. False if one is anything else, with `out`
// unspecified: infinity is one of them, and it is for the caller to find out. The subgroup is not looked at.
typedef bool g1_decode_block(g1_affine *out, const uint8_t *in, size_t n);
typedef bool g2_decode_block(g2_affine *out, const uint8_t *in, size_t n);

typedef struct curve_kernel_table {
    cpu_level level; // that the functions were written for
    g1_decode_block *g1_decode;
    g2_decode_block *g2_decode;
} curve_kernel_table;

// The table for this processor. Kernels that do not give known answers, tried at the first call, are not used.
const curve_kernel_table *curve_kernels(void);
// The portable loops, whatever the processor: what the others are tested against.
const curve_kernel_table *curve_kernels_portable(void);

// The test: true if known points are read, and none that is off the curve.
bool g1_decode_block_works(g1_decode_block *decode);
bool g2_decode_block_works(g2_decode_block *decode);

g1_decode_block g1_decode_block_portable, g1_decode_block_ifma;
g2_decode_block g2_decode_block_portable, g2_decode_block_ifma;

#endif
