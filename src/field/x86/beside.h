// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Work that is compiled into a vector multiplication, between its steps.
//
// A multiplication keeps the units that can do it busy, or waits for its own results, and leaves others idle. What they
// could do meanwhile must be close: a processor has some tens of vector instructions in view, far less than a
// multiplication, so that work before or after it does not overlap with more than its ends. Hence *beside*: a function
// that is compiled into the multiplication, which calls its steps `from` .. `to` - 1 with `state`, spread over its own
// eight. It may touch anything but the operands and the result.
#ifndef CUZK_FIELD_X86_BESIDE_H
#define CUZK_FIELD_X86_BESIDE_H

typedef void vec_beside(void *state, int step);

// What is written once and compiled into several functions; gcc would rather share the code and branch in it.
#define VEC_INLINE static inline __attribute__((always_inline))
#define VEC_UNROLL _Pragma("GCC unroll 16")

VEC_INLINE void vec_nothing(void *state, int step) { (void)state, (void)step; }
// After step i of eight.
VEC_INLINE void vec_call_beside(int i, vec_beside *beside, void *state, int from, int to) {
    VEC_UNROLL for (int k = i * (to - from) / 8; k < (i + 1) * (to - from) / 8; k++) beside(state, from + k);
}

#endif
