// SPDX-License-Identifier: MIT OR Apache-2.0
#define _XOPEN_SOURCE 700 // symlink, mkfifo
#include "testing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"

static scratch dir;

static int set_up(void **state) {
    (void)state;
    scratch_make(&dir);
    return 0;
}

// Whatever a test did, it leaves no memory behind.
static int tear_down(void **state) {
    (void)state;
    scratch_remove(&dir);
    return mem_usage_total().live == 0 ? 0 : -1;
}

static void check_content(const char *path, const void *expected, size_t expected_len) {
    uint8_t *data;
    size_t len;
    cuzk_error err = {CUZK_OK, ""};
    if (file_read_all(&data, &len, path, 1 << 26, &err) != CUZK_OK) fail_msg("%s", err.text);
    assert_int_equal(len, expected_len);
    if (len > 0) assert_memory_equal(data, expected, len);
    assert_int_equal(data[len], 0);
    mem_free(data);
}

static void check_text(const cuzk_error *err, const char *path, const char *part) {
    if (strstr(err->text, path) == NULL || strstr(err->text, part) == NULL) {
        fail_msg("\"%s\" should name %s and say \"%s\"", err->text, path, part);
    }
}

static void test_read_all(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    static uint8_t big[3000001];
    test_rng rng = test_rng_new("test_base_file");
    for (size_t i = 0; i < sizeof big; i++) big[i] = (uint8_t)test_u64(&rng);
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, sizeof big};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        scratch_put(&dir, "f", big, sizes[i]);
        scratch_path(&dir, path, "f");
        check_content(path, big, sizes[i]);
    }
    uint8_t *data;
    size_t len;
    cuzk_error err;
    assert_int_equal(file_read_all(&data, &len, path, sizeof big - 1, &err), CUZK_ERR_IO);
    check_text(&err, path, "3000001 bytes, the limit is 3000000");
    assert_null(data);
    assert_int_equal(file_read_all(&data, &len, path, sizeof big, &err), CUZK_OK);
    mem_free(data);
    assert_int_equal(file_read_all(&data, &len, path, SIZE_MAX, &err), CUZK_OK);
    mem_free(data);

    mem_test_refuse(1);
    cuzk_status s = file_read_all(&data, &len, path, SIZE_MAX, &err);
    mem_test_refuse(0);
    assert_int_equal(s, CUZK_ERR_MEMORY);
    check_text(&err, path, "no memory");
}

static void test_read_all_refuses(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    uint8_t *data;
    size_t len;
    cuzk_error err;
    assert_int_equal(file_read_all(&data, &len, dir.dir, 1000, &err), CUZK_ERR_IO);
    check_text(&err, dir.dir, "is a directory");
    scratch_path(&dir, path, "absent");
    assert_int_equal(file_read_all(&data, &len, path, 1000, &err), CUZK_ERR_IO);
    check_text(&err, path, "No such file");
    assert_int_equal(file_read_all(&data, &len, "", 1000, &err), CUZK_ERR_IO);
    assert_int_equal(file_read_all(&data, &len, "/dev/zero", 100000, &err), CUZK_ERR_IO);
    check_text(&err, "/dev/zero", "more than the limit of 100000");
    assert_int_equal(file_read_all(&data, &len, "/dev/zero", 0, &err), CUZK_ERR_IO);
    check_text(&err, "/dev/zero", "more than the limit of 0");
    assert_null(data);
    check_content("/dev/null", "", 0);
    // A file that reports size 0 and holds text.
    assert_int_equal(file_read_all(&data, &len, "/proc/self/status", 1 << 20, &err), CUZK_OK);
    assert_true(len > 100 && strlen((char *)data) == len);
    mem_free(data);
}

// Puts `fd` in place of standard input while reading "-".
static cuzk_status read_as_stdin(int fd, uint8_t **data, size_t *len, size_t limit, cuzk_error *err) {
    int saved = dup(STDIN_FILENO);
    dup2(fd, STDIN_FILENO);
    cuzk_status s = file_read_all(data, len, "-", limit, err);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    } else {
        close(STDIN_FILENO);
    }
    return s;
}

static void *feed(void *arg) {
    int fd = *(int *)arg;
    uint8_t piece[1000];
    for (int i = 0; i < 500; i++) {
        memset(piece, i, sizeof piece);
        for (size_t done = 0; done < sizeof piece;) {
            ssize_t n = write(fd, piece + done, sizeof piece - done);
            if (n <= 0) {
                close(fd);
                return NULL;
            }
            done += (size_t)n;
        }
    }
    close(fd);
    return NULL;
}

