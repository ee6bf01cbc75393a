// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Names of proofs in C1 files: the registered ones, and ours for the test sizes that have none.
#ifndef CUZK_VANILLA_C1_NAMES_H
#define CUZK_VANILLA_C1_NAMES_H

#include "circuit/porep/shape.h"

// As porep_shape_by_name, and also StackedDrg4KiBV1, StackedDrg4KiBV1_1 and so on for 4KiB, 16KiB, 32KiB, 16MiB and
// 1GiB. No registered proof has these sizes, so no chain will ever see such a sector (its porep_id is zero), but only
// they exercise compound trees in a file of some hundred kilobytes.
CUZK_MUST_USE cuzk_status c1_shape_by_name(porep_shape *out, const char *name, size_t len, cuzk_error *err);

#endif
