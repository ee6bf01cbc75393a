// SPDX-License-Identifier: MIT OR Apache-2.0
#define _FILE_OFFSET_BITS 64
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

// One read call moves at most this much, whatever the platform's limit on ssize_t and int.
enum { READ_STEP = 1 << 30, GROW_FROM = 1 << 16 };

static ssize_t read_some(int fd, void *data, size_t len) {
    ssize_t n;
    do {
        n = read(fd, data, len < READ_STEP ? len : READ_STEP);
    } while (n < 0 && errno == EINTR);
    return n;
}

static cuzk_status fail_os(cuzk_error *err, const char *path, const char *what) {
    return cuzk_fail(err, CUZK_ERR_IO, "%s: %s: %s", path, what, strerror(errno));
}

static cuzk_status fail_memory(cuzk_error *err, const char *path, size_t len) {
    return cuzk_fail(err, CUZK_ERR_MEMORY, "%s: no memory for %zu bytes", path, len);
}

// A regular file: the size is known, so it is refused before anything is allocated.
static cuzk_status read_sized(uint8_t **data, size_t *len, int fd, const char *path, size_t size, cuzk_error *err) {
    uint8_t *buffer = mem_alloc(MEM_INPUT, size + 1, 1);
    if (buffer == NULL) return fail_memory(err, path, size);
    size_t got = 0;
    while (got < size) {
        ssize_t n = read_some(fd, buffer + got, size - got);
        if (n <= 0) {
            cuzk_status s = n < 0 ? fail_os(err, path, "cannot read")
                                  : cuzk_fail(err, CUZK_ERR_IO, "%s: truncated at byte %zu of %zu", path, got, size);
            mem_free(buffer);
            return s;
        }
        got += (size_t)n;
    }
    buffer[size] = 0;
    *data = buffer;
    *len = size;
    return CUZK_OK;
}

// A pipe, a terminal, /proc: read until it ends, or until one byte more than the limit has come.
static cuzk_status read_stream(uint8_t **data, size_t *len, int fd, const char *path, size_t limit, cuzk_error *err) {
    size_t cap = 0, got = 0;
    uint8_t *buffer = NULL;
    cuzk_status s = CUZK_OK;
    for (;;) {
        if (got == cap) {
            // cap counts data; one more byte is always there for the NUL. limit < SIZE_MAX, see file_read_all.
            size_t grown = cap == 0 ? GROW_FROM : cap > (limit + 1) / 2 ? limit + 1 : 2 * cap;
            if (grown > limit + 1) grown = limit + 1;
            uint8_t *bigger = mem_alloc(MEM_INPUT, grown + 1, 1);
            if (bigger == NULL) {
                s = fail_memory(err, path, grown);
                break;
            }
            if (got > 0) memcpy(bigger, buffer, got);
            mem_free(buffer);
            buffer = bigger;
            cap = grown;
        }
        ssize_t n = read_some(fd, buffer + got, cap - got);
        if (n < 0) {
            s = fail_os(err, path, "cannot read");
            break;
        }
        if (n == 0) {
            buffer[got] = 0;
            *data = buffer;
            *len = got;
            return CUZK_OK;
        }
        got += (size_t)n;
        if (got > limit) {
            s = cuzk_fail(err, CUZK_ERR_IO, "%s: too large: more than the limit of %zu bytes", path, limit);
            break;
        }
    }
    mem_free(buffer);
    return s;
}

cuzk_status file_read_all(uint8_t **data, size_t *len, const char *path, size_t limit, cuzk_error *err) {
    *data = NULL;
    *len = 0;
    if (limit > SIZE_MAX - 2) limit = SIZE_MAX - 2; // room for the NUL and the byte that shows the excess
    const bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_os(err, name, "cannot open");
    cuzk_status s;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        s = fail_os(err, name, "cannot look at");
    } else if (S_ISDIR(st.st_mode)) {
        s = cuzk_fail(err, CUZK_ERR_IO, "%s: is a directory, expected a file", name);
    } else if (is_stdin || !S_ISREG(st.st_mode) || st.st_size == 0) { // files under /proc say 0 and hold text
        s = read_stream(data, len, fd, name, limit, err);
    } else if ((uintmax_t)st.st_size > limit) {
        s = cuzk_fail(err, CUZK_ERR_IO, "%s: too large: %ju bytes, the limit is %zu", name, (uintmax_t)st.st_size,
                      limit);
    } else {
        s = read_sized(data, len, fd, name, (size_t)st.st_size, err);
    }
    if (!is_stdin) close(fd);
    return s;
}

struct file_reader {
    int fd;
    uint64_t size;
    char path[]; // a copy, for error texts
};

cuzk_status file_reader_open(file_reader **out, const char *path, cuzk_error *err) {
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a named pipe must not block us before it is refused
    if (fd < 0) return fail_os(err, path, "cannot open");
    struct stat st;
    cuzk_status s = CUZK_OK;
    if (fstat(fd, &st) != 0) {
        s = fail_os(err, path, "cannot look at");
    } else if (!S_ISREG(st.st_mode)) {
        s = cuzk_fail(err, CUZK_ERR_IO, "%s: is %s, expected a regular file", path,
                      S_ISDIR(st.st_mode) ? "a directory" : "a device or a pipe");
    }
    const size_t path_size = strlen(path) + 1;
    file_reader *r = NULL;
    if (s == CUZK_OK) {
        r = mem_alloc(MEM_MISC, 1, sizeof *r + path_size);
        if (r == NULL) s = fail_memory(err, path, sizeof *r + path_size);
    }
    if (s != CUZK_OK) {
        close(fd);
        return s;
    }
    r->fd = fd;
    r->size = (uint64_t)st.st_size;
    memcpy(r->path, path, path_size);
    *out = r;
    return CUZK_OK;
}

uint64_t file_reader_size(const file_reader *r) { return r->size; }
const char *file_reader_path(const file_reader *r) { return r->path; }

bool file_reader_identity(file_identity *out, const file_reader *r) {
    struct stat st;
    if (fstat(r->fd, &st) != 0) return false;
    *out = (file_identity){.device = st.st_dev,
                           .inode = st.st_ino,
                           .size = (uint64_t)st.st_size,
                           .changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
                           .inode_changed_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec};
    return true;
}

cuzk_status file_reader_at(file_reader *r, void *data, size_t len, uint64_t offset, cuzk_error *err) {
    // Everything beyond the size at opening is refused without a read, so offset + len cannot overflow off_t.
    if (offset > r->size || len > r->size - offset) {
        return cuzk_fail(err, CUZK_ERR_IO, "%s: truncated at byte %ju: wanted %zu bytes at offset %ju", r->path,
                         (uintmax_t)r->size, len, (uintmax_t)offset);
    }
    uint8_t *p = data;
    size_t got = 0;
    while (got < len) {
        const size_t step = len - got < READ_STEP ? len - got : READ_STEP;
        ssize_t n = pread(r->fd, p + got, step, (off_t)(offset + got));
        if (n < 0) {
            if (errno == EINTR) continue;
            return fail_os(err, r->path, "cannot read");
        }
        if (n == 0) {
            return cuzk_fail(err, CUZK_ERR_IO, "%s: truncated at byte %ju of %ju (it shrank while being read)", r->path,
                             (uintmax_t)(offset + got), (uintmax_t)r->size);
        }
        got += (size_t)n;
    }
    return CUZK_OK;
}

void file_reader_close(file_reader **r) {
    if (*r == NULL) return;
    close((*r)->fd);
    mem_free(*r);
    *r = NULL;
}
