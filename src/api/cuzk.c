// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The public interface over the layers: a context keeps the thread pool, the progress function and the last error.
#include "cuzk/cuzk.h"

#include <stdlib.h>
#include <string.h>

#include "api/porep.h"
#include "base/mem.h"

_Static_assert((int)CUZK_RESULT_USAGE == (int)CUZK_ERR_USAGE && (int)CUZK_RESULT_IO == (int)CUZK_ERR_IO &&
                   (int)CUZK_RESULT_FORMAT == (int)CUZK_ERR_FORMAT && (int)CUZK_RESULT_INPUT == (int)CUZK_ERR_INPUT &&
                   (int)CUZK_RESULT_MISMATCH == (int)CUZK_ERR_MISMATCH &&
                   (int)CUZK_RESULT_INVALID == (int)CUZK_ERR_INVALID &&
                   (int)CUZK_RESULT_MEMORY == (int)CUZK_ERR_MEMORY &&
                   (int)CUZK_RESULT_CANCELLED == (int)CUZK_ERR_CANCELLED &&
                   (int)CUZK_RESULT_INTERNAL == (int)CUZK_ERR_INTERNAL,
               "public results are the internal status codes");

struct cuzk_context {
    pool *threads;
    cuzk_error error;
    cuzk_progress_fn progress;
    void *progress_user;
    bool stop; // the progress function asked for it
};

const char *cuzk_version(void) { return CUZK_VERSION; }

const char *cuzk_result_name(cuzk_result result) {
    return result == CUZK_RESULT_BUFFER ? "BUFFER"
           : result == CUZK_RESULT_BUSY ? "BUSY"
                                        : cuzk_status_name((cuzk_status)result);
}

cuzk_result cuzk_context_new(cuzk_context **out, unsigned threads) {
    if (out == NULL) return CUZK_RESULT_USAGE;
    cuzk_context *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL) return CUZK_RESULT_MEMORY;
    cuzk_status s = pool_create(&ctx->threads, threads, NULL);
    if (s != CUZK_OK) {
        free(ctx);
        return (cuzk_result)s;
    }
    *out = ctx;
    return CUZK_RESULT_OK;
}

void cuzk_context_free(cuzk_context *ctx) {
    if (ctx == NULL) return;
    pool_destroy(&ctx->threads);
    free(ctx);
}

const char *cuzk_error_text(const cuzk_context *ctx) { return ctx == NULL ? "" : ctx->error.text; }

void cuzk_context_on_progress(cuzk_context *ctx, cuzk_progress_fn fn, void *user) {
    if (ctx == NULL) return;
    ctx->progress = fn;
    ctx->progress_user = user;
}

static void on_progress(void *c, const char *stage, uint64_t done, uint64_t total) {
    cuzk_context *ctx = c;
    if (ctx->progress != NULL && ctx->progress(ctx->progress_user, stage, done, total) != 0) ctx->stop = true;
}

static void on_stage(void *c, const char *stage) { on_progress(c, stage, 0, 0); }
static bool on_cancelled(void *c) { return ((cuzk_context *)c)->stop; }

static observer observe(cuzk_context *ctx) {
    ctx->stop = false;
    return (observer){.stage_begin = on_stage, .progress = on_progress, .cancelled = on_cancelled, .ctx = ctx};
}

// Fills the context's error for NULL arguments; CUZK_ERR_USAGE also without a context.
static cuzk_status need(cuzk_context *ctx, bool given, const char *what) {
    if (ctx == NULL) return CUZK_ERR_USAGE;
    return given ? CUZK_OK : cuzk_fail(&ctx->error, CUZK_ERR_USAGE, "%s is NULL", what);
}

static cuzk_status parse(cuzk_context *ctx, c1_file **out, const uint8_t *c1, size_t c1_len) {
    cuzk_status s = need(ctx, c1 != NULL, "c1");
    if (s != CUZK_OK) return s;
    if (c1_len > C1_MAX_BYTES)
        return cuzk_fail(&ctx->error, CUZK_ERR_INPUT, "a C1 has at most %d bytes, found %zu", C1_MAX_BYTES, c1_len);
    return c1_parse(out, c1, c1_len, &ctx->error);
}

cuzk_result cuzk_porep_proof_size(cuzk_context *ctx, size_t *size, const uint8_t *c1, size_t c1_len) {
    c1_file *f = NULL;
    cuzk_status s = need(ctx, size != NULL, "size");
    if (s == CUZK_OK) s = parse(ctx, &f, c1, c1_len);
    if (s == CUZK_OK) *size = porep_proof_bytes(&c1_input(f)->shape);
    c1_destroy(&f);
    return (cuzk_result)s;
}

