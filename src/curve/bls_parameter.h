// SPDX-License-Identifier: MIT OR Apache-2.0
//
// z = -0xd201000000010000, from which the BLS12-381 curves are built: r = z^4 - z^2 + 1, p = (z - 1)^2 r/3 + z.
#ifndef CUZK_CURVE_BLS_PARAMETER_H
#define CUZK_CURVE_BLS_PARAMETER_H

#define BLS_Z_ABS UINT64_C(0xd201000000010000) // -z
#define BLS_Z_SQUARED_LOW UINT64_C(0x0000000100000000)
#define BLS_Z_SQUARED_HIGH UINT64_C(0xac45a4010001a402)

#endif
