// SPDX-License-Identifier: MIT OR Apache-2.0
#define _XOPEN_SOURCE 700 // realpath
#define _FILE_OFFSET_BITS 64
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"

enum { BUFFER = 1 << 18, WRITE_STEP = 1 << 30, TEMP_TRIES = 16, TEMP_NAME = 32 };

struct file_writer {
    int fd;
    bool direct; // a device or a pipe: nothing to rename
    bool failed; // a put failed; `error` says why, and commit repeats it
    cuzk_error error;
    char *path;     // where the file will appear, symbolic links resolved
    char *temp;     // where it is now; NULL if direct
    size_t dir_len; // path[0, dir_len) is the directory with its slash; 0 is the working directory
    size_t fill;    // bytes in buffer
    uint8_t buffer[BUFFER];
};

static cuzk_status fail_os(cuzk_error *err, const char *path, const char *what) {
    return cuzk_fail(err, CUZK_ERR_IO, "%s: %s: %s", path, what, strerror(errno));
}

static bool write_fully(int fd, const uint8_t *p, size_t len) {
    while (len > 0) {
        ssize_t n = write(fd, p, len < WRITE_STEP ? len : WRITE_STEP);
        if (n < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static char *copy_text(const char *text) {
    size_t n = strlen(text) + 1;
    char *copy = mem_alloc(MEM_MISC, n, 1);
    if (copy != NULL) memcpy(copy, text, n);
    return copy;
}

// What `path` leads to. A symbolic link is resolved, so that the file it names is replaced and not the link; a link
// that leads nowhere is replaced itself.
static char *resolve(const char *path) {
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
        char *real = realpath(path, NULL);
        if (real != NULL) {
            char *copy = copy_text(real);
            free(real);
            return copy;
        }
    }
    return copy_text(path);
}

static void writer_free(file_writer *w) {
    if (w->fd >= 0) close(w->fd);
    mem_free(w->path);
    mem_free(w->temp);
    mem_free(w);
}

// Opens a new file beside the destination: rename is only atomic within one file system. The name does not grow from
// the destination's, which may have the greatest length allowed.
static cuzk_status open_temp(file_writer *w, cuzk_error *err) {
    const size_t cap = w->dir_len + TEMP_NAME;
    w->temp = mem_alloc(MEM_MISC, cap, 1);
    if (w->temp == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "%s: no memory for its name", w->path);
    memcpy(w->temp, w->path, w->dir_len);
    for (int i = 0; i < TEMP_TRIES; i++) {
        uint8_t suffix[8];
        char hex[2 * sizeof suffix + 1];
        cuzk_status s = random_bytes(suffix, sizeof suffix, err);
        if (s != CUZK_OK) return s;
        hex_encode(hex, suffix, sizeof suffix);
        snprintf(w->temp + w->dir_len, cap - w->dir_len, ".cuzk-%s.tmp", hex);
        w->fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd >= 0) return CUZK_OK;
        if (errno != EEXIST) break;
    }
    return fail_os(err, w->path, "cannot create");
}

cuzk_status file_writer_open(file_writer **out, const char *path, cuzk_error *err) {
    *out = NULL;
    if (path[0] == 0) return cuzk_fail(err, CUZK_ERR_IO, "cannot create a file with an empty name");
    file_writer *w = mem_calloc(MEM_MISC, 1, sizeof *w);
    if (w == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "%s: no memory for an output buffer", path);
    w->fd = -1;
    w->path = resolve(path);
    cuzk_status s = CUZK_OK;
    struct stat st;
    if (w->path == NULL) {
        s = cuzk_fail(err, CUZK_ERR_MEMORY, "%s: no memory for its name", path);
    } else {
        const char *slash = strrchr(w->path, '/');
        w->dir_len = slash == NULL ? 0 : (size_t)(slash - w->path) + 1;
        const bool exists = stat(w->path, &st) == 0;
        if ((exists && S_ISDIR(st.st_mode)) || w->path[w->dir_len] == 0) {
            s = cuzk_fail(err, CUZK_ERR_IO, "%s: is a directory, expected a file", path);
        } else if (exists && !S_ISREG(st.st_mode)) {
            w->direct = true;
            w->fd = open(w->path, O_WRONLY | O_CLOEXEC);
            if (w->fd < 0) s = fail_os(err, path, "cannot open");
        } else {
            s = open_temp(w, err);
            // The new content keeps the permissions of the old; not being able to is no reason to fail.
            if (s == CUZK_OK && exists && fchmod(w->fd, st.st_mode & 0777) != 0) errno = 0;
        }
    }
    if (s != CUZK_OK) {
        if (w->temp != NULL && w->fd >= 0) unlink(w->temp);
        writer_free(w);
        return s;
    }
    *out = w;
    return CUZK_OK;
}

static cuzk_status repeat(const file_writer *w, cuzk_error *err) {
    if (err != NULL) *err = w->error;
    return w->error.status;
}

static cuzk_status put_through(file_writer *w, const void *data, size_t len, cuzk_error *err) {
    if (write_fully(w->fd, data, len)) return CUZK_OK;
    w->failed = true;
    fail_os(&w->error, w->path, "cannot write");
    return repeat(w, err);
}

static cuzk_status flush(file_writer *w, cuzk_error *err) {
    const size_t len = w->fill;
    w->fill = 0;
    return put_through(w, w->buffer, len, err);
}

cuzk_status file_writer_put(file_writer *w, const void *data, size_t len, cuzk_error *err) {
    if (w->failed) return repeat(w, err);
    if (len > BUFFER - w->fill) {
        cuzk_status s = flush(w, err);
        if (s != CUZK_OK) return s;
    }
    if (len >= BUFFER) return put_through(w, data, len, err);
    if (len > 0) memcpy(w->buffer + w->fill, data, len);
    w->fill += len;
    return CUZK_OK;
}

// Makes the new name durable. File systems that cannot sync a directory say EINVAL or ENOTSUP: nothing to be done.
static cuzk_status sync_directory(const file_writer *w, cuzk_error *err) {
    char *dir = mem_alloc(MEM_MISC, w->dir_len + 2, 1);
    if (dir == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "%s: no memory for the name of its directory", w->path);
    memcpy(dir, w->path, w->dir_len);
    memcpy(dir + w->dir_len, w->dir_len == 0 ? "." : "", w->dir_len == 0 ? 2 : 1);
    cuzk_status s = CUZK_OK;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != EACCES) s = fail_os(err, dir, "cannot open"); // a drop box may be written and not read
    } else {
        if (fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP) s = fail_os(err, dir, "cannot sync");
        close(fd);
    }
    mem_free(dir);
    return s;
}

