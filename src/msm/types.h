// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The names a *_tmpl.c of this folder uses for one group. Each is compiled twice, with MSM_GROUP 1 and 2.
#ifndef CUZK_MSM_TYPES_H
#define CUZK_MSM_TYPES_H

#include "curve/g1.h"
#include "curve/g2.h"
#include "msm/kernels.h"

#if MSM_GROUP == 1
#define G(name) g1_##name       // curve functions and types
#define F(name) fp_##name       // functions of the coordinate field
#define FE fp                   // a coordinate
#define FE_ONE FP_ONE           //
#define MSM(name) msm_g1_##name // functions and types of this folder
#define FIXED(name) fixed_base_g1##name
#elif MSM_GROUP == 2
#define G(name) g2_##name
#define F(name) fp2_##name
#define FE fp2
#define FE_ONE FP2_ONE
#define MSM(name) msm_g2_##name
#define FIXED(name) fixed_base_g2##name
#else
#error "compile with MSM_GROUP=1 or MSM_GROUP=2"
#endif

#define POINT G(affine)
#define JAC G(jac)

#endif
