// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A·w, B·w and C·w of a program and a packed witness.
#ifndef CUZK_R1CS_EVALUATE_H
#define CUZK_R1CS_EVALUATE_H

#include "base/pool.h"
#include "r1cs/packed.h"
#include "r1cs/program.h"

// Fills a, b, c with a value for each row of the program; all three NULL: rows are only checked. *failed is the first
// row for which a b != c, UINT64_MAX if all hold. The witness must have the program's numbers of wires
// (CUZK_ERR_MISMATCH otherwise). Instances are shared out to the pool's threads; scratch is a byte a wire and three
// a row of the largest template, for each thread.
CUZK_MUST_USE cuzk_status program_evaluate(fr *a, fr *b, fr *c, uint64_t *failed, const program *p,
                                           const packed_witness *w, pool *threads, cuzk_error *err);

#endif
