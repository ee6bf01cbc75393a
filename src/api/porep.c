// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/porep.h"

#include <inttypes.h>
#include <string.h>

#include "api/partition.h"
#include "api/pce.h"
#include "base/file.h"
#include "base/mem.h"
#include "circuit/porep/circuit.h"
#include "groth16/verify.h"
#include "vanilla/porep_check.h"

size_t porep_proof_bytes(const porep_shape *shape) { return (size_t)shape->partitions * GROTH16_PROOF_BYTES; }

cuzk_status porep_read_c1(c1_file **out, const char *path, const observer *o, cuzk_error *err) {
    uint8_t *json = NULL;
    size_t len = 0;
    observe_begin(o, "read");
    cuzk_status s = file_read_all(&json, &len, path, C1_MAX_BYTES, err);
    observe_end(o, "read");
    if (s != CUZK_OK) return s;
    observe_begin(o, "parse");
    s = c1_parse(out, json, len, err);
    observe_end(o, "parse");
    mem_free(json);
    if (s != CUZK_OK) return cuzk_fail_in(err, s, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
    return CUZK_OK;
}

static cuzk_status check_partitions(const porep_input *in, cuzk_error *err) {
    if (in->n_partitions == in->shape.partitions) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_INPUT, "%s has %" PRIu32 " partitions, found %" PRIu32, in->shape.proof_name,
                     in->shape.partitions, in->n_partitions);
}

// Everything a proof needs beside the C1.
typedef struct keys {
    params_files files;
    groth16_vk *vk;
    groth16_pk *pk;
    fr *inputs; // of one partition
    uint32_t n_inputs;
} keys;

static void keys_destroy(keys *k) {
    groth16_vk_destroy(&k->vk);
    groth16_pk_destroy(&k->pk);
    mem_free(k->inputs);
}

// The cheap part: names, marker, verifying key, room for public inputs.
static cuzk_status keys_init(keys *k, char label[PARAMS_LABEL_MAX], const char *dir, const porep_shape *shape,
                             cuzk_error *err) {
    memset(k, 0, sizeof *k);
    k->n_inputs = (uint32_t)porep_public_inputs_count(shape);
    cuzk_status s = params_locate(&k->files, dir, shape, err);
    if (s == CUZK_OK) s = params_insecure_label(label, &k->files, err);
    if (s == CUZK_OK) s = params_load_vk(&k->vk, &k->files, k->n_inputs, err);
    if (s != CUZK_OK) return s;
    k->inputs = mem_alloc(MEM_INPUT, k->n_inputs, sizeof *k->inputs);
    return k->inputs != NULL ? CUZK_OK : cuzk_fail(err, CUZK_ERR_MEMORY, "%" PRIu32 " public inputs", k->n_inputs);
}

static cuzk_status prove_partitions(uint8_t *proof, porep_prove_report *report, keys *k, const groth16_program *by,
                                    const c1_file *c1, const porep_prove_options *options, pool *p, const observer *o,
                                    cuzk_error *err) {
    const porep_input *in = c1_input(c1);
    porep_statement st;
    c1_statement(&st, c1);
    for (uint32_t i = 0; i < in->n_partitions; i++) {
        observe_progress(o, "partitions", i, in->n_partitions);
        porep_circuit pc = {.shape = in->shape, .input = in, .partition = i};
        porep_public_inputs(k->inputs, &in->shape, &st, i);
        partition_job job = {.c = porep_circuit_bind(&pc),
                             .by = by,
                             .index = i,
                             .inputs = k->inputs,
                             .n_inputs = k->n_inputs,
                             .test_blinding = options->test_blinding};
        cuzk_status s =
            partition_prove(proof + (size_t)i * GROTH16_PROOF_BYTES, &report->retries, &job, k->pk, k->vk, p, o, err);
        if (s != CUZK_OK) return s;
    }
    return CUZK_OK;
}

