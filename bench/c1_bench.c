// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reading a C1 file of a 32 GiB sector, bare and in an envelope. "n" is the number of bytes read, "ns" the time of one
// whole parse. The argument is the name of a registered proof.
#include "bench.h"

#include <string.h>

#include "vanilla/c1.h"
#include "vanilla/c1_build.h"
#include "vanilla/c1_names.h"

typedef struct text {
    char *at;
    size_t len;
} text;

static void run_parse(void *ctx, size_t iterations) {
    const text *t = ctx;
    for (size_t i = 0; i < iterations; i++) {
        c1_file *f = 0;
        cuzk_error err = {0};
        if (c1_parse(&f, (const uint8_t *)t->at, t->len, &err) != CUZK_OK) {
            fprintf(stderr, "%s\n", err.text);
            exit(1);
        }
        c1_destroy(&f);
    }
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "StackedDrg32GiBV1_1";
    porep_shape shape;
    if (c1_shape_by_name(&shape, name, strlen(name), 0) != CUZK_OK) return 2;
    text bare, wrapped;
    bare.at = c1_build(&bare.len, &shape, false, 0);
    wrapped.at = c1_wrap(&wrapped.len, bare.at, bare.len, 7, shape.sector_size);
    const bench_effort effort = {.runs = 7, .iterations = 1};
    bench_run(&(bench_row){.name = "c1_parse", .n = bare.len, .threads = 1}, &effort, run_parse, &bare);
    bench_run(&(bench_row){.name = "c1_parse_envelope", .n = wrapped.len, .threads = 1}, &effort, run_parse, &wrapped);
    free(bare.at), free(wrapped.at);
    return 0;
}