static void test_read_stdin(void **state) {
    (void)state;
    static const size_t limits[] = {500000, 499999, 70000, SIZE_MAX};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        int ends[2];
        pthread_t feeder;
        uint8_t *data;
        size_t len;
        cuzk_error err;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(pthread_create(&feeder, NULL, feed, &ends[1]), 0);
        cuzk_status s = read_as_stdin(ends[0], &data, &len, limits[i], &err);
        close(ends[0]); // the feeder gets EPIPE where we stopped early
        pthread_join(feeder, NULL);
        if (limits[i] < 500000) {
            assert_int_equal(s, CUZK_ERR_IO);
            check_text(&err, "standard input", "more than the limit");
            continue;
        }
        assert_int_equal(s, CUZK_OK);
        assert_int_equal(len, 500000);
        for (size_t k = 0; k < len; k += 333) assert_int_equal(data[k], (uint8_t)(k / 1000));
        mem_free(data);
    }
    // A file as standard input is read from where it stands.
    char path[SCRATCH_PATH];
    scratch_put(&dir, "f", "0123456789", 10);
    scratch_path(&dir, path, "f");
    int fd = open(path, O_RDONLY);
    assert_int_equal(lseek(fd, 4, SEEK_SET), 4);
    uint8_t *data;
    size_t len;
    assert_int_equal(read_as_stdin(fd, &data, &len, 100, NULL), CUZK_OK);
    assert_string_equal((char *)data, "456789");
    mem_free(data);
    close(fd);
}

static void test_writer_is_atomic(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    scratch_path(&dir, path, "out");
    file_writer *w;
    cuzk_error err;
    assert_int_equal(file_writer_open(&w, path, &err), CUZK_OK);
    assert_int_equal(file_writer_put(w, "hello ", 6, &err), CUZK_OK);
    assert_int_equal(access(path, F_OK), -1); // not there before it is complete
    assert_int_equal(scratch_count(&dir), 1); // but beside it
    assert_int_equal(file_writer_put(w, NULL, 0, &err), CUZK_OK);
    assert_int_equal(file_writer_put(w, "world", 5, &err), CUZK_OK);
    assert_int_equal(file_writer_commit(&w, &err), CUZK_OK);
    assert_null(w);
    check_content(path, "hello world", 11);
    assert_int_equal(scratch_count(&dir), 1);
    file_writer_abort(&w);

    assert_int_equal(file_writer_open(&w, path, &err), CUZK_OK);
    assert_int_equal(file_writer_put(w, "other", 5, &err), CUZK_OK);
    check_content(path, "hello world", 11);
    file_writer_abort(&w);
    assert_null(w);
    check_content(path, "hello world", 11); // the old content stays
    assert_int_equal(scratch_count(&dir), 1);

    assert_int_equal(file_write_all(path, "new", 3, &err), CUZK_OK);
    check_content(path, "new", 3);
    assert_int_equal(file_write_all(path, "", 0, &err), CUZK_OK);
    check_content(path, "", 0);
    assert_int_equal(scratch_count(&dir), 1);
}

static void test_writer_pieces(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    scratch_path(&dir, path, "out");
    enum { TOTAL = 2000000 };
    static uint8_t data[TOTAL];
    test_rng rng = test_rng_new("test_base_file");
    for (size_t i = 0; i < TOTAL; i++) data[i] = (uint8_t)test_u64(&rng);
    static const size_t steps[] = {977, 262143, 262144, 262145, 600000, TOTAL};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        file_writer *w;
        assert_int_equal(file_writer_open(&w, path, NULL), CUZK_OK);
        for (size_t at = 0; at < TOTAL; at += steps[i]) {
            size_t n = TOTAL - at < steps[i] ? TOTAL - at : steps[i];
            assert_int_equal(file_writer_put(w, data + at, n, NULL), CUZK_OK);
        }
        assert_int_equal(file_writer_commit(&w, NULL), CUZK_OK);
        check_content(path, data, TOTAL);
    }
}

static void test_writer_keeps_mode_and_follows_links(void **state) {
    (void)state;
    char path[SCRATCH_PATH], link[SCRATCH_PATH], target[SCRATCH_PATH];
    struct stat st;
    scratch_put(&dir, "sub/real", "old", 3);
    scratch_path(&dir, path, "sub/real");
    scratch_path(&dir, link, "link");
    assert_int_equal(symlink("sub/real", link), 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(file_write_all(link, "new", 3, NULL), CUZK_OK);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    check_content(path, "new", 3);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    // A link that leads nowhere is replaced.
    scratch_path(&dir, target, "dangling");
    assert_int_equal(symlink("nowhere", target), 0);
    assert_int_equal(file_write_all(target, "x", 1, NULL), CUZK_OK);
    check_content(target, "x", 1);
}

static void test_writer_in_working_directory(void **state) {
    (void)state;
    char before[SCRATCH_PATH], path[SCRATCH_PATH];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(dir.dir), 0);
    cuzk_status s = file_write_all("plain", "abc", 3, NULL);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(s, CUZK_OK);
    scratch_path(&dir, path, "plain");
    check_content(path, "abc", 3);
}

