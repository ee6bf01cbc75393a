// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A·w, B·w and C·w of a whole partition for a random witness, beside what memory can do in the same run:
// "evaluate_bench [SECTOR [THREADS...]]" (32GiB 1 2). Three vectors of 130 million values are 12.5 GB, so rows are
// worked through in windows of about 2^22, each into the same 400 MB, which no cache holds either. The witness is not
// in windows: it lies in memory as a proof has it.
//
// Rows: "evaluate" is the whole partition, "bytes" what it writes and the witness it reads; its limit is the bandwidth
// of "memory_fill", as nearly all of it is writing. "evaluate_check" computes the same values and stores none: what is
// left is the processor's part.
#include <string.h>

#include "api/pce.h"
#include "base/mem.h"
#include "bench.h"
#include "circuit/porep/circuit.h"
#include "machine.h"
#include "r1cs/evaluate.h"
#include "r1cs/program_format.h"

enum { WINDOW_ROWS = 1 << 22, RUNS = 3, VECTORS = 3 };

typedef struct state {
    const program *whole;
    packed_witness *w;
    program *windows; // slices of the whole program's instances; everything else is shared
    size_t n_windows;
    fr *abc; // NULL: check only
    uint64_t most_rows;
    pool *p;
} state;

static void must(cuzk_status s, const cuzk_error *err) {
    if (s == CUZK_OK) return;
    fprintf(stderr, "evaluate_bench: %s\n", err->text);
    exit(1);
}
static void *must_have(void *p) {
    if (p != NULL) return p;
    fprintf(stderr, "evaluate_bench: no memory\n");
    exit(1);
}

static void random_fr(fr *out, uint64_t *seed) {
    uint8_t wide[64];
    for (size_t i = 0; i < 64; i += 8) {
        const uint64_t v = bench_random(seed);
        memcpy(wide + i, &v, 8);
    }
    fr_from_le_bytes_wide(out, wide);
}

// Random bits and field elements where the program has wires of these kinds. They satisfy nothing, and cost the same.
static packed_witness *random_witness(const program *p) {
    const program_instance *end = &p->instances[p->n_instances];
    packed_witness *w = must_have(mem_calloc(MEM_WITNESS, 1, sizeof *w));
    w->n_inputs = end->input, w->n_aux = end->aux, w->n_fields = end->field;
    const uint64_t words = packed_words(w);
    uint64_t seed = 1;
    w->inputs = must_have(mem_alloc(MEM_WITNESS, w->n_inputs, sizeof(fr)));
    w->fields = must_have(mem_alloc(MEM_WITNESS, (size_t)w->n_fields + 1, sizeof(fr)));
    w->bits = must_have(mem_calloc(MEM_WITNESS, words + 1, 8));
    w->field_mask = must_have(mem_calloc(MEM_WITNESS, words + 1, 8));
    w->ranks = must_have(mem_calloc(MEM_WITNESS, words / PACKED_RANK_WORDS + 1, 4));
    for (uint32_t i = 0; i < p->n_instances; i++) {
        const program_template *t = &p->templates[p->instances[i].template];
        for (uint32_t k = 0; k < t->n_field_locals; k++) {
            const uint32_t at = p->instances[i].aux + t->field_locals[k];
            w->field_mask[at >> 6] |= UINT64_C(1) << (at & 63);
        }
    }
    uint32_t rank = 0;
    for (uint64_t i = 0; i < words; i++) {
        if (i % PACKED_RANK_WORDS == 0) w->ranks[i / PACKED_RANK_WORDS] = rank;
        rank += (uint32_t)__builtin_popcountll(w->field_mask[i]);
        w->bits[i] = bench_random(&seed) & ~w->field_mask[i];
    }
    w->bits[words - 1] &= ~UINT64_C(0) >> (64 * words - w->n_aux);
    for (uint32_t i = 0; i < w->n_inputs; i++) random_fr(&w->inputs[i], &seed);
    for (uint32_t i = 0; i < w->n_fields; i++) random_fr(&w->fields[i], &seed);
    return w;
}

// Each window is a program with some of the instances, its rows counted from 0 and the whole's numbers of wires.
static void cut(state *s) {
    const program *p = s->whole;
    const program_instance *end = &p->instances[p->n_instances];
    s->windows = must_have(mem_calloc(MEM_MISC, end->row / WINDOW_ROWS + 2, sizeof *s->windows));
    for (uint32_t from = 0; from < p->n_instances;) {
        uint32_t to = from;
        while (to < p->n_instances && p->instances[to].row - p->instances[from].row < WINDOW_ROWS) to++;
        program *window = &s->windows[s->n_windows++];
        *window = *p;
        window->n_instances = to - from;
        window->instances = must_have(mem_alloc(MEM_MISC, (size_t)(to - from) + 1, sizeof(program_instance)));
        memcpy(window->instances, p->instances + from, ((size_t)(to - from) + 1) * sizeof(program_instance));
        const uint64_t first = p->instances[from].row;
        for (uint32_t i = 0; i <= to - from; i++) window->instances[i].row -= first;
        program_instance *last = &window->instances[to - from];
        last->input = end->input, last->aux = end->aux, last->field = end->field;
        if (last->row > s->most_rows) s->most_rows = last->row;
        from = to;
    }
}

static void run(void *ctx, size_t iterations) {
    state *s = ctx;
    cuzk_error err;
    uint64_t failed;
    fr *a = s->abc, *b = a == NULL ? NULL : a + s->most_rows, *c = a == NULL ? NULL : b + s->most_rows;
    for (size_t i = 0; i < iterations; i++)
        for (size_t k = 0; k < s->n_windows; k++)
            must(program_evaluate(a, b, c, &failed, &s->windows[k], s->w, s->p, &err), &err);
}

static void bench_threads(state *s, unsigned threads, fr *abc) {
    cuzk_error err;
    const uint64_t rows = s->whole->instances[s->whole->n_instances].row;
    const bench_effort effort = {.runs = RUNS, .iterations = 1, .budget_ns = 4e9};
    must(pool_create(&s->p, threads, &err), &err);
    const double fill = bench_bandwidth_measure(s->p).fill;
    const double reads = (double)packed_bytes(s->w);
    bench_row row = {.name = "evaluate",
                     .n = rows,
                     .threads = threads,
                     .bytes = (double)(VECTORS * sizeof(fr)) * (double)rows + reads,
                     .bytes_per_ns = fill};
    s->abc = abc;
    bench_run(&row, &effort, run, s);
    row = (bench_row){.name = "evaluate_check", .n = rows, .threads = threads, .bytes = reads};
    s->abc = NULL;
    bench_run(&row, &effort, run, s);
    pool_destroy(&s->p);
}

int main(int argc, char **argv) {
    pce_circuit which;
    cuzk_error err;
    program *p = NULL;
    must(pce_by_name(&which, "porep", argc > 1 ? argv[1] : "32GiB", &err), &err);
    must(pce_build(&p, &which, NULL, &err), &err);
    state s = {.whole = p, .w = random_witness(p)};
    cut(&s);
    fr *abc = must_have(mem_calloc(MEM_EVALUATION, VECTORS * s.most_rows, sizeof(fr)));
    for (int i = 2; i < (argc > 2 ? argc : 4); i++)
        bench_threads(&s, argc > 2 ? (unsigned)atoi(argv[i]) : (unsigned)i - 1, abc);
    mem_free(abc);
    for (size_t i = 0; i < s.n_windows; i++) mem_free(s.windows[i].instances);
    mem_free(s.windows);
    packed_destroy(&s.w);
    program_destroy(&p);
    return 0;
}
