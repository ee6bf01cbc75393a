// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What subgroup_tmpl.c needs to become key_check_subgroup_g2.
#ifndef CUZK_GROTH16_SUBGROUP_G2_H
#define CUZK_GROTH16_SUBGROUP_G2_H

#include "curve/g2.h"
#include "groth16/internal.h"
#include "msm/msm.h"

#define POINT(name) g2_##name
#define CHECK_SUBGROUP key_check_subgroup_g2
#define SUM_CLASSES msm_g2_sum_classes

enum { POINT_BYTES = G2_UNCOMPRESSED };

#endif