static void test_writer_longest_name(void **state) {
    (void)state;
    char path[SCRATCH_PATH], name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    scratch_path(&dir, path, name);
    assert_int_equal(file_write_all(path, "abc", 3, NULL), CUZK_OK);
    check_content(path, "abc", 3);
}

static void test_writer_refuses(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    cuzk_error err;
    file_writer *w;
    scratch_path(&dir, path, "no/such/dir/out");
    assert_int_equal(file_writer_open(&w, path, &err), CUZK_ERR_IO);
    assert_null(w);
    check_text(&err, path, "No such file");
    assert_int_equal(file_write_all(dir.dir, "x", 1, &err), CUZK_ERR_IO);
    check_text(&err, dir.dir, "is a directory");
    scratch_path(&dir, path, "trailing/");
    assert_int_equal(file_write_all(path, "x", 1, &err), CUZK_ERR_IO);
    check_text(&err, path, "is a directory");
    assert_int_equal(file_write_all("", "x", 1, &err), CUZK_ERR_IO);
    assert_int_equal(scratch_count(&dir), 0);
    // Whichever allocation is refused, nothing is left behind.
    scratch_path(&dir, path, "out");
    unsigned n = 1;
    for (;; n++) {
        mem_test_refuse(n);
        cuzk_status s = file_write_all(path, "x", 1, &err);
        mem_test_refuse(0);
        if (s == CUZK_OK) break;
        assert_int_equal(s, CUZK_ERR_MEMORY);
        assert_true(mem_usage_total().live == 0);
        assert_true(n < 20);
    }
    assert_true(n > 2);
    assert_int_equal(scratch_count(&dir), 1);
}

static void test_full_disk(void **state) {
    (void)state;
    cuzk_error err;
    file_writer *w;
    static const uint8_t zeros[1 << 20];
    struct stat st;
    if (stat("/dev/full", &st) != 0) skip();
    assert_int_equal(file_write_all("/dev/full", "x", 1, &err), CUZK_ERR_IO); // told at commit
    check_text(&err, "/dev/full", "No space left");
    assert_int_equal(file_write_all("/dev/full", zeros, sizeof zeros, &err), CUZK_ERR_IO);
    check_text(&err, "/dev/full", "No space left");
    assert_int_equal(file_writer_open(&w, "/dev/full", &err), CUZK_OK);
    assert_int_equal(file_writer_put(w, zeros, sizeof zeros, NULL), CUZK_ERR_IO);
    assert_int_equal(file_writer_put(w, "x", 1, &err), CUZK_ERR_IO); // stays failed
    err.text[0] = 0;
    assert_int_equal(file_writer_commit(&w, &err), CUZK_ERR_IO);
    check_text(&err, "/dev/full", "No space left");
    assert_null(w);
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode)); // still the device
    assert_int_equal(file_write_all("/dev/null", "x", 1, &err), CUZK_OK);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

// A process killed between put and commit: the old content stays under the name.
static void test_killed_writer(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    scratch_put(&dir, "out", "old", 3);
    scratch_path(&dir, path, "out");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        file_writer *w;
        static const uint8_t zeros[1 << 20];
        if (file_writer_open(&w, path, NULL) == CUZK_OK && file_writer_put(w, zeros, sizeof zeros, NULL) == CUZK_OK) {
            raise(SIGKILL);
        }
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    check_content(path, "old", 3);
}

static void test_write_all_to_stdout(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    scratch_path(&dir, path, "captured");
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_CREAT, 0666);
    dup2(fd, STDOUT_FILENO);
    cuzk_status s = file_write_all("-", "to stdout", 9, NULL);
    dup2(saved, STDOUT_FILENO);
    close(fd), close(saved);
    assert_int_equal(s, CUZK_OK);
    check_content(path, "to stdout", 9);
}

