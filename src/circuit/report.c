// SPDX-License-Identifier: MIT OR Apache-2.0
#include "circuit/report.h"

#include <string.h>

#include "hash/sha256.h"
#include "r1cs/check.h"
#include "r1cs/trace.h"

static cuzk_status failed(const cs *s, cuzk_error *err) { return cuzk_fail(err, s->status, "%s", s->error.text); }

static void read_digest(circuit_digest_report *out, digest_sink *d) {
    *out = (circuit_digest_report){
        .inputs = d->head.n_inputs,
        .aux = d->head.n_aux,
        .constraints = d->head.n_constraints,
        .nnz = {d->nnz[0], d->nnz[1], d->nnz[2]},
        .dense_a_aux = bitmap_count(&d->a_aux),
        .dense_b_inputs = bitmap_count(&d->b_inputs),
        .dense_b_aux = bitmap_count(&d->b_aux),
    };
    digest_so_far(out->sha256, d);
}

cuzk_status circuit_digest(circuit_digest_report *out, const circuit *c, const circuit_trace *trace,
                           const observer *obs, cuzk_error *err) {
    const bool traced = trace != NULL && trace->every > 0 && trace->write != NULL;
    trace_sink t;
    digest_sink plain, *d = traced ? &t.digest : &plain;
    observe_begin(obs, "synthesis");
    if (traced) {
        trace_init(&t, trace->every, trace->write, trace->ctx, obs);
    } else {
        digest_init(&plain, obs);
    }
    if (d->head.status == CUZK_OK) c->synthesize(c->self, &d->head);
    const cuzk_status status = d->head.status == CUZK_OK ? CUZK_OK : failed(&d->head, err);
    if (status == CUZK_OK) read_digest(out, d);
    digest_destroy(d);
    observe_end(obs, "synthesis");
    return status;
}

cuzk_status circuit_program(program **out, const circuit *c, const observer *obs, cuzk_error *err) {
    program_builder *b = NULL;
    *out = NULL;
    cuzk_status status = program_builder_create(&b, obs, err);
    if (status != CUZK_OK) return status;
    observe_begin(obs, "pce");
    cs *s = program_builder_sink(b);
    if (s->status == CUZK_OK) c->synthesize(c->self, s);
    status = program_builder_finish(out, &b, err);
    observe_end(obs, "pce");
    return status;
}

cuzk_status circuit_program_digest(circuit_digest_report *out, const program *p, const observer *obs, cuzk_error *err) {
    digest_sink s;
    observe_begin(obs, "expand");
    digest_init(&s, obs);
    program_expand(p, &s.head);
    const cuzk_status status = s.head.status == CUZK_OK ? CUZK_OK : failed(&s.head, err);
    if (status == CUZK_OK) read_digest(out, &s);
    digest_destroy(&s);
    observe_end(obs, "expand");
    return status;
}

cuzk_status circuit_pack(packed_witness **out, const circuit *c, const program_counts *expected, const observer *obs,
                         cuzk_error *err) {
    packed_sink s;
    *out = NULL;
    observe_begin(obs, "synthesis");
    packed_sink_init(&s, expected != NULL ? expected->inputs : 0, expected != NULL ? expected->aux : 0,
                     expected != NULL ? expected->fields : 0);
    if (s.head.status == CUZK_OK) c->synthesize(c->self, &s.head);
    cuzk_status status = packed_sink_finish(out, &s, err);
    observe_end(obs, "synthesis");
    const packed_witness *w = *out;
    if (status == CUZK_OK && expected != NULL &&
        (w->n_inputs != expected->inputs || w->n_aux != expected->aux || w->n_fields != expected->fields)) {
        status = cuzk_fail(err, CUZK_ERR_MISMATCH,
                           "the witness has %u inputs, %u wires, %u field elements, its circuit's program %u, %u, %u",
                           w->n_inputs, w->n_aux, w->n_fields, expected->inputs, expected->aux, expected->fields);
        packed_destroy(out);
    }
    return status;
}

void circuit_witness_packed(circuit_witness_report *out, const packed_witness *w) {
    enum { RUN = 512 };
    *out = (circuit_witness_report){.inputs = w->n_inputs, .aux = w->n_aux};
    uint8_t buf[RUN][32];
    for (int aux = 0; aux < 2; aux++) {
        const uint32_t n = aux != 0 ? w->n_aux : w->n_inputs;
        sha256 h;
        sha256_init(&h);
        for (uint32_t from = 0, run; from < n; from += run) {
            run = n - from < RUN ? n - from : RUN;
            for (uint32_t i = 0; i < run; i++) {
                fr v;
                packed_value(&v, w, (aux != 0 ? WIRE_AUX : 0) | (from + i));
                fr_to_le_bytes(buf[i], &v);
                if (aux != 0) out->aux_zero += fr_is_zero(&v), out->aux_one += fr_is_one(&v);
            }
            sha256_update(&h, buf, (size_t)run * 32);
        }
        sha256_final(aux != 0 ? out->aux_sha256 : out->inputs_sha256, &h);
    }
}

cuzk_status circuit_witness(circuit_witness_report *out, fr *public_inputs, size_t max_public_inputs, const circuit *c,
                            const observer *obs, cuzk_error *err) {
    check_sink s;
    observe_begin(obs, "synthesis");
    check_init(&s, obs);
    if (s.head.status == CUZK_OK) c->synthesize(c->self, &s.head);
    const cuzk_status status = s.head.status == CUZK_OK ? CUZK_OK : failed(&s.head, err);
    if (status == CUZK_OK) {
        check_summary sum;
        check_summarise(&sum, &s);
        *out = (circuit_witness_report){
            .inputs = s.head.n_inputs,
            .aux = s.head.n_aux,
            .constraints = s.head.n_constraints,
            .aux_zero = sum.aux_zero,
            .aux_one = sum.aux_one,
            .unsatisfied = s.unsatisfied,
            .first_unsatisfied = s.first_unsatisfied,
        };
        memcpy(out->inputs_sha256, sum.inputs_sha256, 32);
        memcpy(out->aux_sha256, sum.aux_sha256, 32);
        memcpy(out->first_unsatisfied_scope, s.first_scope, sizeof s.first_scope);
        for (size_t i = 0; public_inputs != NULL && i < max_public_inputs && i < s.head.n_inputs; i++) {
            public_inputs[i] = s.inputs.v[i];
        }
    }
    check_destroy(&s);
    observe_end(obs, "synthesis");
    return status;
}
