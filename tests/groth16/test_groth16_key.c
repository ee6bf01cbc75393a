// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Key files: what is written is read back, and every kind of damage is refused with its place named.
#include "testing.h"

#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "curve/encoding.h"
#include "groth16/internal.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/toy.h"
#include "groth16/verify.h"

static const toy TOY = {.steps = 20, .input_rows = true, .seed = 5};
enum { N_IC = 4, VK_BYTES = 868 + 96 * N_IC };

static char dir[] = "/tmp/cuzk-test-key-XXXXXX";
static char good_path[64], bad_path[64];

// A good key file and where its parts begin.
static struct {
    uint8_t *bytes;
    size_t len;
    size_t count_at[KEY_SECTIONS];
    uint32_t n[KEY_SECTIONS];
} good;

static groth16_pk *make_key(const toy *t) {
    const circuit c = toy_bind(t);
    groth16_secrets secrets;
    groth16_pk *pk;
    groth16_secrets_from_label(&secrets, "toy");
    assert_int_equal(groth16_setup(&pk, &c, &secrets, 0, 0, 0), CUZK_OK);
    return pk;
}

static int set_up(void **state) {
    (void)state;
    if (mkdtemp(dir) == 0) return -1;
    snprintf(good_path, sizeof good_path, "%s/good.params", dir);
    snprintf(bad_path, sizeof bad_path, "%s/bad.params", dir);
    groth16_pk *pk = make_key(&TOY);
    if (groth16_pk_save(pk, good_path, 0, 0, 0) != CUZK_OK) return -1;
    groth16_pk_destroy(&pk);
    if (file_read_all(&good.bytes, &good.len, good_path, 1 << 24, 0) != CUZK_OK) return -1;
    size_t at = VK_BYTES;
    for (int s = 0; s < KEY_SECTIONS; s++) {
        good.count_at[s] = at;
        good.n[s] = load_be32(good.bytes + at);
        at += 4 + good.n[s] * key_point_bytes((key_section)s);
    }
    return at == good.len ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    mem_free(good.bytes);
    unlink(good_path);
    unlink(bad_path);
    rmdir(dir);
    return mem_usage_total().live == 0 ? 0 : -1;
}

static void write_bad(const uint8_t *bytes, size_t len) {
    FILE *f = fopen(bad_path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

// Loading must fail with this status and with each of the texts in the message, and must name the file.
static void refuse(key_check check, cuzk_status status, const char *text1, const char *text2) {
    pool *p;
    cuzk_error err;
    assert_int_equal(pool_create(&p, 2, 0), CUZK_OK);
    groth16_pk *pk = (groth16_pk *)&p;
    cuzk_status got = groth16_pk_load(&pk, bad_path, check, p, 0, &err);
    if (got != status || strstr(err.text, text1) == 0 || strstr(err.text, text2) == 0 ||
        strstr(err.text, bad_path) == 0)
        fail_msg("expected %s with \"%s\" and \"%s\", got %s: %s", cuzk_status_name(status), text1, text2,
                 cuzk_status_name(got), got == CUZK_OK ? "" : err.text);
    assert_null(pk);
    pool_destroy(&p);
}

static void test_round_trip(void **state) {
    (void)state;
    for (int check = KEY_CHECK_CURVE; check <= KEY_CHECK_FULL; check++) {
        groth16_pk *pk;
        cuzk_error err;
        uint8_t *again;
        size_t len;
        assert_int_equal(groth16_pk_load(&pk, good_path, (key_check)check, 0, 0, &err), CUZK_OK);
        assert_int_equal(pk->vk.n_ic, N_IC);
        assert_int_equal(groth16_pk_save(pk, bad_path, 0, 0, &err), CUZK_OK);
        assert_int_equal(file_read_all(&again, &len, bad_path, 1 << 24, 0), CUZK_OK);
        assert_int_equal(len, good.len);
        assert_memory_equal(again, good.bytes, len);
        mem_free(again);

        // The loaded key proves.
        const circuit c = toy_bind(&TOY);
        groth16_assignment *w;
        groth16_blinding b;
        groth16_proof proof;
        fr inputs[TOY_MAX_INPUTS];
        uint32_t n = toy_public_inputs(inputs, &TOY);
        assert_int_equal(groth16_blinding_random(&b, &err), CUZK_OK);
        assert_int_equal(groth16_synthesize(&w, &c, 0, &err), CUZK_OK);
        assert_int_equal(groth16_prove(&proof, pk, w, &b, 0, 0, &err), CUZK_OK);
        assert_int_equal(groth16_verify(&pk->vk, &proof, inputs, n, &err), CUZK_OK);
        groth16_assignment_destroy(&w);
        groth16_pk_destroy(&pk);
        assert_null(pk);
    }
}

static void test_every_truncation(void **state) {
    (void)state;
    // Any cut leaves a count that does not fit or a section that is missing.
    for (size_t len = 0; len < good.len; len += len < 900 ? 61 : 997) {
        write_bad(good.bytes, len);
        refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, "bytes", "");
    }
    write_bad(good.bytes, good.len - 1);
    refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, "section \"b_g2\"", "bytes left");
    for (int s = 0; s < KEY_SECTIONS; s++) {
        char name[32];
        snprintf(name, sizeof name, "section \"%s\" is missing", key_section_name((key_section)s));
        write_bad(good.bytes, good.count_at[s] + 3);
        refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, name, "");
    }
}

