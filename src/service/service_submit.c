// SPDX-License-Identifier: MIT OR Apache-2.0
//
// From a request as it came over the wire to a job that was accepted, or a refusal that says why.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/provider_porep.h"
#include "base/bytes.h"
#include "base/log.h"
#include "base/mem.h"
#include "service/hide.h"
#include "service/service_internal.h"
#include "service/toys.h"

static service_code refuse(service *s, figure_refusal why, service_code code) {
    pthread_mutex_lock(&s->lock);
    s->figures.refused[why]++;
    pthread_mutex_unlock(&s->lock);
    return code;
}

// --- what can be said without reading the input ---

static uint64_t input_length(const service_request *r) {
    uint64_t n = r->vanilla_proof_len;
    for (size_t i = 0; i < r->n_vanilla_proofs; i++) n += r->vanilla_proof_lens[i];
    return n;
}

static service_code check_id(const char *id, service_error *err) {
    const size_t len = id != NULL ? strnlen(id, SERVICE_JOB_ID_MAX) : 0;
    if (len == SERVICE_JOB_ID_MAX)
        return service_fail(err, SERVICE_INVALID_ARGUMENT, "request_id: at most %d bytes", SERVICE_JOB_ID_MAX - 1);
    for (size_t i = 0; i < len; i++)
        if (id[i] < 0x20 || id[i] > 0x7e)
            return service_fail(err, SERVICE_INVALID_ARGUMENT, "request_id: byte %zu (0x%02x) is not printable ASCII",
                                i, (unsigned)(unsigned char)id[i]);
    return SERVICE_OK;
}

static service_code check_commitment(const char *name, size_t len, service_error *err) {
    if (len == 0 || len == 32) return SERVICE_OK;
    return service_fail(err, SERVICE_INVALID_ARGUMENT, "%s: expected 32 bytes, found %zu", name, len);
}

static service_code check_kind(const service *s, uint32_t kind, service_error *err) {
    switch (kind) {
    case SERVICE_POREP:
    case SERVICE_SNAP:
    case SERVICE_WINDOW_POST:
    case SERVICE_WINNING_POST: return SERVICE_OK;
    case SERVICE_TOY:
        if (s->toys != NULL) return SERVICE_OK;
        return service_fail(err, SERVICE_INVALID_ARGUMENT,
                            "proof_kind: %u is for tests, and this service was not started for tests", kind);
    default:
        return service_fail(err, SERVICE_INVALID_ARGUMENT, "proof_kind: %" PRIu32 " is none of 1 to %d", kind,
                            SERVICE_KINDS - 1);
    }
}

static service_code check_request(const service *s, const service_request *r, service_error *err) {
    const struct {
        const char *name;
        size_t len;
    } fixed[] = {{"randomness", r->randomness_len},
                 {"comm_r_old", r->comm_r_old_len},
                 {"comm_r_new", r->comm_r_new_len},
                 {"comm_d_new", r->comm_d_new_len}};
    service_code code = check_kind(s, r->kind, err);
    if (code == SERVICE_OK) code = check_id(r->request_id, err);
    if (code == SERVICE_OK && r->priority > 4)
        code = service_fail(err, SERVICE_INVALID_ARGUMENT, "priority: %" PRIu32 " is none of 0 to 4", r->priority);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0] && code == SERVICE_OK; i++)
        code = check_commitment(fixed[i].name, fixed[i].len, err);
    if (code != SERVICE_OK) return code;
    if (input_length(r) > s->max_message)
        return service_fail(err, SERVICE_RESOURCE_EXHAUSTED, "the request has %" PRIu64 " bytes, the limit is %" PRIu64,
                            input_length(r), s->max_message);
    switch (r->kind) {
    case SERVICE_POREP:
    case SERVICE_TOY:
        if (r->n_vanilla_proofs > 0)
            return service_fail(err, SERVICE_INVALID_ARGUMENT,
                                "vanilla_proofs: %zu found; a %s has one input, in vanilla_proof", r->n_vanilla_proofs,
                                service_kind_name(r->kind));
        if (r->vanilla_proof_len == 0) return service_fail(err, SERVICE_INVALID_ARGUMENT, "vanilla_proof: is empty");
        if (r->partition_index != 0)
            return service_fail(err, SERVICE_INVALID_ARGUMENT,
                                "partition_index: %" PRIu32 " found; a %s is proven whole, so it must be 0",
                                r->partition_index, service_kind_name(r->kind));
        return SERVICE_OK;
    default:
        return service_fail(err, SERVICE_UNIMPLEMENTED,
                            "proof_kind: %s proofs cannot be made yet by this version; PoRep can",
                            service_kind_name(r->kind));
    }
}

