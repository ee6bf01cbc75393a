// SPDX-License-Identifier: MIT OR Apache-2.0
#include "app/prove_remote.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "groth16/key.h"

enum { INPUT_LIMIT = 256 << 20, SLICE_MS = 200, CALL_MS = 600000, POREP = 1 };

// Waits in slices, so that progress is shown and a signal heard.
static cuzk_status await_proof(app *a, client *c, const char *address, const char *job, client_result *r, monitor *m) {
    client_error why;
    bool asked = false, ignored;
    for (;;) {
        if (client_await(c, r, job, SLICE_MS, CALL_MS, &why) != CLIENT_OK) return remote_failed(&a->err, address, &why);
        if (r->status == CLIENT_JOB_COMPLETED && r->proof_len != 0 && r->proof_len % GROTH16_PROOF_BYTES == 0)
            return CUZK_OK;
        if (r->status == CLIENT_JOB_COMPLETED) {
            cuzk_status s =
                cuzk_fail(&a->err, CUZK_ERR_INVALID, "%s: job %s: a proof of %zu bytes, expected a multiple of %d",
                          address, job, r->proof_len, GROTH16_PROOF_BYTES);
            client_result_free(r);
            return s;
        }
        if (r->status != CLIENT_JOB_TIMEOUT) {
            cuzk_status s =
                cuzk_fail(&a->err, r->status == CLIENT_JOB_CANCELLED ? CUZK_ERR_CANCELLED : CUZK_ERR_INVALID,
                          "%s: job %s: %s", address, job, r->text);
            client_result_free(r);
            return s;
        }
        client_result_free(r);
        m->o.progress(m->o.ctx, "daemon", 0, 0);
        if (!asked && m->o.cancelled(m->o.ctx)) asked = client_cancel(c, &ignored, job, CALL_MS, &why) == CLIENT_OK;
    }
}

static void print_result(app *a, const char *out, const client_result *r) {
    if (a->json) {
        app_print_json(a,
                       json_pack("{s:s, s:o, s:I, s:o, s:I, s:I, s:I, s:I, s:I}", "kind", "porep", "proof",
                                 app_json_text(out), "proof_bytes", (json_int_t)r->proof_len, "job_id",
                                 app_json_text(r->job_id), "queue_wait_ms", (json_int_t)r->queue_wait_ms, "srs_load_ms",
                                 (json_int_t)r->srs_load_ms, "synthesis_ms", (json_int_t)r->synthesis_ms,
                                 "gpu_compute_ms", (json_int_t)r->gpu_compute_ms, "total_ms", (json_int_t)r->total_ms));
        fflush(a->documents);
        return;
    }
    fprintf(stderr, "proved and verified by the daemon as job %s: %zu bytes to %s\n\n", r->job_id, r->proof_len,
            strcmp(out, "-") == 0 ? "standard output" : out);
    const struct {
        const char *name;
        uint64_t ms;
    } rows[] = {{"queue", r->queue_wait_ms},
                {"key load", r->srs_load_ms},
                {"synthesis", r->synthesis_ms},
                {"device", r->gpu_compute_ms},
                {"total", r->total_ms}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fprintf(stderr, "%-12s %10.3f s\n", rows[i].name, (double)rows[i].ms / 1e3);
}

cuzk_status prove_remote(app *a, const remote_flags *remote, const char *c1, const char *out, monitor *m) {
    const char *address = remote->addr;
    client *c = NULL;
    uint8_t *input = NULL;
    client_result result;
    client_submitted job;
    client_error why;
    client_proof_request request = {.kind = POREP};
    cuzk_status s = app_check_output(a, out);
    if (s == CUZK_OK) s = remote_open(&c, remote, address, &a->err);
    if (s == CUZK_OK) s = file_read_all(&input, &request.vanilla_proof.len, c1, INPUT_LIMIT, &a->err);
    request.vanilla_proof.data = input;
    monitor_catch_signals();
    if (s == CUZK_OK) {
        if (client_submit(c, &job, &request, CALL_MS, &why) != CLIENT_OK) s = remote_failed(&a->err, address, &why);
    }
    if (s == CUZK_OK) s = await_proof(a, c, address, job.job_id, &result, m);
    monitor_clear(m);
    if (s == CUZK_OK) {
        s = file_write_all(out, result.proof, result.proof_len, &a->err);
        if (s == CUZK_OK) print_result(a, out, &result);
        client_result_free(&result);
    }
    mem_free(input);
    client_close(&c);
    return s;
}
