// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One hand-made system against every sink, and each sink's own corners.
#include "testing.h"

#include "base/bytes.h"
#include "base/observer.h"
#include "r1cs/check.h"
#include "r1cs/count.h"
#include "r1cs/lc.h"
#include "r1cs/record.h"
#include "r1cs/trace.h"

static fr small(int64_t v) {
    fr f;
    fr_from_u64(&f, (uint64_t)(v < 0 ? -v : v));
    if (v < 0) fr_neg(&f, &f);
    return f;
}

// x is public, y = x^2, z = 3 y - 5: y = x x; (3 y - 5) 1 = z. `bad` is added to z.
static void square_then_line(cs *s, uint64_t x_value, uint64_t bad) {
    const fr one = FR_ONE, three = small(3), minus_five = small(-5);
    const fr x_fr = small((int64_t)x_value), y_fr = small((int64_t)(x_value * x_value)),
             z_fr = small((int64_t)(3 * x_value * x_value - 5 + bad));
    const wire x = cs_alloc_input(s, s->has_values ? &x_fr : NULL);
    cs_enter(s, "outer %u", 7);
    const wire y = cs_alloc(s, WIRE_FIELD, s->has_values ? &y_fr : NULL);
    const term tx = {x, one}, ty = {y, one};
    cs_label(s, "square", -1);
    cs_enforce(s, (lc_view){&tx, 1}, (lc_view){&tx, 1}, (lc_view){&ty, 1});
    cs_enter(s, "inner", -1);
    const wire z = cs_alloc(s, WIRE_FIELD, s->has_values ? &z_fr : NULL);
    const term line[2] = {{WIRE_ONE, minus_five}, {y, three}}, t1 = {WIRE_ONE, one}, tz = {z, one};
    cs_label(s, "line %u", 3);
    cs_enforce(s, (lc_view){line, 2}, (lc_view){&t1, 1}, (lc_view){&tz, 1});
    cs_leave(s);
    cs_leave(s);
}

// The canonical stream written out by hand.
typedef struct stream {
    uint8_t *bytes;
    size_t len, cap;
} stream;

static void put(stream *s, const void *data, size_t len) {
    if (s->len + len > s->cap) {
        s->cap = (s->len + len) * 2;
        s->bytes = realloc(s->bytes, s->cap);
        assert_non_null(s->bytes);
    }
    memcpy(s->bytes + s->len, data, len);
    s->len += len;
}

static void put_lc(stream *s, lc_view v) {
    uint8_t head[5];
    store_le32(head, v.n);
    put(s, head, 4);
    for (uint32_t i = 0; i < v.n; i++) {
        uint8_t coeff[32];
        head[0] = wire_is_aux(v.terms[i].wire) ? 1 : 0;
        store_le32(head + 1, wire_index(v.terms[i].wire));
        fr_to_le_bytes(coeff, &v.terms[i].coeff);
        put(s, head, 5);
        put(s, coeff, 32);
    }
}

static void the_stream_is_the_canonical_one(void **state) {
    (void)state;
    const fr minus_five = small(-5), three = small(3);
    const term x = {1, FR_ONE}, y = {WIRE_AUX, FR_ONE}, z = {WIRE_AUX | 1, FR_ONE}, one = {WIRE_ONE, FR_ONE};
    const term line[2] = {{WIRE_ONE, minus_five}, {WIRE_AUX, three}};
    stream want = {0};
    put_lc(&want, (lc_view){&x, 1});
    put_lc(&want, (lc_view){&x, 1});
    put_lc(&want, (lc_view){&y, 1});
    put_lc(&want, (lc_view){line, 2});
    put_lc(&want, (lc_view){&one, 1});
    put_lc(&want, (lc_view){&z, 1});
    assert_int_equal(want.len, 6 * 4 + 7 * 37);
    uint8_t expected[32], found[32];
    sha256_digest(expected, want.bytes, want.len);
    free(want.bytes);

    digest_sink d;
    digest_init(&d, NULL);
    square_then_line(&d.head, 0, 0);
    digest_so_far(found, &d);
    assert_memory_equal(found, expected, 32);
    assert_int_equal(d.head.n_inputs, 2);
    assert_int_equal(d.head.n_aux, 2);
    assert_int_equal(d.head.n_constraints, 2);
    assert_int_equal(d.nnz[0], 3);
    assert_int_equal(d.nnz[1], 2);
    assert_int_equal(d.nnz[2], 2);
    assert_int_equal(bitmap_count(&d.a_aux), 1);
    assert_int_equal(bitmap_count(&d.b_aux), 0);
    assert_int_equal(bitmap_count(&d.b_inputs), 2);
    assert_true(bitmap_get(&d.a_aux, 0));
    assert_false(bitmap_get(&d.a_aux, 1));
    digest_destroy(&d);
}

