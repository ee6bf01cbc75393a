// SPDX-License-Identifier: MIT OR Apache-2.0
#define _GNU_SOURCE // memfd_create
#include "fuzz_file.h"
#include "groth16/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64], saved[128];
    int fd = fuzz_file(path, data, size);
    groth16_vk *vk = NULL;
    cuzk_error err = {.status = CUZK_OK};
    cuzk_status st = groth16_vk_load(&vk, path, &err);
    if (st == CUZK_OK) {
        fuzz_temporary(saved, "vk");
        fuzz_require(groth16_vk_save(vk, saved, &err) == CUZK_OK, "a loaded key can be saved");
        fuzz_require_same(saved, data, size);
        unlink(saved);
    } else {
        fuzz_require(vk == NULL, "no key on failure");
        fuzz_require_error(st, &err);
    }
    groth16_vk_destroy(&vk);
    close(fd);
    return 0;
}