// --- what a PoRep's fields must agree with ---

// go-state-types: abi.RegisteredSealProof, by number.
static const char *seal_proof_name(uint64_t number) {
    static const char *const SIZES[] = {"2KiB", "8MiB", "512MiB", "32GiB", "64GiB"};
    static const char *const FORMS[] = {"StackedDrg%sV1", "StackedDrg%sV1_1", "StackedDrg%sV1_1_Feat_SyntheticPoRep",
                                        "StackedDrg%sV1_2_Feat_NonInteractivePoRep"};
    enum { N_SIZES = 5, N_FORMS = 4 };
    static _Thread_local char name[64];
    if (number >= N_SIZES * N_FORMS) return NULL;
    const char *form = FORMS[number / N_SIZES], *hole = strstr(form, "%s");
    snprintf(name, sizeof name, "%.*s%s%s", (int)(hole - form), form, SIZES[number % N_SIZES], hole + 2);
    return name;
}

// Numbers that are 0 were not given: the wire does not tell the two apart.
static cuzk_status agrees(void *ctx, const void *bound, cuzk_error *err) {
    const service_request *r = ctx;
    const provider_porep_facts f = provider_porep_facts_of(bound);
    if (r->sector_size != 0 && r->sector_size != f.sector_size)
        return cuzk_fail(err, CUZK_ERR_USAGE,
                         "sector_size: %" PRIu64 ", but vanilla_proof is of a sector of %" PRIu64 " bytes (%s)",
                         r->sector_size, f.sector_size, f.proof_name);
    if (r->registered_proof != 0) {
        const char *name = seal_proof_name(r->registered_proof);
        if (name == NULL)
            return cuzk_fail(err, CUZK_ERR_USAGE, "registered_proof: %" PRIu64 " is no registered seal proof",
                             r->registered_proof);
        if (strcmp(name, f.proof_name) != 0)
            return cuzk_fail(err, CUZK_ERR_USAGE, "registered_proof: %" PRIu64 " is %s, but vanilla_proof is of %s",
                             r->registered_proof, name, f.proof_name);
    }
    if (r->sector_number != 0 && f.has_sector_number && r->sector_number != f.sector_number)
        return cuzk_fail(err, CUZK_ERR_USAGE, "sector_number: %" PRIu64 ", but vanilla_proof is of sector %" PRIu64,
                         r->sector_number, f.sector_number);
    return CUZK_OK;
}

// --- admission ---

static engine_priority priority_of(const service_request *r) {
    switch (r->priority) {
    case 1: return ENGINE_LOW;
    case 2: return ENGINE_NORMAL;
    case 3: return ENGINE_HIGH;
    case 4: return ENGINE_CRITICAL;
    default: break;
    }
    return r->kind == SERVICE_WINNING_POST  ? ENGINE_CRITICAL
           : r->kind == SERVICE_WINDOW_POST ? ENGINE_HIGH
                                            : ENGINE_NORMAL;
}

// When half of a proof's usual time has passed, the queue has likely moved. With the lock.
static uint32_t retry_hint_ms(const service *s) {
    enum { LEAST_MS = 500, MOST_MS = 60000 };
    uint64_t n = 0, ns = 0;
    for (uint32_t k = 0; k < SERVICE_KIND_SLOTS; k++) {
        n += histogram_count(&s->figures.stages[k][FIGURE_TOTAL]);
        ns += s->figures.stages[k][FIGURE_TOTAL].sum_ns;
    }
    const uint64_t ms = n == 0 ? 1000 : ns / n / 2000000;
    return ms < LEAST_MS ? LEAST_MS : ms > MOST_MS ? MOST_MS : (uint32_t)ms;
}

