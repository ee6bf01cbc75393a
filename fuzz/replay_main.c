// SPDX-License-Identifier: MIT OR Apache-2.0
//
// libFuzzer's part in an ordinary build: every file of the folders given, in order of name, each also cut in half and
// with one bit turned, so that a small corpus says a little more.
#include <dirent.h>

#include "base/file.h"
#include "base/mem.h"
#include "fuzz.h"

static void feed(const uint8_t *data, size_t len) {
    // On the heap in its exact size, for AddressSanitizer.
    uint8_t *copy = calloc(len > 0 ? len : 1, 1);
    if (copy == NULL) abort();
    memcpy(copy, data, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
}

int main(int argc, char **argv) {
    size_t files = 0;
    feed((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        struct dirent **names = NULL;
        int n = scandir(argv[i], &names, NULL, alphasort);
        if (n < 0) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
        for (int k = 0; k < n; k++) {
            char path[4096];
            uint8_t *data = NULL;
            size_t len = 0;
            cuzk_error err;
            if (names[k]->d_name[0] != '.') {
                snprintf(path, sizeof path, "%s/%s", argv[i], names[k]->d_name);
                if (file_read_all(&data, &len, path, 1 << 20, &err) != CUZK_OK) {
                    fprintf(stderr, "%s\n", err.text);
                    return 1;
                }
                feed(data, len);
                feed(data, len / 2);
                if (len > 0) {
                    data[len / 3] ^= 1;
                    feed(data, len);
                }
                mem_free(data);
                files++;
            }
            free(names[k]);
        }
        free(names);
    }
    printf("%zu files\n", files);
    return files > 0 ? 0 : 1;
}
