// SPDX-License-Identifier: MIT OR Apache-2.0
#define _XOPEN_SOURCE 700 // nftw
#include "scratch.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

void scratch_make(scratch *s) {
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(s->dir, sizeof s->dir, "%s/cuzk-test-XXXXXX", tmp != NULL ? tmp : "/tmp");
    assert_true(n > 0 && n < (int)sizeof s->dir);
    assert_non_null(mkdtemp(s->dir));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk) {
    (void)st, (void)type, (void)walk;
    return remove(path);
}

void scratch_remove(scratch *s) { assert_int_equal(nftw(s->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0); }

void scratch_path(const scratch *s, char path[SCRATCH_PATH], const char *name) {
    int n = snprintf(path, SCRATCH_PATH, "%s/%s", s->dir, name);
    assert_true(n > 0 && n < SCRATCH_PATH);
}

void scratch_put(const scratch *s, const char *name, const void *data, size_t len) {
    char path[SCRATCH_PATH];
    scratch_path(s, path, name);
    for (char *p = path + strlen(s->dir) + 1; *p != 0; p++) {
        if (*p != '/') continue;
        *p = 0;
        mkdir(path, 0777);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

size_t scratch_count(const scratch *s) {
    DIR *d = opendir(s->dir);
    assert_non_null(d);
    size_t n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) n++;
    }
    closedir(d);
    return n;
}