cuzk_result cuzk_porep_prove(cuzk_context *ctx, uint8_t *proof, size_t *proof_len, const char *params_dir,
                             const uint8_t *c1, size_t c1_len, unsigned flags) {
    c1_file *f = NULL;
    uint8_t *bytes = NULL;
    cuzk_status s = need(ctx, proof_len != NULL && params_dir != NULL, "proof_len or params_dir");
    if (s == CUZK_OK && (flags & ~(unsigned)(CUZK_SKIP_VANILLA_CHECK | CUZK_SKIP_SUBGROUP_CHECK)) != 0)
        s = cuzk_fail(&ctx->error, CUZK_ERR_USAGE, "unknown flags 0x%x", flags);
    if (s == CUZK_OK) s = parse(ctx, &f, c1, c1_len);
    if (s != CUZK_OK) return (cuzk_result)s;

    size_t need_len = porep_proof_bytes(&c1_input(f)->shape);
    if (proof == NULL || *proof_len < need_len) {
        (void)cuzk_fail(&ctx->error, CUZK_ERR_USAGE, "the proof needs %zu bytes, the buffer has %zu", need_len,
                        proof == NULL ? 0 : *proof_len);
        *proof_len = need_len;
        c1_destroy(&f);
        return CUZK_RESULT_BUFFER;
    }
    observer o = observe(ctx);
    porep_prove_options options = {.params_dir = params_dir,
                                   .skip_vanilla_check = (flags & CUZK_SKIP_VANILLA_CHECK) != 0,
                                   .check = (flags & CUZK_SKIP_SUBGROUP_CHECK) != 0 ? KEY_CHECK_CURVE : KEY_CHECK_FULL};
    porep_prove_report report;
    size_t len = 0;
    s = porep_prove(&bytes, &len, &report, f, &options, ctx->threads, &o, &ctx->error);
    if (s == CUZK_OK) {
        memcpy(proof, bytes, len);
        *proof_len = len;
    }
    mem_free(bytes);
    c1_destroy(&f);
    return (cuzk_result)s;
}

cuzk_result cuzk_porep_verify(cuzk_context *ctx, const char *params_dir, const uint8_t *c1, size_t c1_len,
                              const uint8_t *proof, size_t proof_len) {
    c1_file *f = NULL;
    cuzk_status s = need(ctx, params_dir != NULL && proof != NULL, "params_dir or proof");
    if (s == CUZK_OK) s = parse(ctx, &f, c1, c1_len);
    if (s == CUZK_OK) {
        char label[PARAMS_LABEL_MAX];
        observer o = observe(ctx);
        s = porep_verify(label, f, params_dir, NULL, proof, proof_len, &o, &ctx->error);
    }
    c1_destroy(&f);
    return (cuzk_result)s;
}

cuzk_result cuzk_porep_make_test_params(cuzk_context *ctx, const char *params_dir, uint64_t sector_size,
                                        const char *label) {
    porep_shape shape;
    params_files files;
    params_outcome outcome;
    cuzk_status s = need(ctx, params_dir != NULL && label != NULL, "params_dir or label");
    // The parameters are those of the circuit, which API version and challenge kind do not change.
    if (s == CUZK_OK) s = porep_shape_by_size(&shape, sector_size, POREP_API_1_1, POREP_INTERACTIVE, &ctx->error);
    if (s == CUZK_OK) s = params_locate(&files, params_dir, &shape, &ctx->error);
    if (s != CUZK_OK) return (cuzk_result)s;
    observer o = observe(ctx);
    s = params_make_test(&outcome, &files, &shape, label, false, ctx->threads, &o, &ctx->error);
    return (cuzk_result)s;
}

cuzk_result cuzk_porep_params_insecure(cuzk_context *ctx, int *insecure, const char *params_dir, const uint8_t *c1,
                                       size_t c1_len) {
    c1_file *f = NULL;
    params_files files;
    char label[PARAMS_LABEL_MAX];
    cuzk_status s = need(ctx, insecure != NULL && params_dir != NULL, "insecure or params_dir");
    if (s == CUZK_OK) s = parse(ctx, &f, c1, c1_len);
    if (s == CUZK_OK) s = params_locate(&files, params_dir, &c1_input(f)->shape, &ctx->error);
    if (s == CUZK_OK) s = params_insecure_label(label, &files, &ctx->error);
    if (s == CUZK_OK) *insecure = label[0] != 0;
    c1_destroy(&f);
    return (cuzk_result)s;
}