static void test_layouts(void **state) {
    (void)state;
    uint8_t *b = malloc(good.len + 1);
    assert_non_null(b);
    memcpy(b, good.bytes, good.len);
    b[good.len] = 0;
    write_bad(b, good.len + 1);
    refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, "ends at byte", "the file has");
    write_bad(b, 0);
    refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, "at least 868 bytes", "has 0");

    store_be32(b + 864, UINT32_MAX);
    write_bad(b, good.len);
    refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, "section \"ic\" at byte 864", "4294967295");
    store_be32(b + 864, 0);
    write_bad(b, good.len);
    refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, "section \"ic\" at byte 864", "has no points");
    store_be32(b + 864, N_IC);
    for (int s = 0; s < KEY_SECTIONS; s++) {
        char name[48];
        snprintf(name, sizeof name, "section \"%s\" at byte %zu", key_section_name((key_section)s), good.count_at[s]);
        store_be32(b + good.count_at[s], UINT32_MAX);
        write_bad(b, good.len);
        refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, name, "4294967295");
        // A lie that fits moves everything behind it; some check must notice, whichever it is.
        static const int32_t lies[] = {-1, 1};
        for (int i = 0; i < 2; i++) {
            store_be32(b + good.count_at[s], good.n[s] + (uint32_t)lies[i]);
            write_bad(b, good.len);
            refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, "", "");
        }
        store_be32(b + good.count_at[s], 0);
        write_bad(b, good.len);
        refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, "", "");
        store_be32(b + good.count_at[s], good.n[s]);
    }
    free(b);
}

// Removes the last `drop` points of a section and tells the truth about it.
static void without_points(int section, uint32_t drop, const char *text1, const char *text2) {
    size_t point = key_point_bytes((key_section)section);
    size_t at = good.count_at[section], end = at + 4 + good.n[section] * point, cut = drop * point;
    uint8_t *b = malloc(good.len);
    assert_non_null(b);
    memcpy(b, good.bytes, end - cut);
    memcpy(b + end - cut, good.bytes + end, good.len - end);
    store_be32(b + at, good.n[section] - drop);
    write_bad(b, good.len - cut);
    refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, text1, text2);
    free(b);
}

static void test_counts_that_no_key_has(void **state) {
    (void)state;
    without_points(KEY_H, 1, "section \"h\"", "power of two");
    without_points(KEY_H, good.n[KEY_H], "section \"h\" has 0", "power of two");
    without_points(KEY_H, good.n[KEY_H] - 1, "section \"h\" has 1 ", "inputs");
    without_points(KEY_L, good.n[KEY_L], "section \"a\"", "at most all 4 wires");
    without_points(KEY_A, good.n[KEY_A] - N_IC + 1, "section \"a\"", "at least the 4 inputs");
    without_points(KEY_B_G1, 1, "section \"b_g1\"", "section \"b_g2\"");
    without_points(KEY_B_G2, good.n[KEY_B_G2], "section \"b_g1\"", "section \"b_g2\" has 0");
}