static void test_reader(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    static uint8_t data[100000], back[sizeof data];
    test_rng rng = test_rng_new("test_base_file");
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)test_u64(&rng);
    scratch_put(&dir, "f", data, sizeof data);
    scratch_path(&dir, path, "f");
    file_reader *r;
    cuzk_error err;
    assert_int_equal(file_reader_open(&r, path, &err), CUZK_OK);
    assert_true(file_reader_size(r) == sizeof data);
    assert_string_equal(file_reader_path(r), path);
    for (int i = 0; i < 1000; i++) {
        size_t at = test_below(&rng, sizeof data + 1), len = test_below(&rng, sizeof data - at + 1);
        assert_int_equal(file_reader_at(r, back, len, at, &err), CUZK_OK);
        if (len > 0) assert_memory_equal(back, data + at, len);
    }
    static const struct {
        size_t len;
        uint64_t offset;
    } beyond[] = {{1, sizeof data}, {2, sizeof data - 1}, {sizeof data + 1, 0}, {0, sizeof data + 1},
                  {1, UINT64_MAX},  {SIZE_MAX, 1},        {1, INT64_MAX},       {SIZE_MAX, UINT64_MAX}};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_int_equal(file_reader_at(r, back, beyond[i].len, beyond[i].offset, &err), CUZK_ERR_IO);
        check_text(&err, path, "truncated at byte 100000");
    }
    scratch_put(&dir, "f", (uint8_t[200000]){0}, 200000); // what came after opening does not count
    assert_int_equal(file_reader_at(r, back, 2, sizeof data - 1, &err), CUZK_ERR_IO);
    check_text(&err, path, "truncated at byte 100000");
    file_reader_close(&r);
    assert_null(r);
    file_reader_close(&r);
}

static void test_reader_of_shrinking_file(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    static uint8_t data[100000];
    scratch_put(&dir, "f", data, sizeof data);
    scratch_path(&dir, path, "f");
    file_reader *r;
    cuzk_error err;
    assert_int_equal(file_reader_open(&r, path, &err), CUZK_OK);
    assert_int_equal(truncate(path, 777), 0);
    assert_int_equal(file_reader_at(r, data, 777, 0, &err), CUZK_OK);
    assert_int_equal(file_reader_at(r, data, 1000, 500, &err), CUZK_ERR_IO);
    check_text(&err, path, "truncated at byte 777 of 100000");
    assert_int_equal(file_reader_at(r, data, 1, 5000, &err), CUZK_ERR_IO);
    check_text(&err, path, "truncated at byte");
    file_reader_close(&r);
}

static void test_reader_refuses(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    file_reader *r;
    cuzk_error err;
    scratch_path(&dir, path, "absent");
    assert_int_equal(file_reader_open(&r, path, &err), CUZK_ERR_IO);
    assert_null(r);
    check_text(&err, path, "No such file");
    assert_int_equal(file_reader_open(&r, dir.dir, &err), CUZK_ERR_IO);
    check_text(&err, dir.dir, "directory");
    scratch_path(&dir, path, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(file_reader_open(&r, path, &err), CUZK_ERR_IO); // and does not hang
    check_text(&err, path, "a device or a pipe");
    scratch_put(&dir, "f", "x", 1);
    scratch_path(&dir, path, "f");
    mem_test_refuse(1);
    cuzk_status s = file_reader_open(&r, path, &err);
    mem_test_refuse(0);
    assert_int_equal(s, CUZK_ERR_MEMORY);
}

static void test_make_dirs(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    struct stat st;
    cuzk_error err;
    scratch_path(&dir, path, "a//b/c/");
    assert_int_equal(file_make_dirs(path, &err), CUZK_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(file_make_dirs(path, &err), CUZK_OK); // again
    assert_int_equal(file_make_dirs("/", &err), CUZK_OK);
    assert_int_equal(file_make_dirs(".", &err), CUZK_OK);
    assert_int_equal(file_make_dirs("", &err), CUZK_ERR_IO);
    scratch_put(&dir, "file", "x", 1);
    scratch_path(&dir, path, "file");
    assert_int_equal(file_make_dirs(path, &err), CUZK_ERR_IO);
    check_text(&err, path, "expected a directory");
    scratch_path(&dir, path, "file/below");
    assert_int_equal(file_make_dirs(path, &err), CUZK_ERR_IO);
    assert_int_equal(file_make_dirs("/proc/cuzk-test", &err), CUZK_ERR_IO);
    check_text(&err, "/proc/cuzk-test", "cannot create the directory");
}

#define IN_SCRATCH(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_read_all),
        IN_SCRATCH(test_read_all_refuses),
        IN_SCRATCH(test_read_stdin),
        IN_SCRATCH(test_writer_is_atomic),
        IN_SCRATCH(test_writer_pieces),
        IN_SCRATCH(test_writer_keeps_mode_and_follows_links),
        IN_SCRATCH(test_writer_in_working_directory),
        IN_SCRATCH(test_writer_longest_name),
        IN_SCRATCH(test_writer_refuses),
        IN_SCRATCH(test_full_disk),
        IN_SCRATCH(test_killed_writer),
        IN_SCRATCH(test_write_all_to_stdout),
        IN_SCRATCH(test_reader),
        IN_SCRATCH(test_reader_of_shrinking_file),
        IN_SCRATCH(test_reader_refuses),
        IN_SCRATCH(test_make_dirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
