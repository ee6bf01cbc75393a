// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vanilla/c1_names.h"

#include <string.h>

static const struct test_name {
    const char *name;
    uint64_t sector_size;
    porep_api api;
} TEST_NAMES[] = {
    {"StackedDrg4KiBV1", UINT64_C(1) << 12, POREP_API_1_0},  {"StackedDrg4KiBV1_1", UINT64_C(1) << 12, POREP_API_1_1},
    {"StackedDrg16KiBV1", UINT64_C(1) << 14, POREP_API_1_0}, {"StackedDrg16KiBV1_1", UINT64_C(1) << 14, POREP_API_1_1},
    {"StackedDrg32KiBV1", UINT64_C(1) << 15, POREP_API_1_0}, {"StackedDrg32KiBV1_1", UINT64_C(1) << 15, POREP_API_1_1},
    {"StackedDrg16MiBV1", UINT64_C(1) << 24, POREP_API_1_0}, {"StackedDrg16MiBV1_1", UINT64_C(1) << 24, POREP_API_1_1},
    {"StackedDrg1GiBV1", UINT64_C(1) << 30, POREP_API_1_0},  {"StackedDrg1GiBV1_1", UINT64_C(1) << 30, POREP_API_1_1},
};

cuzk_status c1_shape_by_name(porep_shape *out, const char *name, size_t len, cuzk_error *err) {
    for (size_t i = 0; i < sizeof TEST_NAMES / sizeof *TEST_NAMES; i++) {
        const struct test_name *t = &TEST_NAMES[i];
        if (strlen(t->name) != len || memcmp(t->name, name, len) != 0) continue;
        cuzk_status st = porep_shape_by_size(out, t->sector_size, t->api, POREP_INTERACTIVE, err);
        if (st == CUZK_OK) out->proof_name = t->name;
        return st;
    }
    return porep_shape_by_name(out, name, len, err);
}