// ---- points

// On the curve with a small x, outside the subgroup.
static void stray_g1(g1_affine *out) {
    fp four;
    fp_from_u64(&four, 4);
    for (uint64_t x = 1;; x++) {
        fp y;
        fp_from_u64(&out->x, x);
        fp_sqr(&y, &out->x);
        fp_mul(&y, &y, &out->x);
        fp_add(&y, &y, &four);
        if (fp_sqrt(&out->y, &y) && !g1_affine_in_subgroup(out)) return;
    }
}
static void stray_g2(g2_affine *out) {
    fp2 b;
    fp_from_u64(&b.c0, 4);
    b.c1 = b.c0;
    for (uint64_t x = 1;; x++) {
        fp2 y;
        fp_from_u64(&out->x.c0, x);
        out->x.c1 = FP_ZERO;
        fp2_sqr(&y, &out->x);
        fp2_mul(&y, &y, &out->x);
        fp2_add(&y, &y, &b);
        if (fp2_sqrt(&out->y, &y) && !g2_affine_in_subgroup(out)) return;
    }
}

enum damage { OFF_CURVE, INFINITY_POINT, TOO_LARGE, COMPRESSED_FLAG, SIGN_FLAG, DIRTY_INFINITY, STRAY, N_DAMAGES };

static void damage_point(uint8_t *point, bool is_g2, int damage) {
    static const uint8_t modulus[48] = {0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6,
                                        0x43, 0x4b, 0xac, 0xd7, 0x64, 0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf,
                                        0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab, 0xff, 0xfe,
                                        0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab};
    size_t bytes = is_g2 ? G2_UNCOMPRESSED : G1_UNCOMPRESSED;
    g1_affine s1;
    g2_affine s2;
    switch (damage) {
    case OFF_CURVE: point[bytes - 1] ^= 1; break;
    case INFINITY_POINT: memset(point, 0, bytes), point[0] = 0x40; break;
    case TOO_LARGE: memcpy(point + bytes - 48, modulus, 48); break;
    case COMPRESSED_FLAG: point[0] |= 0x80; break;
    case SIGN_FLAG: point[0] |= 0x20; break;
    case DIRTY_INFINITY: memset(point, 0, bytes), point[0] = 0x40, point[bytes / 2] = 1; break;
    default:
        if (is_g2)
            stray_g2(&s2), g2_encode_uncompressed(point, &s2);
        else
            stray_g1(&s1), g1_encode_uncompressed(point, &s1);
    }
}

static const char *const DAMAGE_TEXT[N_DAMAGES] = {[OFF_CURVE] = "curve", [INFINITY_POINT] = "is the point at infinity",
                                                   [TOO_LARGE] = "",      [COMPRESSED_FLAG] = "",
                                                   [SIGN_FLAG] = "",      [DIRTY_INFINITY] = "infinity",
                                                   [STRAY] = ""};

