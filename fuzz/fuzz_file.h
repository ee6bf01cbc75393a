// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Bytes as a file without a disk.
#ifndef CUZK_FUZZ_FILE_H
#define CUZK_FUZZ_FILE_H

#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "fuzz.h"

// The including file defines _GNU_SOURCE for memfd_create. Returns a descriptor and its path.
static inline int fuzz_file(char path[64], const uint8_t *data, size_t size) {
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0) abort();
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, data + done, size - done);
        if (n <= 0) abort();
        done += (size_t)n;
    }
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}
// The file at `path` holds exactly these bytes.
static inline void fuzz_require_same(const char *path, const uint8_t *data, size_t size) {
    uint8_t *found = NULL;
    size_t len = 0;
    fuzz_require(file_read_all(&found, &len, path, 1 << 24, NULL) == CUZK_OK, "a saved file can be read");
    fuzz_require(len == size && memcmp(found, data, size) == 0, "one encoding a key");
    mem_free(found);
}
// Where saved keys go: a name of this process, since saving renames.
static inline void fuzz_temporary(char path[128], const char *what) {
    const char *dir = getenv("TMPDIR");
    snprintf(path, 128, "%.64s/cuzk-fuzz-%s-%ld", dir != NULL ? dir : "/tmp", what, (long)getpid());
}

#endif