// Refuses before the input is read what the engine would refuse anyway, and takes the bytes that the request needs.
// A request whose id is known may join, so the engine has to see it.
static service_code reserve(service *s, const service_request *r, uint64_t bytes, service_error *err) {
    const engine_config *c = &s->opt.engine;
    service_code code = SERVICE_OK;
    figure_refusal why = REFUSED_OTHER;
    pthread_mutex_lock(&s->lock);
    const bool known = r->request_id != NULL && r->request_id[0] != 0 && jobs_by_id(s, r->request_id) != NULL;
    const bool critical = priority_of(r) == ENGINE_CRITICAL;
    if (!known && service_draining(s)) {
        why = REFUSED_DRAINING;
        code = service_fail(err, SERVICE_UNAVAILABLE, "the service is shutting down and accepts nothing more");
    } else if (!known && (s->n_ordinary + s->n_critical >= c->max_pending_jobs + c->critical_places ||
                          (!critical && s->n_ordinary >= c->max_pending_jobs))) {
        why = REFUSED_QUEUE_FULL;
        code =
            service_fail(err, SERVICE_RESOURCE_EXHAUSTED, "the queue is full: %" PRIu32 " jobs, the limit is %" PRIu32,
                         s->n_ordinary + s->n_critical, c->max_pending_jobs);
        err->retry_after_ms = retry_hint_ms(s);
    } else if (bytes > s->max_input) {
        why = REFUSED_INPUT_FULL;
        code = service_fail(err, SERVICE_RESOURCE_EXHAUSTED,
                            "the request has %" PRIu64 " bytes, more than all requests together may have (%" PRIu64 ")",
                            bytes, s->max_input);
    } else if (bytes > s->max_input - s->input_bytes) {
        why = REFUSED_INPUT_FULL;
        code = service_fail(err, SERVICE_RESOURCE_EXHAUSTED,
                            "requests that wait hold %" PRIu64 " bytes, with this one's %" PRIu64
                            " there would be more than the limit of %" PRIu64,
                            s->input_bytes, bytes, s->max_input);
        err->retry_after_ms = retry_hint_ms(s);
    } else {
        s->input_bytes += bytes;
    }
    if (code != SERVICE_OK) s->figures.refused[why]++;
    pthread_mutex_unlock(&s->lock);
    return code;
}

static void give_back(service *s, uint64_t bytes) {
    pthread_mutex_lock(&s->lock);
    s->input_bytes -= bytes;
    pthread_mutex_unlock(&s->lock);
}

// What the provider or the engine said, as a code, with the field in front where it is one.
static service_code refusal(service *s, const service_request *r, cuzk_status status, engine_reason reason,
                            const cuzk_error *why, service_error *err) {
    service_code code = SERVICE_INTERNAL;
    const char *numbers = strchr(why->text, '('); // "(needed 1, available 2)"
    switch (reason) {
    case ENGINE_QUEUE_FULL:
        code = refuse(s, REFUSED_QUEUE_FULL,
                      service_fail(err, SERVICE_RESOURCE_EXHAUSTED, "the queue is full: the limit is %" PRIu32 " jobs",
                                   s->opt.engine.max_pending_jobs));
        pthread_mutex_lock(&s->lock);
        err->retry_after_ms = retry_hint_ms(s);
        pthread_mutex_unlock(&s->lock);
        return code;
    case ENGINE_TOO_BIG:
        return refuse(s, REFUSED_TOO_BIG,
                      service_fail(err, SERVICE_RESOURCE_EXHAUSTED,
                                   "the proof needs more than the whole memory budget, in bytes: %s",
                                   numbers != NULL ? numbers : why->text));
    case ENGINE_ID_IN_USE:
        return refuse(
            s, REFUSED_ID_IN_USE,
            service_fail(err, SERVICE_ALREADY_EXISTS, "request_id: %s belongs to another input", r->request_id));
    case ENGINE_DRAINING:
        return refuse(s, REFUSED_DRAINING,
                      service_fail(err, SERVICE_UNAVAILABLE, "the service is shutting down and accepts nothing more"));
    case ENGINE_NO_DEVICE:
        return refuse(s, REFUSED_NO_DEVICE, service_fail(err, SERVICE_UNAVAILABLE, "no device is healthy"));
    case ENGINE_DEADLINE:
        return refuse(s, REFUSED_OTHER, service_fail(err, SERVICE_DEADLINE_EXCEEDED, "the deadline has passed"));
    case ENGINE_BAD_REQUEST:
        return refuse(s, REFUSED_INVALID, service_fail(err, SERVICE_INVALID_ARGUMENT, "%s", why->text));
    default: break;
    }
    switch (status) {
    case CUZK_ERR_USAGE: // names its field
        return refuse(s, REFUSED_INVALID, service_fail(err, SERVICE_INVALID_ARGUMENT, "%s", why->text));
    case CUZK_ERR_FORMAT:
    case CUZK_ERR_INPUT:
        return refuse(s, REFUSED_INVALID, service_fail(err, SERVICE_INVALID_ARGUMENT, "vanilla_proof: %s", why->text));
    case CUZK_ERR_IO:
    case CUZK_ERR_MISMATCH:
    case CUZK_ERR_INVALID: // what is there of parameters cannot be used
        return refuse(s, REFUSED_NO_KEY, service_fail(err, SERVICE_FAILED_PRECONDITION, "%s", why->text));
    case CUZK_ERR_MEMORY:
        code = service_fail(err, SERVICE_RESOURCE_EXHAUSTED, "%s", why->text);
        err->retry_after_ms = 1000;
        return refuse(s, REFUSED_OTHER, code);
    default: return refuse(s, REFUSED_OTHER, service_fail(err, code, "%s", why->text));
    }
}