static void test_bad_points_in_queries(void **state) {
    (void)state;
    uint8_t *b = malloc(good.len);
    assert_non_null(b);
    for (int s = 0; s < KEY_SECTIONS; s++) {
        size_t bytes = key_point_bytes((key_section)s);
        const uint32_t places[] = {0, good.n[s] / 2, good.n[s] - 1};
        for (int i = 0; i < 3; i++)
            for (int d = 0; d < N_DAMAGES; d++) {
                char place[96];
                size_t at = good.count_at[s] + 4 + places[i] * bytes;
                memcpy(b, good.bytes, good.len);
                damage_point(b + at, s == KEY_B_G2, d);
                write_bad(b, good.len);
                snprintf(place, sizeof place, "section \"%s\": point %u of %u at byte %zu ",
                         key_section_name((key_section)s), places[i], good.n[s], at);
                if (d == STRAY) { // only the full check looks at subgroups
                    groth16_pk *pk;
                    assert_int_equal(groth16_pk_load(&pk, bad_path, KEY_CHECK_CURVE, 0, 0, 0), CUZK_OK);
                    groth16_pk_destroy(&pk);
                }
                refuse(d == STRAY ? KEY_CHECK_FULL : KEY_CHECK_CURVE, CUZK_ERR_FORMAT, place, DAMAGE_TEXT[d]);
            }
    }
    // Of several bad points the first is named, and that by any number of threads.
    memcpy(b, good.bytes, good.len);
    damage_point(b + good.count_at[KEY_L] + 4 + 96 * 7, false, OFF_CURVE);
    damage_point(b + good.count_at[KEY_L] + 4 + 96 * 3, false, INFINITY_POINT);
    for (int s = KEY_A; s < KEY_SECTIONS; s++) damage_point(b + good.count_at[s] + 4, s == KEY_B_G2, OFF_CURVE);
    write_bad(b, good.len);
    for (unsigned threads = 1; threads <= 5; threads++)
        for (int round = 0; round < 20; round++) {
            pool *p;
            groth16_pk *pk;
            cuzk_error err;
            assert_int_equal(pool_create(&p, threads, 0), CUZK_OK);
            assert_int_equal(groth16_pk_load(&pk, bad_path, KEY_CHECK_CURVE, p, 0, &err), CUZK_ERR_FORMAT);
            assert_non_null(strstr(err.text, "\"l\": point 3 "));
            assert_non_null(strstr(err.text, "infinity"));
            pool_destroy(&p);
        }
    free(b);
}

static void test_bad_points_in_the_verifying_key(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t at;
        bool is_g2;
    } points[] = {{"alpha_g1 at byte 0", 0, false},
                  {"beta_g1 at byte 96", 96, false},
                  {"beta_g2 at byte 192", 192, true},
                  {"gamma_g2 at byte 384", 384, true},
                  {"delta_g1 at byte 576", 576, false},
                  {"delta_g2 at byte 672", 672, true},
                  {"\"ic\": point 2 of 4 at byte 1060", 868 + 2 * 96, false}};
    uint8_t *b = malloc(good.len);
    assert_non_null(b);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        for (int d = 0; d < N_DAMAGES; d++) {
            memcpy(b, good.bytes, good.len);
            damage_point(b + points[i].at, points[i].is_g2, d);
            write_bad(b, good.len);
            // A verifying key is checked in full always, in a .params file and alone.
            refuse(KEY_CHECK_CURVE, CUZK_ERR_FORMAT, points[i].name, DAMAGE_TEXT[d]);
            write_bad(b, VK_BYTES);
            groth16_vk *vk;
            cuzk_error err;
            assert_int_equal(groth16_vk_load(&vk, bad_path, &err), CUZK_ERR_FORMAT);
            assert_non_null(strstr(err.text, points[i].name));
            assert_null(vk);
        }
    // The head of the good file alone is a good verifying key; a byte more or less is not.
    groth16_vk *vk;
    cuzk_error err;
    write_bad(good.bytes, VK_BYTES);
    assert_int_equal(groth16_vk_load(&vk, bad_path, &err), CUZK_OK);
    groth16_vk_destroy(&vk);
    write_bad(good.bytes, VK_BYTES + 1);
    assert_int_equal(groth16_vk_load(&vk, bad_path, &err), CUZK_ERR_FORMAT);
    write_bad(good.bytes, VK_BYTES - 1);
    assert_int_equal(groth16_vk_load(&vk, bad_path, &err), CUZK_ERR_FORMAT);
    write_bad(good.bytes, 0);
    assert_int_equal(groth16_vk_load(&vk, bad_path, &err), CUZK_ERR_FORMAT);
    free(b);
}

static void test_no_file(void **state) {
    (void)state;
    groth16_pk *pk;
    groth16_vk *vk;
    cuzk_error err;
    unlink(bad_path);
    refuse(KEY_CHECK_CURVE, CUZK_ERR_IO, "", "");
    assert_int_equal(groth16_pk_load(&pk, dir, KEY_CHECK_CURVE, 0, 0, &err), CUZK_ERR_IO);
    assert_non_null(strstr(err.text, dir));
    assert_int_equal(groth16_vk_load(&vk, dir, &err), CUZK_ERR_IO);
    assert_int_equal(groth16_vk_load(&vk, bad_path, &err), CUZK_ERR_IO);
    groth16_pk *key = make_key(&TOY);
    assert_int_not_equal(groth16_pk_save(key, "/nonexistent/key", 0, 0, &err), CUZK_OK);
    assert_int_not_equal(groth16_vk_save(&key->vk, "/nonexistent/key", &err), CUZK_OK);
    groth16_pk_destroy(&key);
}