static cuzk_status publish(file_writer *w, cuzk_error *err) {
    if (w->failed) return repeat(w, err);
    cuzk_status s = flush(w, err);
    if (s != CUZK_OK) return s;
    if (!w->direct && fsync(w->fd) != 0) return fail_os(err, w->path, "cannot sync");
    const int fd = w->fd;
    w->fd = -1;
    if (close(fd) != 0 && errno != EINTR) return fail_os(err, w->path, "cannot close"); // network disks report here
    if (w->direct) return CUZK_OK;
    if (rename(w->temp, w->path) != 0) return fail_os(err, w->path, "cannot rename into place");
    mem_free(w->temp);
    w->temp = NULL;
    return sync_directory(w, err);
}

cuzk_status file_writer_commit(file_writer **w, cuzk_error *err) {
    cuzk_status s = publish(*w, err);
    file_writer_abort(w);
    return s;
}

void file_writer_abort(file_writer **wp) {
    file_writer *w = *wp;
    if (w == NULL) return;
    *wp = NULL;
    if (w->temp != NULL) unlink(w->temp);
    writer_free(w);
}

cuzk_status file_write_all(const char *path, const void *data, size_t len, cuzk_error *err) {
    if (strcmp(path, "-") == 0) {
        return write_fully(STDOUT_FILENO, data, len) ? CUZK_OK : fail_os(err, "standard output", "cannot write");
    }
    file_writer *w;
    cuzk_status s = file_writer_open(&w, path, err);
    if (s != CUZK_OK) return s;
    s = file_writer_put(w, data, len, err);
    if (s != CUZK_OK) {
        file_writer_abort(&w);
        return s;
    }
    return file_writer_commit(&w, err);
}

static cuzk_status make_dir(const char *path, cuzk_error *err) {
    if (mkdir(path, 0777) == 0) return CUZK_OK;
    const int reason = errno; // also EROFS and EACCES may stand for "already there"
    struct stat st;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) return CUZK_OK;
        return cuzk_fail(err, CUZK_ERR_IO, "%s: is a file, expected a directory", path);
    }
    return cuzk_fail(err, CUZK_ERR_IO, "%s: cannot create the directory: %s", path, strerror(reason));
}

cuzk_status file_make_dirs(const char *path, cuzk_error *err) {
    if (path[0] == 0) return cuzk_fail(err, CUZK_ERR_IO, "cannot create a directory with an empty name");
    char *part = copy_text(path);
    if (part == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "%s: no memory for its name", path);
    cuzk_status s = CUZK_OK;
    for (char *p = part + 1; s == CUZK_OK && *p != 0; p++) {
        if (*p != '/' || p[-1] == '/') continue;
        *p = 0;
        s = make_dir(part, err);
        *p = '/';
    }
    if (s == CUZK_OK) s = make_dir(part, err);
    mem_free(part);
    return s;
}
