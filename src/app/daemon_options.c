// SPDX-License-Identifier: MIT OR Apache-2.0
#include "app/daemon_options.h"

#include <inttypes.h>
#include <string.h>

#include "api/provider_porep.h"
#include "circuit/porep/shape.h"
#include "engine/budget.h"

static uint64_t number(const config *c, config_id id) { return c->values[id].number; }
static const char *text(const config *c, config_id id) { return c->values[id].text; }
static bool is_set(const config *c, config_id id) { return c->values[id].source != CONFIG_FROM_DEFAULT; }
static const char *text_or_null(const config *c, config_id id) { return *text(c, id) != 0 ? text(c, id) : NULL; }
static uint64_t ns(const config *c, config_id id) { return number(c, id) * UINT64_C(1000000); }

// "WHERE: section.key: what".
static cuzk_status refuse(const config *c, config_id id, cuzk_error *err, const char *what) {
    char where[CONFIG_WHERE_MAX];
    config_where(where, c, id);
    return cuzk_fail(err, CUZK_ERR_USAGE, "%s: %s.%s: %s", where, CONFIG_TABLE[id].section, CONFIG_TABLE[id].name,
                     what);
}

const char *daemon_policy_name(engine_policy p) {
    switch (p) {
    case ENGINE_STANDARD: return "standard";
    case ENGINE_SLOTTED: return "slotted";
    case ENGINE_PARTITION: return "partition";
    case ENGINE_BATCH: return "batch";
    }
    return "?";
}

// --- pipeline ---

static cuzk_status set_pipeline(daemon_options *o, const config *c, cuzk_error *err) {
    engine_config *e = &o->service.engine;
    const char *policy = text(c, CONFIG_PIPELINE_POLICY);
    const uint64_t slots = number(c, CONFIG_PIPELINE_SLOT_SIZE), batch = number(c, CONFIG_SCHEDULER_MAX_BATCH_SIZE);
    const bool enabled = number(c, CONFIG_PIPELINE_ENABLED) != 0;
    e->policy = ENGINE_PARTITION;
    for (int p = ENGINE_STANDARD; p <= ENGINE_BATCH; p++)
        if (strcmp(policy, daemon_policy_name((engine_policy)p)) == 0) e->policy = (engine_policy)p;
    if (strcmp(policy, "auto") == 0) { // what the public daemon's keys mean; the table explains it to users
        if (batch > 1)
            e->policy = ENGINE_BATCH;
        else if (!enabled || (is_set(c, CONFIG_PIPELINE_SLOT_SIZE) && slots == 0))
            e->policy = ENGINE_STANDARD;
        else if (is_set(c, CONFIG_PIPELINE_SLOT_SIZE))
            e->policy = ENGINE_SLOTTED;
    }
    if (e->policy == ENGINE_SLOTTED && slots == 0)
        return refuse(c, CONFIG_PIPELINE_POLICY, err, "\"slotted\" needs pipeline.slot_size, which is 0");
    e->slot_size = slots != 0 ? (uint32_t)slots : 1;
    e->batch_size = (uint32_t)batch;
    e->batch_wait_ns = ns(c, CONFIG_SCHEDULER_MAX_BATCH_WAIT);
    const uint64_t limit = number(c, CONFIG_PIPELINE_MAX_PARALLEL);
    uint64_t at_once = number(c, CONFIG_PIPELINE_CONCURRENCY);
    if (at_once > (limit != 0 ? limit : 18)) at_once = limit != 0 ? limit : 18;
    if (!enabled && strcmp(policy, "auto") == 0) at_once = 1;
    e->synthesis_concurrency = (uint32_t)at_once;
    uint64_t threads = number(c, CONFIG_SYNTHESIS_THREADS);
    if (threads == 0) { // a worker has a thread at least, and devices that compute here want the most of them
        const uint64_t share = runtime_split_threads((unsigned)number(c, CONFIG_DAEMON_THREADS), 0).total / 4;
        threads = at_once < share ? at_once : share;
    }
    o->service.synthesis_threads = (unsigned)threads;
    const uint64_t depth = number(c, CONFIG_PIPELINE_QUEUE_DEPTH), ahead = number(c, CONFIG_PIPELINE_LOOKAHEAD);
    e->lookahead = (uint32_t)(depth != 0 ? depth : ahead != 0 ? ahead : 1);
    e->max_attempts = (uint32_t)number(c, CONFIG_PIPELINE_MAX_ATTEMPTS);
    return CUZK_OK;
}