static cuzk_status make_uuid(char out[SERVICE_JOB_ID_MAX], cuzk_error *err) {
    uint8_t d[16];
    char hex[33];
    cuzk_status s = random_bytes(d, sizeof d, err);
    if (s != CUZK_OK) return s;
    d[6] = (uint8_t)((d[6] & 0x0f) | 0x40);
    d[8] = (uint8_t)((d[8] & 0x3f) | 0x80);
    hex_encode(hex, d, sizeof d);
    snprintf(out, SERVICE_JOB_ID_MAX, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
    return CUZK_OK;
}

static cuzk_status hand_over(service *s, runtime_job *job, bool *joined, engine_reason *reason, const char *id,
                             const service_request *r, cuzk_error *err) {
    uint8_t toy[TOYS_INPUT_MAX];
    const uint64_t deadline_ms = r->deadline_ms != 0 ? r->deadline_ms : s->opt.job_deadline_ms;
    runtime_request q = {
        .kind = service_kind_name(r->kind),
        .input = r->vanilla_proof,
        .input_len = r->vanilla_proof_len,
        .client_id = id,
        .priority = priority_of(r),
        .timeout_ns = deadline_ms > UINT64_MAX / 1000000 ? UINT64_MAX : deadline_ms * 1000000,
    };
    if (r->kind == SERVICE_TOY) {
        cuzk_status st = toys_input(toy, &q.input_len, r->registered_proof, r->sector_size, r->vanilla_proof,
                                    r->vanilla_proof_len, err);
        *reason = ENGINE_BAD_INPUT;
        if (st != CUZK_OK) return st;
        q.input = toy;
    } else {
        q.check = agrees;
        q.check_ctx = (void *)(uintptr_t)r;
    }
    return runtime_submit(s->rt, job, joined, reason, &q, err);
}

service_code service_submit(service *s, service_submitted *out, const service_request *r, service_error *err) {
    service_error ignored;
    if (err == NULL) err = &ignored;
    *out = (service_submitted){0};
    service_code code = check_request(s, r, err);
    if (code != SERVICE_OK)
        return refuse(s, code == SERVICE_UNIMPLEMENTED ? REFUSED_UNIMPLEMENTED : REFUSED_INVALID, code);
    const uint64_t bytes = input_length(r);
    code = reserve(s, r, bytes, err);
    if (code != SERVICE_OK) return code;

    cuzk_error why;
    cuzk_status st = CUZK_OK;
    engine_reason reason = ENGINE_NO_REASON;
    runtime_job job = 0;
    bool joined = false;
    job_entry *fresh = mem_calloc(MEM_MISC, 1, sizeof *fresh);
    if (fresh == NULL) {
        st = cuzk_fail(&why, CUZK_ERR_MEMORY, "no memory for a job");
    } else {
        fresh->kind = (service_kind)r->kind;
        fresh->priority = priority_of(r);
        fresh->input_bytes = bytes;
        if (r->request_id != NULL && r->request_id[0] != 0)
            snprintf(fresh->id, sizeof fresh->id, "%s", r->request_id);
        else
            st = make_uuid(fresh->id, &why);
    }
    for (bool entered = false; st == CUZK_OK && !entered;) {
        st = hand_over(s, &job, &joined, &reason, fresh->id, r, &why);
        if (st == CUZK_OK) entered = jobs_enter(s, out, &fresh, job, joined);
    }
    if (st != CUZK_OK || fresh != NULL) give_back(s, bytes); // else the entry has them
    mem_free(fresh);
    if (st != CUZK_OK) {
        code = refusal(s, r, st, reason, &why, err);
        char told[CUZK_ERROR_TEXT_MAX];
        memcpy(told, err->text, sizeof told);
        hide_inputs(told); // the client that sent them gets them back, the log never
        log_write(LOG_INFO, "service", r->request_id != NULL && r->request_id[0] != 0 ? r->request_id : NULL,
                  "refused, %s: %s", service_code_name(code), told);
        return code;
    }
    if (r->kind != SERVICE_TOY) service_check_insecure(s);
    log_write(LOG_INFO, "service", out->job_id, "%s: %s, input of %" PRIu64 " bytes, %" PRIu32 " jobs in front",
              joined ? "joins" : "accepted", service_kind_name(r->kind), bytes, out->queue_position);
    return SERVICE_OK;
}