// Rows longer than the buffer, and more coefficients than the cache holds, many of them more than once.
static void long_rows_and_many_coefficients(void **state) {
    (void)state;
    enum { WIRES = 20000 };
    test_rng r = test_rng_new("sinks");
    digest_sink d;
    record_sink rec;
    digest_init(&d, NULL);
    record_init(&rec);
    for (uint32_t i = 0; i < WIRES; i++) {
        cs_alloc(&d.head, i % 3 == 0 ? WIRE_BIT : WIRE_FIELD, NULL);
        cs_alloc(&rec.head, i % 3 == 0 ? WIRE_BIT : WIRE_FIELD, NULL);
    }
    stream want = {0};
    lc rows[3] = {{0}, {0}, {0}};
    for (int k = 0; k < 12; k++) {
        lc_view v[3];
        for (int m = 0; m < 3; m++) {
            const uint32_t n = (uint32_t)test_below(&r, k % 4 == 0 ? 12000 : 4);
            lc_clear(&rows[m]);
            for (uint32_t i = 0; i < n; i++) {
                const fr c = small((int64_t)test_below(&r, 30000) - 15000);
                assert_true(lc_add(&rows[m], WIRE_AUX | (wire)test_below(&r, WIRES), &c));
            }
            v[m] = lc_finish(&rows[m]);
            put_lc(&want, v[m]);
        }
        cs_enforce(&d.head, v[0], v[1], v[2]);
        cs_enforce(&rec.head, v[0], v[1], v[2]);
    }
    uint8_t expected[32], found[32];
    sha256_digest(expected, want.bytes, want.len);
    digest_so_far(found, &d);
    assert_memory_equal(found, expected, 32);

    // What was recorded is the same system.
    assert_int_equal(rec.head.status, CUZK_OK);
    assert_true(fr_is_one(&rec.coeffs[0]));
    assert_int_equal(rec.kinds[0], WIRE_BIT);
    assert_int_equal(rec.kinds[1], WIRE_FIELD);
    digest_sink again;
    digest_init(&again, NULL);
    record_replay(&rec, &again.head);
    digest_so_far(found, &again);
    assert_memory_equal(found, expected, 32);
    assert_int_equal(again.head.n_aux, WIRES);

    for (int m = 0; m < 3; m++) lc_free(&rows[m]);
    free(want.bytes);
    digest_destroy(&again);
    digest_destroy(&d);
    record_destroy(&rec);
}

static void counts(void **state) {
    (void)state;
    count_sink s;
    count_init(&s);
    square_then_line(&s.head, 0, 0);
    cs_alloc(&s.head, WIRE_BIT, NULL);
    assert_int_equal(s.nnz[0], 3);
    assert_int_equal(s.n_bits, 1);
    assert_int_equal(s.head.n_constraints, 2);
}

typedef struct lines {
    char text[1024];
} lines;

static void append(void *ctx, const char *line, size_t len) {
    lines *l = ctx;
    assert_int_equal(strlen(line), len);
    strcat(l->text, line);
}

static void traces_name_where_they_are(void **state) {
    (void)state;
    lines l = {{0}};
    trace_sink t;
    trace_init(&t, 1, append, &l, NULL);
    square_then_line(&t.digest.head, 0, 0);
    uint8_t hash[32];
    char hex[65], want[64];
    digest_so_far(hash, &t.digest);
    hex_encode(hex, hash, 32);
    assert_non_null(strstr(l.text, "1 2 1 "));
    assert_non_null(strstr(l.text, " outer 7/square\n"));
    snprintf(want, sizeof want, "2 2 2 %.16s outer 7/inner/line 3\n", hex);
    assert_non_null(strstr(l.text, want));
    trace_destroy(&t);
}