static void set_scheduler(engine_config *e, const config *c) {
    e->workers_per_device = (uint32_t)number(c, CONFIG_GPUS_WORKERS);
    e->device_failure_limit = (uint32_t)number(c, CONFIG_GPUS_FAILURE_LIMIT);
    e->device_retry_ns = ns(c, CONFIG_GPUS_RETRY_AFTER);
    e->max_pending_jobs = (uint32_t)number(c, CONFIG_DAEMON_MAX_PENDING);
    e->critical_places = (uint32_t)number(c, CONFIG_SCHEDULER_CRITICAL_PLACES);
    e->max_finished = (uint32_t)number(c, CONFIG_SCHEDULER_RESULTS_KEPT);
    e->ageing_ns = ns(c, CONFIG_SCHEDULER_AGEING);
    e->group_by_key = number(c, CONFIG_SCHEDULER_SORT_BY_TYPE) != 0;
    e->key_min_idle_ns = ns(c, CONFIG_MEMORY_EVICTION_MIN_IDLE);
    e->stage_timeout_ns = ns(c, CONFIG_SCHEDULER_STAGE_TIMEOUT);
    e->max_partitions = 256;
}

// --- devices ---

// This build drives no GPU: what names one is refused, never ignored.
static cuzk_status set_devices(daemon_options *o, const config *c, cuzk_error *err) {
    const config_value *backend = &c->values[CONFIG_GPUS_BACKEND], *ordinals = &c->values[CONFIG_GPUS_DEVICES];
    const char *use = text(c, CONFIG_GPUS_USE);
    if (backend->n_list > 0) {
        if (ordinals->n_list > 0)
            return refuse(c, CONFIG_GPUS_DEVICES, err,
                          "gpus.backend names the devices; only one of the two is possible");
        o->service.devices = (const char *const *)backend->list;
        o->service.n_devices = (uint32_t)backend->n_list;
        snprintf(o->devices, sizeof o->devices, "%zu devices by name (gpus.backend)", backend->n_list);
        return CUZK_OK;
    }
    if (ordinals->n_list > 0) {
        char what[128];
        snprintf(what, sizeof what, "there is no GPU %.16s; 0 GPUs were found", ordinals->list[0]);
        return refuse(c, CONFIG_GPUS_DEVICES, err, strcmp(use, "off") == 0 ? "gpus.use is \"off\"" : what);
    }
    if (strcmp(use, "required") == 0) return refuse(c, CONFIG_GPUS_USE, err, "a GPU is required; 0 GPUs were found");
    snprintf(o->devices, sizeof o->devices,
             strcmp(use, "off") == 0 ? "GPUs are off: CPU backend" : "0 GPUs: CPU backend");
    return CUZK_OK;
}

// --- memory ---

// The least that any proof of this configuration takes: its key and one partition. False if nothing is known: no
// parameter file is there yet.
static bool least_need(uint64_t *need, char name[64], const config *c) {
    *need = UINT64_MAX;
    if (number(c, CONFIG_TESTING_TOY_CIRCUITS) != 0) {
        *need = provider_packed_bytes(1024, 1024, 1024);
        snprintf(name, 64, "a toy circuit");
    }
    for (const uint64_t *size = POREP_SECTOR_SIZES; *size != 0; size++) {
        uint64_t key = 0, partition = 0;
        if (provider_porep_need(&key, &partition, text(c, CONFIG_SRS_PARAM_CACHE), *size, NULL) != CUZK_OK) continue;
        if (key + partition >= *need) continue;
        *need = key + partition;
        snprintf(name, 64, "a PoRep of a %s sector", porep_size_name(*size));
    }
    return *need != UINT64_MAX;
}

static cuzk_status set_memory(daemon_options *o, const config *c, cuzk_error *err) {
    const double mib = 1024.0 * 1024.0;
    const memory_budget found = memory_budget_find("");
    const uint64_t reserve = number(c, CONFIG_MEMORY_CRITICAL_RESERVE);
    uint64_t budget = number(c, CONFIG_MEMORY_TOTAL_BUDGET);
    if (!c->values[CONFIG_MEMORY_TOTAL_BUDGET].automatic) {
        snprintf(o->budget, sizeof o->budget, "%.1f MiB, as configured (%s leaves %.1f MiB)", (double)budget / mib,
                 found.source, (double)found.limit / mib);
    } else if (found.bytes == UINT64_MAX) {
        budget = UINT64_MAX;
        snprintf(o->budget, sizeof o->budget, "no limit: nothing can be found out about this machine's memory");
    } else {
        uint64_t margin = number(c, CONFIG_MEMORY_SAFETY_MARGIN);
        if (!is_set(c, CONFIG_MEMORY_SAFETY_MARGIN) && margin > found.limit / 8) margin = found.limit / 8;
        if (margin >= found.limit) {
            char what[160];
            snprintf(what, sizeof what, "%.1f MiB leave nothing of the %.1f MiB that %s gives", (double)margin / mib,
                     (double)found.limit / mib, found.source);
            return refuse(c, CONFIG_MEMORY_SAFETY_MARGIN, err, what);
        }
        budget = found.limit - margin;
        snprintf(o->budget, sizeof o->budget, "%.1f MiB: the %.1f MiB that %s leaves, without a margin of %.1f MiB",
                 (double)budget / mib, (double)found.limit / mib, found.source, (double)margin / mib);
    }
    if (reserve >= budget)
        return refuse(c, CONFIG_MEMORY_CRITICAL_RESERVE, err, "it leaves nothing of the budget to other jobs");
    uint64_t need = 0;
    char name[64];
    if (least_need(&need, name, c) && need > budget) {
        char what[256];
        snprintf(what, sizeof what, "nothing fits into the budget of %.1f MiB: the least, %s, needs %.1f MiB",
                 (double)budget / mib, name, (double)need / mib);
        return refuse(c, CONFIG_MEMORY_TOTAL_BUDGET, err, what);
    }
    o->service.engine.memory_budget = budget;
    o->service.engine.critical_reserve = reserve;
    if (!c->values[CONFIG_MEMORY_MAX_INPUT].automatic) o->service.max_input_bytes = number(c, CONFIG_MEMORY_MAX_INPUT);
    return CUZK_OK;
}

