// SPDX-License-Identifier: MIT OR Apache-2.0
#include "groth16/packed.h"

#include "base/mem.h"
#include "circuit/report.h"
#include "groth16/internal.h"
#include "r1cs/evaluate.h"
#include "r1cs/locate.h"

cuzk_status groth16_synthesize_packed(groth16_assignment **out, const circuit *c, const groth16_program *p,
                                      const observer *o, cuzk_error *err) {
    *out = 0;
    groth16_assignment *w = mem_calloc(MEM_WITNESS, 1, sizeof *w);
    if (w == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a witness");
    program_counts n;
    program_count(&n, p->rows);
    w->by = *p;
    w->rows = n.rows + n.inputs; // the constraints, then the prover's own row an input
    cuzk_status s = circuit_pack(&w->packed, c, &n, o, err);
    if (s == CUZK_OK && observe_cancelled(o)) s = cuzk_fail(err, CUZK_ERR_CANCELLED, "synthesis was cancelled");
    if (s != CUZK_OK) {
        groth16_assignment_destroy(&w);
        return s;
    }
    *out = w;
    return CUZK_OK;
}

static cuzk_status name_failure(const groth16_program *by, uint64_t row, cuzk_error *err) {
    locate_sink s;
    locate_init(&s, row);
    if (by->shape.synthesize != 0) by->shape.synthesize(by->shape.self, &s.head);
    return cuzk_fail(err, CUZK_ERR_INPUT, "constraint %llu is not satisfied%s%s", (unsigned long long)row,
                     s.found ? ": " : "", s.found ? s.text : "");
}

static bool make_room(fr_vec *v, uint64_t rows, uint64_t domain) {
    fr_vec_wipe(v, 0);
    *v = (fr_vec){mem_alloc(MEM_EVALUATION, domain, sizeof(fr)), rows, domain};
    if (v->at == 0) *v = (fr_vec){0};
    return v->at != 0;
}

static cuzk_status evaluate(groth16_assignment *w, pool *p, cuzk_error *err) {
    const packed_witness *packed = w->packed;
    uint64_t domain = 1, failed;
    while (domain < w->rows) domain *= 2;
    if (!make_room(&w->a, w->rows, domain) || !make_room(&w->b, w->rows, domain) || !make_room(&w->c, w->rows, domain))
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %llu evaluations", (unsigned long long)(3 * domain));
    cuzk_status s = program_evaluate(w->a.at, w->b.at, w->c.at, &failed, w->by.rows, packed, p, err);
    if (s == CUZK_OK && failed != UINT64_MAX) s = name_failure(&w->by, failed, err);
    // The rows that make every input dense in A, as setup has them.
    const uint64_t first = w->rows - packed->n_inputs;
    for (uint32_t i = 0; i < packed->n_inputs; i++) {
        w->a.at[first + i] = packed->inputs[i];
        w->b.at[first + i] = w->c.at[first + i] = FR_ZERO;
    }
    return s;
}

cuzk_status packed_evaluate(groth16_assignment *w, pool *p, const observer *o, cuzk_error *err) {
    if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "proving was cancelled");
    observe_begin(o, "evaluate");
    const cuzk_status s = evaluate(w, p, err);
    observe_end(o, "evaluate");
    if (s != CUZK_OK) {
        fr_vec_wipe(&w->a, p);
        fr_vec_wipe(&w->b, p);
        fr_vec_wipe(&w->c, p);
    }
    return s;
}
