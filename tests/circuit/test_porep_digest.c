// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The PoRep circuit of every sector size has the official digest, counts and densities. Without arguments: all sizes up
// to 1 GiB; with "32GiB": that one.
#include "testing.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "circuit/porep/circuit.h"
#include "circuit/report.h"

static bool only_32g;

static uint64_t number(const json_t *row, const char *key) {
    const json_t *v = json_object_get(row, key);
    assert_true(json_is_integer(v));
    return (uint64_t)json_integer_value(v);
}

static void check_report(const circuit_digest_report *r, const json_t *row) {
    char hex[65];
    hex_encode(hex, r->sha256, 32);
    assert_int_equal(r->inputs, number(row, "inputs"));
    assert_int_equal(r->aux, number(row, "aux"));
    assert_int_equal(r->constraints, number(row, "constraints"));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(r->nnz[i], json_integer_value(json_array_get(json_object_get(row, "nnz"), i)));
    }
    assert_int_equal(r->dense_a_aux, number(row, "dense_a_aux"));
    assert_int_equal(r->dense_b_inputs, number(row, "dense_b_inputs"));
    assert_int_equal(r->dense_b_aux, number(row, "dense_b_aux"));
    assert_string_equal(hex, json_string_value(json_object_get(row, "sha256")));
}

static void check_row(const json_t *row) {
    const uint64_t size = number(row, "sector_size");
    cuzk_error err;
    porep_circuit p = {0};
    assert_int_equal(porep_shape_by_size(&p.shape, size, POREP_API_1_1, POREP_INTERACTIVE, &err), CUZK_OK);
    const circuit c = porep_circuit_bind(&p);
    circuit_digest_report r;
    const uint64_t start = clock_now_ns();
    assert_int_equal(circuit_digest(&r, &c, NULL, NULL, &err), CUZK_OK);
    print_message("%" PRIu64 " bytes: %" PRIu64 " constraints, %.2f s\n", size, r.constraints,
                  (double)(clock_now_ns() - start) * 1e-9);
    check_report(&r, row);
}

// The program of the circuit: built, counted, and expanded again into the same stream.
static void check_program(const json_t *row) {
    const uint64_t size = number(row, "sector_size");
    cuzk_error err;
    porep_circuit shape = {0};
    assert_int_equal(porep_shape_by_size(&shape.shape, size, POREP_API_1_1, POREP_INTERACTIVE, &err), CUZK_OK);
    const circuit c = porep_circuit_bind(&shape);
    program *p = NULL;
    const uint64_t start = clock_now_ns();
    assert_int_equal(circuit_program(&p, &c, NULL, &err), CUZK_OK);
    const uint64_t built = clock_now_ns();
    program_counts n;
    program_count(&n, p);
    print_message(
        "%" PRIu64 " bytes: a program of %.1f MiB, %u templates, %u instances, %u coefficients; built in %.3f s\n",
        size, (double)n.bytes / (1 << 20), n.templates, n.instances, n.coeffs, (double)(built - start) * 1e-9);
    assert_int_equal(n.inputs, number(row, "inputs"));
    assert_int_equal(n.aux, number(row, "aux"));
    assert_int_equal(n.rows, number(row, "constraints"));
    assert_true(n.bytes <= UINT64_C(64) << 20);
    const program_densities *d = program_density(p);
    assert_int_equal(bitmap_count(&d->a_aux), number(row, "dense_a_aux"));
    assert_int_equal(bitmap_count(&d->b_aux), number(row, "dense_b_aux"));
    assert_int_equal(bitmap_count(&d->b_inputs), number(row, "dense_b_inputs"));
    circuit_digest_report r;
    assert_int_equal(circuit_program_digest(&r, p, NULL, &err), CUZK_OK);
    program_destroy(&p);
    print_message("expanded and hashed in %.2f s\n", (double)(clock_now_ns() - built) * 1e-9);
    check_report(&r, row);
}

static void each_row(void (*check)(const json_t *row)) {
    FILE *file = fopen("vectors/r1cs.jsonl", "r");
    assert_non_null(file);
    char line[4096];
    int rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        json_t *row = json_loads(line, 0, NULL);
        assert_non_null(row);
        const bool large = number(row, "sector_size") > UINT64_C(1) << 30;
        if (strcmp(json_string_value(json_object_get(row, "kind")), "porep") == 0 && large == only_32g) {
            check(row);
            rows++;
        }
        json_decref(row);
    }
    fclose(file);
    assert_int_equal(rows, only_32g ? 1 : 8);
}

static void digests_are_the_official_ones(void **state) {
    (void)state;
    each_row(check_row);
}

static void programs_expand_to_the_official_digests(void **state) {
    (void)state;
    each_row(check_program);
}

int main(int argc, char **argv) {
    only_32g = argc > 1 && strcmp(argv[1], "32GiB") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(digests_are_the_official_ones),
                                       cmocka_unit_test(programs_expand_to_the_official_digests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
