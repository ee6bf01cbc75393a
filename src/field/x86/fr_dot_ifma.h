// SPDX-License-Identifier: MIT OR Apache-2.0
//
// fr_dot (field/fr_dot.h) with AVX-512 IFMA. Needs CPU_IFMA.
#ifndef CUZK_FIELD_X86_FR_DOT_IFMA_H
#define CUZK_FIELD_X86_FR_DOT_IFMA_H

#include <stddef.h>

#include "field/fr.h"

void fr_dot_ifma(fr *out, const fr *const *a, const fr *const *b, size_t n);

#endif
