// SPDX-License-Identifier: MIT OR Apache-2.0
//
// verify_c1 PARAMS_DIR C1 PROOF: verifies a proof of replication with the library, nothing else of cuzk.
//   cc verify_c1.c -lcuzk -o verify_c1
#include <cuzk/cuzk.h>

#include <stdio.h>
#include <stdlib.h>

// The whole file in memory of the caller, or NULL.
static unsigned char *read_file(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    if (f == NULL) return NULL;
    unsigned char *data = NULL;
    size_t room = 0, n = 0;
    for (;;) {
        if (n == room) {
            room = room == 0 ? 1 << 16 : 2 * room;
            unsigned char *bigger = realloc(data, room);
            if (bigger == NULL) break;
            data = bigger;
        }
        size_t got = fread(data + n, 1, room - n, f);
        if (got == 0) break;
        n += got;
    }
    if (ferror(f) != 0) {
        free(data);
        data = NULL;
    }
    fclose(f);
    *len = n;
    return data;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: verify_c1 PARAMS_DIR C1 PROOF\n");
        return 2;
    }
    size_t c1_len = 0, proof_len = 0;
    unsigned char *c1 = read_file(argv[2], &c1_len);
    unsigned char *proof = read_file(argv[3], &proof_len);
    cuzk_context *ctx = NULL;
    cuzk_result r = CUZK_RESULT_IO;
    if (c1 == NULL || proof == NULL)
        perror(c1 == NULL ? argv[2] : argv[3]);
    else if ((r = cuzk_context_new(&ctx, 0)) == CUZK_RESULT_OK) {
        r = cuzk_porep_verify(ctx, argv[1], c1, c1_len, proof, proof_len);
        if (r == CUZK_RESULT_OK)
            printf("valid\n");
        else
            printf("not accepted (%s): %s\n", cuzk_result_name(r), cuzk_error_text(ctx));
    }
    cuzk_context_free(ctx);
    free(c1);
    free(proof);
    return r == CUZK_RESULT_OK ? 0 : 1;
}
