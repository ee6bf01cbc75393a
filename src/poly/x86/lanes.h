// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the lanes of wide_tmpl.c have in common: multiples of r, and how a factor is named.
#ifndef CUZK_POLY_X86_LANES_H
#define CUZK_POLY_X86_LANES_H

#include "field/fr.h"
#include "poly/wide.h"

static const uint64_t FR260_ONE[4] = {0x22ffffffdd, 0x8d12939700396c23, 0xff1776e6aedf7745,
                                      0x26821fa14f77df20}; // 2^260 mod r
static const uint64_t R3[5] = {0xffffd00000003, 0x8fffb13fcfff, 0xce5880ffb38ec, 0x77d899ad88181, 0x15bc8f5f97cd8};
static const uint64_t R7[5] = {0xffff900000007, 0x14fff483f8fff, 0x36ce8254a2f7c, 0x6cf96694e8384, 0x32b7f9346234e};
static const uint64_t R16[5] = {0xffff000000010, 0x2fffe5bfeffff, 0xa1d80553bda40, 0xd483339d80809, 0x73eda753299d7};
static const uint64_t R17[5] = {0xfffef00000011, 0x32ffe41beefff, 0x3bf585a8f97e4, 0x51cb66d75888a, 0x7b2c81c85c375};
static const uint64_t R18[5] = {0xfffee00000012, 0x35ffe277edfff, 0xd61305fe35588, 0xcf139a113090a, 0x826b5c3d8ed12};

// A factor that all lanes share, or one for each.
typedef struct factor {
    const uint64_t *words;
    bool of_lane;
} factor;
LIMB_INLINE factor shared(const wide_factor *f) { return (factor){f->c[0], false}; }

#endif