// The file loses its tail after it was opened.
static void shrink(void *ctx, const char *stage) {
    (void)stage;
    assert_int_equal(truncate(bad_path, *(const off_t *)ctx), 0);
}
static void test_file_shrinks_under_us(void **state) {
    (void)state;
    const off_t sizes[] = {0, 500, VK_BYTES, (off_t)good.len / 2, (off_t)good.len - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        off_t size = sizes[i];
        const observer o = {.stage_begin = shrink, .ctx = &size};
        groth16_pk *pk;
        cuzk_error err;
        write_bad(good.bytes, good.len);
        assert_int_equal(groth16_pk_load(&pk, bad_path, KEY_CHECK_FULL, 0, &o, &err), CUZK_ERR_IO);
        assert_non_null(strstr(err.text, bad_path));
        assert_null(pk);
    }
}

// A receipt spares the subgroup check of the very file that passed, and of no other.
static void count_checks(void *ctx, const char *stage) {
    if (strcmp(stage, "key_check") == 0) ++*(int *)ctx;
}
static int checks_of_a_load(void) {
    int checks = 0;
    const observer o = {.stage_begin = count_checks, .ctx = &checks};
    groth16_pk *pk;
    assert_int_equal(groth16_pk_load(&pk, bad_path, KEY_CHECK_ONCE, 0, &o, 0), CUZK_OK);
    groth16_pk_destroy(&pk);
    return checks;
}
static void test_receipts(void **state) {
    (void)state;
    char receipt[80];
    snprintf(receipt, sizeof receipt, "%s.checked", bad_path);
    unlink(receipt);
    write_bad(good.bytes, good.len);
    assert_int_equal(checks_of_a_load(), 1);
    assert_int_equal(checks_of_a_load(), 1); // changed a moment ago: no receipt yet
    assert_int_not_equal(access(receipt, F_OK), 0);
    sleep(4); // more than the resolution of a file's times
    assert_int_equal(checks_of_a_load(), 1);
    assert_int_equal(checks_of_a_load(), 0);
    assert_int_equal(chmod(bad_path, 0640), 0); // as any change of the inode, a time set back included
    assert_int_equal(checks_of_a_load(), 1);

    // The receipt of another file, or a damaged one, holds for nothing.
    uint8_t *line;
    size_t len;
    sleep(4);
    assert_int_equal(checks_of_a_load(), 1);
    assert_int_equal(file_read_all(&line, &len, receipt, 1000, 0), CUZK_OK);
    for (size_t i = 0; i < len; i++) {
        line[i] ^= 1;
        assert_int_equal(file_write_all(receipt, line, len, 0), CUZK_OK);
        line[i] ^= 1;
        groth16_pk *pk;
        int checks = 0;
        const observer o = {.stage_begin = count_checks, .ctx = &checks};
        assert_int_equal(groth16_pk_load(&pk, bad_path, KEY_CHECK_ONCE, 0, &o, 0), CUZK_OK);
        groth16_pk_destroy(&pk);
        assert_int_equal(checks, 1);
    }
    mem_free(line);
    // A key that does not pass gets none.
    uint8_t *stray = mem_alloc(MEM_MISC, good.len, 1);
    memcpy(stray, good.bytes, good.len);
    damage_point(stray + good.count_at[KEY_L] + 4, false, STRAY);
    write_bad(stray, good.len);
    mem_free(stray);
    sleep(4);
    unlink(receipt);
    for (int i = 0; i < 2; i++) {
        groth16_pk *pk;
        assert_int_equal(groth16_pk_load(&pk, bad_path, KEY_CHECK_ONCE, 0, 0, 0), CUZK_ERR_FORMAT);
        assert_int_not_equal(access(receipt, F_OK), 0);
    }
}