static void check_accepts_and_names(void **state) {
    (void)state;
    check_sink s;
    check_init(&s, NULL);
    square_then_line(&s.head, 11, 0);
    assert_int_equal(s.unsatisfied, 0);
    check_summary sum;
    check_summarise(&sum, &s);
    uint8_t bytes[64] = {0}, want[32];
    bytes[0] = 121;
    bytes[32] = 0x66, bytes[33] = 1; // 3 * 121 - 5 = 358
    sha256_digest(want, bytes, 64);
    assert_memory_equal(sum.aux_sha256, want, 32);
    memset(bytes, 0, 64);
    bytes[0] = 1;
    bytes[32] = 11;
    sha256_digest(want, bytes, 64);
    assert_memory_equal(sum.inputs_sha256, want, 32);
    assert_int_equal(sum.aux_zero + sum.aux_one, 0);
    check_destroy(&s);

    check_init(&s, NULL);
    square_then_line(&s.head, 11, 1);
    assert_int_equal(s.unsatisfied, 1);
    assert_int_equal(s.first_unsatisfied, 1);
    assert_string_equal(s.first_scope, "outer 7/inner/line 3");
    check_destroy(&s);

    for (uint64_t flip = 0; flip < 2; flip++) {
        check_init(&s, NULL);
        s.flip_aux = flip;
        square_then_line(&s.head, 11, 0);
        assert_true(s.unsatisfied > 0);
        check_destroy(&s);
    }
}

static void the_first_failure_sticks(void **state) {
    (void)state;
    count_sink s;
    count_init(&s);
    cs_fail(&s.head, CUZK_ERR_CANCELLED, "stopped at %d", 5);
    cs_fail(&s.head, CUZK_ERR_MEMORY, "later");
    square_then_line(&s.head, 0, 0);
    assert_int_equal(s.head.status, CUZK_ERR_CANCELLED);
    assert_string_equal(s.head.error.text, "stopped at 5");
    assert_int_equal(s.head.n_constraints, 0);
    assert_int_equal(s.head.n_aux, 0);
    assert_int_equal(s.nnz[0], 0);
}

static bool yes(void *ctx) {
    ++*(int *)ctx;
    return true;
}

static void cancelling(void **state) {
    (void)state;
    int asked = 0;
    const observer obs = {.cancelled = yes, .ctx = &asked};
    digest_sink d;
    check_sink c;
    digest_init(&d, &obs);
    check_init(&c, &obs);
    const lc_view empty = {NULL, 0};
    for (uint32_t i = 0; i < 1u << 21; i++) {
        cs_enforce(&d.head, empty, empty, empty);
        cs_enforce(&c.head, empty, empty, empty);
    }
    assert_int_equal(asked, 2);
    assert_int_equal(d.head.status, CUZK_ERR_CANCELLED);
    assert_int_equal(c.head.status, CUZK_ERR_CANCELLED);
    digest_destroy(&d);
    check_destroy(&c);
}

static void scopes(void **state) {
    (void)state;
    scope_stack s = {0};
    char text[64];
    assert_int_equal(scope_format(text, sizeof text, &s), 1);
    assert_string_equal(text, "/");
    scope_label(&s, "%u at both ends of a %% %u", 4);
    scope_format(text, sizeof text, &s);
    assert_string_equal(text, "/4 at both ends of a %% %u");
    for (int i = 0; i < SCOPE_MAX_DEPTH + 5; i++) scope_enter(&s, "s%u", 123456789);
    assert_int_equal(scope_format(text, 10, &s), 9); // cut, with its NUL
    assert_string_equal(text, "s12345678");
    for (int i = 0; i < SCOPE_MAX_DEPTH + 9; i++) scope_leave(&s);
    assert_int_equal(s.depth, 0);
    assert_int_equal(scope_format(text, 0, &s), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stream_is_the_canonical_one),
        cmocka_unit_test(long_rows_and_many_coefficients),
        cmocka_unit_test(counts),
        cmocka_unit_test(traces_name_where_they_are),
        cmocka_unit_test(check_accepts_and_names),
        cmocka_unit_test(the_first_failure_sticks),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(scopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
