// SPDX-License-Identifier: MIT OR Apache-2.0
#define _GNU_SOURCE // memfd_create
#include "fuzz_file.h"
#include "groth16/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64], saved[128];
    int fd = fuzz_file(path, data, size);
    for (int full = 0; full < 2; full++) {
        groth16_pk *pk = NULL;
        cuzk_error err = {.status = CUZK_OK};
        cuzk_status st = groth16_pk_load(&pk, path, full != 0 ? KEY_CHECK_FULL : KEY_CHECK_CURVE, NULL, NULL, &err);
        if (st != CUZK_OK) {
            fuzz_require(pk == NULL, "no key on failure");
            fuzz_require_error(st, &err);
        } else if (full != 0) {
            fuzz_temporary(saved, "params");
            fuzz_require(groth16_pk_save(pk, saved, NULL, NULL, &err) == CUZK_OK, "a loaded key can be saved");
            fuzz_require_same(saved, data, size);
            unlink(saved);
        }
        groth16_pk_destroy(&pk);
    }
    close(fd);
    return 0;
}
