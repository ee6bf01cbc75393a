// SPDX-License-Identifier: MIT OR Apache-2.0
#include "groth16/subgroup.h"

#include "base/bytes.h"
#include "curve/encoding.h"

cuzk_status key_draw_classes(uint16_t *class, size_t n, cuzk_error *err) {
    cuzk_status status = random_bytes(class, n * sizeof *class, err);
    for (size_t i = 0; i < n; i++) class[i] &= KEY_CLASSES - 1;
    return status;
}

cuzk_status key_bad_point(const char *path, const char *section, size_t i, size_t n, uint64_t at, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: section \"%s\": point %zu of %zu at byte %llu %s", path, section, i, n,
                     (unsigned long long)at, point_check_text(POINT_NOT_IN_SUBGROUP));
}

cuzk_status key_member_missing(const char *path, const char *section, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_INTERNAL,
                     "%s: section \"%s\": a sum of points is outside the subgroup, but each of its points is inside",
                     path, section);
}