// Progress comes from the calling thread, never goes back, and ends with all bytes of all points. A cancelled load stops.
typedef struct watch {
    pthread_t caller;
    unsigned reports, cancel_after;
    uint64_t done, total;
    bool good;
} watch;
static void watch_progress(void *ctx, const char *stage, uint64_t done, uint64_t total) {
    watch *w = ctx;
    w->good = w->good && pthread_equal(pthread_self(), w->caller) && strcmp(stage, "key_load") == 0 &&
              done >= w->done && done <= total && (w->reports == 0 || total == w->total);
    w->done = done, w->total = total, w->reports++;
}
static bool watch_cancelled(void *ctx) {
    watch *w = ctx;
    w->good = w->good && pthread_equal(pthread_self(), w->caller);
    return w->reports >= w->cancel_after;
}
// A key of 40 MB: the generators over and over.
static void write_long_key(void) {
    enum { LONG_H = (1 << 18) - 1, LONG_B = 40000 };
    FILE *f = fopen(bad_path, "wb");
    assert_non_null(f);
    uint8_t head[4], h[G1_UNCOMPRESSED], b_g2[G2_UNCOMPRESSED];
    g1_encode_uncompressed(h, &G1_GENERATOR);
    g2_encode_uncompressed(b_g2, &G2_GENERATOR);
    assert_int_equal(fwrite(good.bytes, 1, VK_BYTES, f), VK_BYTES);
    const uint32_t n[KEY_SECTIONS] = {LONG_H, LONG_B, N_IC, LONG_B, LONG_B};
    for (int s = 0; s < KEY_SECTIONS; s++) {
        store_be32(head, n[s]);
        assert_int_equal(fwrite(head, 1, 4, f), 4);
        const size_t bytes = key_point_bytes((key_section)s);
        for (uint32_t i = 0; i < n[s]; i++) assert_int_equal(fwrite(s == KEY_B_G2 ? b_g2 : h, 1, bytes, f), bytes);
    }
    assert_int_equal(fclose(f), 0);
}
static void test_progress(void **state) {
    (void)state;
    write_long_key();
    for (unsigned threads = 1; threads <= 3; threads += 2)
        for (int cancel = 0; cancel < 2; cancel++) {
            watch w = {.caller = pthread_self(), .cancel_after = cancel ? 1 : UINT_MAX, .good = true};
            const observer o = {.progress = watch_progress, .cancelled = watch_cancelled, .ctx = &w};
            pool *p;
            groth16_pk *pk;
            cuzk_error err;
            assert_int_equal(pool_create(&p, threads, 0), CUZK_OK);
            const cuzk_status got = groth16_pk_load(&pk, bad_path, KEY_CHECK_CURVE, p, &o, &err);
            assert_true(w.good);
            // The others may be done before the caller gets to report, and to hear that nobody wants the key.
            if (threads == 1) assert_int_equal(got, cancel ? CUZK_ERR_CANCELLED : CUZK_OK);
            if (threads == 1) assert_true(cancel ? w.reports == 1 && w.done < w.total : w.reports > 2);
            if (got == CUZK_OK)
                assert_int_equal(w.done, w.total);
            else
                assert_int_equal(got, CUZK_ERR_CANCELLED);
            assert_int_equal(pk != 0, got == CUZK_OK);
            groth16_pk_destroy(&pk);
            pool_destroy(&p);
        }
}

static bool always(void *ctx) { return ctx == 0; }
static void test_cancelling(void **state) {
    (void)state;
    const observer o = {.cancelled = always};
    groth16_pk *pk;
    cuzk_error err;
    assert_int_equal(groth16_pk_load(&pk, good_path, KEY_CHECK_FULL, 0, &o, &err), CUZK_ERR_CANCELLED);
    assert_null(pk);
    // A cancelled save leaves what was there.
    pk = make_key(&TOY);
    write_bad((const uint8_t *)"old", 3);
    assert_int_equal(groth16_pk_save(pk, bad_path, 0, &o, &err), CUZK_ERR_CANCELLED);
    groth16_pk_destroy(&pk);
    uint8_t *old;
    size_t len;
    assert_int_equal(file_read_all(&old, &len, bad_path, 100, 0), CUZK_OK);
    assert_int_equal(len, 3);
    mem_free(old);
}