cuzk_status porep_prove(uint8_t **proof, size_t *proof_len, porep_prove_report *report, const c1_file *c1,
                        const porep_prove_options *options, pool *p, const observer *o, cuzk_error *err) {
    const porep_input *in = c1_input(c1);
    keys k = {0};
    memset(report, 0, sizeof *report);
    // What can be refused in milliseconds is refused first.
    cuzk_status s = check_partitions(in, err);
    if (s == CUZK_OK) s = keys_init(&k, report->insecure_label, options->params_dir, &in->shape, err);
    if (s == CUZK_OK) s = params_check_layout(&k.files, err);
    if (s == CUZK_OK && !options->skip_vanilla_check) {
        observe_begin(o, "vanilla_check");
        s = porep_check(in, p, err);
        observe_end(o, "vanilla_check");
    }
    // One proof needs each point once; several would read the file again and again.
    if (s == CUZK_OK)
        s = (in->n_partitions == 1 ? groth16_pk_open : groth16_pk_load)(&k.pk, k.files.params, options->check, p, o,
                                                                        err);
    uint8_t *bytes = NULL;
    size_t len = porep_proof_bytes(&in->shape);
    if (s == CUZK_OK && (bytes = mem_alloc(MEM_MISC, len, 1)) == NULL)
        s = cuzk_fail(err, CUZK_ERR_MEMORY, "%zu bytes for the proof", len);
    pce_cache *programs = NULL;
    const groth16_program *by = NULL;
    pce_circuit which;
    pce_of_porep(&which, &in->shape);
    if (s == CUZK_OK) s = pce_cache_create(&programs, options->pce_dir, err);
    if (s == CUZK_OK && !options->reference) s = pce_cache_get(&by, programs, &which, o, err);
    if (programs != NULL) pce_cache_complaint(report->pce_complaint, sizeof report->pce_complaint, programs);
    mem_keep_begin(); // from one partition to the next
    if (s == CUZK_OK) s = prove_partitions(bytes, report, &k, by, c1, options, p, o, err);
    mem_keep_end();
    pce_cache_destroy(&programs);
    keys_destroy(&k);
    if (s != CUZK_OK) {
        mem_free(bytes);
        return s;
    }
    *proof = bytes;
    *proof_len = len;
    return CUZK_OK;
}

static cuzk_status verify_partitions(keys *k, const c1_file *c1, const uint8_t *proof, size_t proof_len,
                                     const observer *o, cuzk_error *err) {
    const porep_shape *shape = &c1_input(c1)->shape;
    porep_statement st;
    c1_statement(&st, c1);
    size_t want = porep_proof_bytes(shape);
    if (proof_len != want)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "a proof of %s has %zu bytes (%" PRIu32 " partition%s of %d), found %zu",
                         shape->proof_name, want, shape->partitions, shape->partitions == 1 ? "" : "s",
                         GROTH16_PROOF_BYTES, proof_len);
    for (uint32_t i = 0; i < shape->partitions; i++) {
        groth16_proof pf;
        observe_begin(o, "verify");
        cuzk_status s = groth16_proof_decode(&pf, proof + (size_t)i * GROTH16_PROOF_BYTES, err);
        if (s == CUZK_OK) {
            porep_public_inputs(k->inputs, shape, &st, i);
            s = groth16_verify(k->vk, &pf, k->inputs, k->n_inputs, err);
        }
        observe_end(o, "verify");
        if (s != CUZK_OK) return cuzk_fail_in(err, s, "partition %" PRIu32, i);
    }
    return CUZK_OK;
}

cuzk_status porep_verify(char insecure_label[PARAMS_LABEL_MAX], const c1_file *c1, const char *params_dir,
                         const char *proof_name, const uint8_t *proof, size_t proof_len, const observer *o,
                         cuzk_error *err) {
    keys k = {0};
    cuzk_status s = keys_init(&k, insecure_label, params_dir, &c1_input(c1)->shape, err);
    if (s == CUZK_OK) {
        s = verify_partitions(&k, c1, proof, proof_len, o, err);
        if (s != CUZK_OK && proof_name != NULL) s = cuzk_fail_in(err, s, "%s", proof_name);
    }
    keys_destroy(&k);
    return s;
}
