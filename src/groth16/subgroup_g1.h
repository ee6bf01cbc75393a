// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What subgroup_tmpl.c needs to become key_check_subgroup_g1.
#ifndef CUZK_GROTH16_SUBGROUP_G1_H
#define CUZK_GROTH16_SUBGROUP_G1_H

#include "curve/g1.h"
#include "groth16/internal.h"
#include "msm/msm.h"

#define POINT(name) g1_##name
#define CHECK_SUBGROUP key_check_subgroup_g1
#define SUM_CLASSES msm_g1_sum_classes

enum { POINT_BYTES = G1_UNCOMPRESSED };

#endif