// ---- the batch test of subgroups, on sections too long to go one by one

enum { MANY = 8300 }; // just above the length where classes begin

static void test_subgroup_classes_g1(void **state) {
    (void)state;
    test_rng rng = test_rng_new("subgroup classes in G1");
    pool *p;
    cuzk_error err;
    assert_int_equal(pool_create(&p, 2, 0), CUZK_OK);
    g1_jac *sums = malloc(MANY * sizeof *sums);
    g1_affine *points = malloc(MANY * sizeof *points), stray;
    assert_true(sums != 0 && points != 0);
    g1_jac_from_affine(&sums[0], &G1_GENERATOR);
    for (size_t i = 1; i < MANY; i++) g1_jac_add_affine(&sums[i], &sums[i - 1], &G1_GENERATOR);
    g1_jac_to_affine_batch(points, sums, MANY);
    assert_int_equal(key_check_subgroup_g1(points, MANY, "file", "h", 1000, p, &err), CUZK_OK);

    stray_g1(&stray);
    for (int round = 0; round < 2; round++) {
        size_t i = test_below(&rng, MANY);
        const g1_affine kept = points[i];
        char place[64];
        points[i] = stray;
        snprintf(place, sizeof place, "file: section \"h\": point %zu of %d at byte %zu ", i, MANY, 1000 + i * 96);
        assert_int_equal(key_check_subgroup_g1(points, MANY, "file", "h", 1000, p, &err), CUZK_ERR_FORMAT);
        assert_non_null(strstr(err.text, place));
        points[i] = kept;
    }
    // Two that cancel: P + T and Q - T. They pass with probability 2^-24.
    g1_affine minus;
    g1_affine_neg(&minus, &stray);
    g1_jac_add_affine(&sums[17], &sums[17], &stray);
    g1_jac_add_affine(&sums[4711], &sums[4711], &minus);
    g1_jac_to_affine_batch(points, sums, MANY);
    assert_int_equal(key_check_subgroup_g1(points, MANY, "file", "h", 1000, p, &err), CUZK_ERR_FORMAT);
    assert_true(strstr(err.text, "point 17 ") != 0 || strstr(err.text, "point 4711 ") != 0);
    free(sums);
    free(points);
    pool_destroy(&p);
}

static void test_subgroup_classes_g2(void **state) {
    (void)state;
    test_rng rng = test_rng_new("subgroup classes in G2");
    cuzk_error err;
    g2_jac *sums = malloc(MANY * sizeof *sums);
    g2_affine *points = malloc(MANY * sizeof *points), stray;
    assert_true(sums != 0 && points != 0);
    g2_jac_from_affine(&sums[0], &G2_GENERATOR);
    for (size_t i = 1; i < MANY; i++) g2_jac_add_affine(&sums[i], &sums[i - 1], &G2_GENERATOR);
    g2_jac_to_affine_batch(points, sums, MANY);
    assert_int_equal(key_check_subgroup_g2(points, MANY, "file", "b_g2", 1000, 0, &err), CUZK_OK);
    stray_g2(&stray);
    size_t i = test_below(&rng, MANY);
    char place[64];
    points[i] = stray;
    snprintf(place, sizeof place, "file: section \"b_g2\": point %zu of %d at byte %zu ", i, MANY, 1000 + i * 192);
    assert_int_equal(key_check_subgroup_g2(points, MANY, "file", "b_g2", 1000, 0, &err), CUZK_ERR_FORMAT);
    assert_non_null(strstr(err.text, place));
    free(sums);
    free(points);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_counts_that_no_key_has),
        cmocka_unit_test(test_bad_points_in_queries),
        cmocka_unit_test(test_bad_points_in_the_verifying_key),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_file_shrinks_under_us),
        cmocka_unit_test(test_receipts),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_subgroup_classes_g1),
        cmocka_unit_test(test_subgroup_classes_g2),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
