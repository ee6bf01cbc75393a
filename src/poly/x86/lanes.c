// SPDX-License-Identifier: MIT OR Apache-2.0
#include "poly/x86/lanes.h"

#include "poly/x86/lanes_fma_words.h"

const uint64_t WIDE_ONE[4] = {0x22ffffffdd, 0x8d12939700396c23, 0xff1776e6aedf7745, 0x26821fa14f77df20};
const uint64_t WIDE_R3[5] = {0xffffd00000003, 0x8fffb13fcfff, 0xce5880ffb38ec, 0x77d899ad88181, 0x15bc8f5f97cd8};
const uint64_t WIDE_R7[5] = {0xffff900000007, 0x14fff483f8fff, 0x36ce8254a2f7c, 0x6cf96694e8384, 0x32b7f9346234e};
const uint64_t WIDE_R16[5] = {0xffff000000010, 0x2fffe5bfeffff, 0xa1d80553bda40, 0xd483339d80809, 0x73eda753299d7};
const uint64_t WIDE_R17[5] = {0xfffef00000011, 0x32ffe41beefff, 0x3bf585a8f97e4, 0x51cb66d75888a, 0x7b2c81c85c375};
const uint64_t WIDE_R18[5] = {0xfffee00000012, 0x35ffe277edfff, 0xd61305fe35588, 0xcf139a113090a, 0x826b5c3d8ed12};

const lanes_fma_words LANES_FMA_WORDS = {
    .bits = (UINT64_C(1) << 52) - 1,
    .up = UINT64_C(1) << 62,
    .between = (UINT64_C(1) << 62) - (1 << 10),
    .down = 1 << 10,
    .low = LOW_WORD,
    .before_first = 0 - 5 * LOW_WORD,
    .before = 0 - 6 * LOW_WORD - 6 * HIGH_WORD,
    .before_last = 0 - 6 * HIGH_WORD,
    .margin = 2048,
};