// --- wires ---

static cuzk_status set_wires(daemon_options *o, const config *c, cuzk_error *err) {
    const bool cert = text_or_null(c, CONFIG_DAEMON_TLS_CERT) != NULL,
               key = text_or_null(c, CONFIG_DAEMON_TLS_KEY) != NULL;
    if (cert != key)
        return refuse(c, cert ? CONFIG_DAEMON_TLS_CERT : CONFIG_DAEMON_TLS_KEY, err,
                      "daemon.tls_cert and daemon.tls_key belong together");
    if (text_or_null(c, CONFIG_DAEMON_TLS_CLIENT_CA) != NULL && !cert)
        return refuse(c, CONFIG_DAEMON_TLS_CLIENT_CA, err, "it needs daemon.tls_cert and daemon.tls_key");
    o->listen[0] = text(c, CONFIG_DAEMON_LISTEN);
    o->status_listen = text_or_null(c, CONFIG_DAEMON_STATUS_LISTEN);
    o->max_connections = (uint32_t)number(c, CONFIG_DAEMON_MAX_CONNECTIONS);
    o->rpc = (rpc_server_options){
        .listen = o->listen,
        .n_listen = 1,
        .max_message_bytes = number(c, CONFIG_DAEMON_MAX_MESSAGE),
        .max_connections = (uint32_t)number(c, CONFIG_DAEMON_MAX_CONNECTIONS),
        .tls_cert = text_or_null(c, CONFIG_DAEMON_TLS_CERT),
        .tls_key = text_or_null(c, CONFIG_DAEMON_TLS_KEY),
        .tls_client_ca = text_or_null(c, CONFIG_DAEMON_TLS_CLIENT_CA),
        .cancel_on_disconnect = number(c, CONFIG_DAEMON_CANCEL_ON_DISCONNECT) != 0,
    };
    return CUZK_OK;
}

static key_check key_check_of(const char *word) {
    return strcmp(word, "full") == 0 ? KEY_CHECK_FULL : strcmp(word, "curve") == 0 ? KEY_CHECK_CURVE : KEY_CHECK_ONCE;
}

cuzk_status daemon_options_make(daemon_options *o, const config *c, cuzk_error *err) {
    *o = (daemon_options){
        .shutdown_ms = number(c, CONFIG_DAEMON_SHUTDOWN_TIMEOUT),
        .json_log = strcmp(text(c, CONFIG_LOGGING_FORMAT), "json") == 0,
        .service =
            {
                .engine = runtime_default_config(),
                .threads = (unsigned)number(c, CONFIG_DAEMON_THREADS),
                .device_threads = (unsigned)number(c, CONFIG_GPUS_GPU_THREADS),
                .cpu_fallback = number(c, CONFIG_GPUS_CPU_FALLBACK) != 0,
                .params_dir = text(c, CONFIG_SRS_PARAM_CACHE),
                .pce_dir = text_or_null(c, CONFIG_SRS_PCE_CACHE),
                .key_check = key_check_of(text(c, CONFIG_SRS_CHECK_POINTS)),
                .toy_circuits = number(c, CONFIG_TESTING_TOY_CIRCUITS) != 0,
                .test_blinding = text_or_null(c, CONFIG_TESTING_BLINDING),
                .timeline_path = text_or_null(c, CONFIG_TIMELINE_PATH),
                .timeline_tail = (uint32_t)number(c, CONFIG_TIMELINE_TAIL_LINES),
                .max_message_bytes = number(c, CONFIG_DAEMON_MAX_MESSAGE),
                .job_deadline_ms = number(c, CONFIG_SCHEDULER_JOB_DEADLINE),
                .cancel_on_disconnect = number(c, CONFIG_DAEMON_CANCEL_ON_DISCONNECT) != 0,
            },
    };
    (void)log_level_from_name(&o->level, text(c, CONFIG_LOGGING_LEVEL)); // a choice: it is one
    set_scheduler(&o->service.engine, c);
    cuzk_status s = set_pipeline(o, c, err);
    if (s == CUZK_OK) s = set_devices(o, c, err);
    if (s == CUZK_OK) s = set_memory(o, c, err);
    return s == CUZK_OK ? set_wires(o, c, err) : s;
}
