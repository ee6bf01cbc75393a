// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The PoRep circuit of 2 KiB, step by step: every thousandth constraint has the official digest, counts and name.
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "circuit/porep/circuit.h"
#include "circuit/report.h"

typedef struct expected {
    FILE *file;
    uint64_t lines;
    bool differs;
} expected;

static void compare_line(void *ctx, const char *line, size_t len) {
    expected *e = ctx;
    char want[1024];
    if (e->differs) return;
    e->lines++;
    if (fgets(want, sizeof want, e->file) == NULL) strcpy(want, "(end of file)\n");
    if (strlen(want) != len || memcmp(want, line, len) != 0) {
        e->differs = true;
        print_error("line %llu\n  expected %s  found    %s", (unsigned long long)e->lines, want, line);
    }
}

static void trace_of_2k_is_the_official_one(void **state) {
    (void)state;
    cuzk_error err;
    porep_circuit p = {0};
    assert_int_equal(porep_shape_by_size(&p.shape, 2048, POREP_API_1_1, POREP_INTERACTIVE, &err), CUZK_OK);
    expected e = {.file = fopen("vectors/trace/porep-2k.txt", "r")};
    assert_non_null(e.file);
    const circuit c = porep_circuit_bind(&p);
    const circuit_trace trace = {1000, compare_line, &e};
    circuit_digest_report r;
    assert_int_equal(circuit_digest(&r, &c, &trace, NULL, &err), CUZK_OK);
    char rest[16];
    assert_false(e.differs);
    assert_null(fgets(rest, sizeof rest, e.file));
    assert_int_equal(e.lines, r.constraints / 1000);
    fclose(e.file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trace_of_2k_is_the_official_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
