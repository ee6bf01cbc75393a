// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Making and ending a service, keys by name, drains, the timeline.
#include "service/service.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/provider_porep.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/scrub.h"
#include "service/hide.h"
#include "service/service_internal.h"
#include "service/toys.h"

void service_trouble_note(service *s, const char *job, const char *text) {
    char told[CUZK_ERROR_TEXT_MAX];
    snprintf(told, sizeof told, "%s", text);
    hide_inputs(told);
    pthread_mutex_lock(&s->trouble_lock);
    service_trouble *t = &s->troubles[s->n_troubles++ % SERVICE_ERRORS_KEPT];
    t->at_ns = clock_now_ns();
    snprintf(t->text, sizeof t->text, "%s%s%.150s", job != NULL ? job : "", job != NULL ? ": " : "", told);
    scrub_text(t->text); // the cut may have split a character
    pthread_mutex_unlock(&s->trouble_lock);
    log_write(LOG_WARN, "service", job, "%s", told);
}

static void warned(void *ctx, const char *text) { service_trouble_note(ctx, NULL, text); }

// --- making ---

static void set_budget(service *s) {
    const uint64_t told = s->opt.engine.memory_budget;
    const memory_budget found = memory_budget_find("");
    const double gib = 1024.0 * 1024.0 * 1024.0;
    if (told == 0) {
        s->opt.engine.memory_budget = found.bytes;
        log_write(LOG_INFO, "service", NULL, "memory budget %.3f GiB: seven eighths of the %.3f GiB that %s leaves",
                  (double)found.bytes / gib, (double)found.limit / gib, found.source);
    } else if (told == UINT64_MAX) {
        log_write(LOG_INFO, "service", NULL, "memory budget: no limit");
    } else {
        log_write(LOG_INFO, "service", NULL, "memory budget %.3f GiB, as configured", (double)told / gib);
        if (told > found.limit)
            log_write(LOG_WARN, "service", NULL, "the memory budget is more than the %.3f GiB that %s leaves",
                      (double)found.limit / gib, found.source);
    }
    s->budget = s->opt.engine.memory_budget;
    s->budget_shown = s->budget == UINT64_MAX ? found.limit : s->budget;
    s->max_message = s->opt.max_message_bytes != 0 ? s->opt.max_message_bytes : UINT64_C(256) << 20;
    s->max_input = s->opt.max_input_bytes != 0 ? s->opt.max_input_bytes : s->budget_shown / 4;
}

static cuzk_status open_timeline(service *s, cuzk_error *err) {
    recorder_options o = RECORDER_OPTIONS;
    o.version = CUZK_VERSION;
    o.path = s->opt.timeline_path;
    o.tail_lines = s->opt.timeline_tail != 0 ? s->opt.timeline_tail : 65536;
    cuzk_error why;
    if (o.path != NULL && recorder_create(&s->rec, &o, &why) != CUZK_OK)
        log_write(LOG_WARN, "service", NULL, "the timeline is kept in memory alone: %s", why.text);
    o.path = NULL;
    return s->rec != NULL ? CUZK_OK : recorder_create(&s->rec, &o, err);
}

static cuzk_status open_devices(service *s, unsigned threads, cuzk_error *err) {
    static const char *const CPU[] = {"cpu"};
    const char *const *names = s->opt.n_devices != 0 ? s->opt.devices : CPU;
    const uint32_t n = s->opt.n_devices != 0 ? s->opt.n_devices : 1;
    // All compute on this machine's processors, so they share the threads.
    const unsigned each = threads / n != 0 ? threads / n : 1;
    s->devices = mem_calloc(MEM_MISC, (size_t)n + 1, sizeof(device *));
    if (s->devices == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %" PRIu32 " devices", n);
    for (uint32_t i = 0; i < n; i++) {
        cuzk_status st = service_device_open(&s->devices[i], &s->device_plans, names[i], each, err);
        if (st != CUZK_OK) return st;
        s->n_devices = i + 1;
        log_write(LOG_INFO, "service", NULL, "device %" PRIu32 ": %s, %u threads", i, names[i], each);
    }
    if (!s->opt.cpu_fallback) return CUZK_OK;
    // All threads are its own: it works while the others cannot.
    cuzk_status st = device_open_cpu(&s->devices[n], threads, err);
    if (st != CUZK_OK) return st;
    s->n_devices = n + 1;
    s->opt.engine.fallback_devices = 1;
    log_write(LOG_INFO, "service", NULL, "device %" PRIu32 ": cpu, %u threads, for what the others cannot prove", n,
              threads);
    return CUZK_OK;
}

static cuzk_status start_runtime(service *s, const runtime_threads *threads, cuzk_error *err) {
    const provider *providers[2];
    uint32_t n = 0;
    if (s->porep != NULL) providers[n++] = s->porep;
    if (s->toys != NULL) providers[n++] = s->toys;
    if (n == 0) return cuzk_fail(err, CUZK_ERR_USAGE, "no folder with parameters is given, so nothing can be proven");
    memcpy(s->providers, providers, n * sizeof providers[0]);
    const runtime_options o = {
        .engine = s->opt.engine,
        .devices = s->devices,
        .n_devices = s->n_devices,
        .providers = s->providers,
        .n_providers = n,
        .threads = threads->total,
        .synthesis_threads = threads->synthesis,
        .key_threads = threads->total,
        .rec = s->rec,
        .test_blinding = s->test_blinding,
        .warn = warned,
        .warn_ctx = s,
    };
    return runtime_create(&s->rt, &o, err);
}

static cuzk_status make_providers(service *s, cuzk_error *err) {
    cuzk_status st = pce_cache_create(&s->programs, s->opt.pce_dir, err);
    if (st == CUZK_OK) pce_cache_on_complaint(s->programs, warned, s);
    if (st == CUZK_OK && s->opt.params_dir != NULL) {
        const provider_porep_options o = {
            .params_dir = s->opt.params_dir, .check = s->opt.key_check, .programs = s->programs};
        st = provider_porep_create(&s->porep, &o, err);
    }
    if (st == CUZK_OK && s->opt.toy_circuits) {
        log_write(LOG_WARN, "service", NULL, "toy circuits are allowed: their proofs show nothing to anybody");
        st = toys_create(&s->toys, s->programs, err);
    }
    return st;
}

// *out stays NULL where there is nothing to keep.
static cuzk_status keep(char **out, const char *text, cuzk_error *err) {
    if (text == NULL) return CUZK_OK;
    const size_t len = strlen(text) + 1;
    *out = mem_alloc(MEM_MISC, len, 1);
    if (*out == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a service");
    memcpy(*out, text, len);
    return CUZK_OK;
}

void service_check_insecure(service *s) {
    insecure_reasons before, now;
    insecure_find(&now, s->params_dir, s->test_blinding != NULL);
    pthread_mutex_lock(&s->trouble_lock);
    before = s->insecure;
    s->insecure = now;
    pthread_mutex_unlock(&s->trouble_lock);
    for (size_t i = 0; i < now.n; i++) {
        size_t k = 0;
        while (k < before.n && strcmp(before.text[k], now.text[i]) != 0) k++;
        if (k == before.n) log_write(LOG_WARN, "service", NULL, "INSECURE: %s", now.text[i]);
    }
}

cuzk_status service_create(service **out, const service_options *options, cuzk_error *err) {
    *out = NULL;
    service *s = mem_calloc(MEM_MISC, 1, sizeof *s);
    if (s == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a service");
    s->opt = *options;
    s->started_ns = clock_now_ns();
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->trouble_lock, NULL);
    pthread_cond_init(&s->called, NULL);
    set_budget(s);
    // More than the engine remembers: it forgets later than it replies, when a job's last unit is gone.
    const engine_config *c = &s->opt.engine;
    s->max_terminal = c->max_finished + c->max_pending_jobs + c->critical_places + 1;
    runtime_threads threads = runtime_split_threads(options->threads, options->synthesis_threads);
    if (options->device_threads != 0) threads.device = options->device_threads;
    log_write(LOG_INFO, "service", NULL, "threads: %u in all, %u for synthesis, %u for devices", threads.total,
              threads.synthesis, threads.device);
    cuzk_status st = keep(&s->params_dir, s->opt.params_dir, err);
    if (st == CUZK_OK) st = keep(&s->test_blinding, s->opt.test_blinding, err);
    service_check_insecure(s);
    if (st == CUZK_OK) st = timers_create(&s->timers, err);
    if (st == CUZK_OK) st = open_timeline(s, err);
    if (st == CUZK_OK) st = make_providers(s, err);
    if (st == CUZK_OK) st = open_devices(s, threads.device, err);
    if (st == CUZK_OK) st = start_runtime(s, &threads, err);
    if (st != CUZK_OK) {
        service_destroy(&s);
        return st;
    }
    *out = s;
    return CUZK_OK;
}

void service_destroy(service **ps) {
    while (!service_try_destroy(ps, UINT64_MAX)) {
    }
}

bool service_try_destroy(service **ps, uint64_t timeout_ms) {
    service *s = *ps;
    if (s == NULL) return true;
    atomic_store(&s->draining, true);
    // Every job ends, and those who wait hear of it.
    if (!runtime_try_destroy(&s->rt, timeout_ms > UINT64_MAX / 1000000 ? UINT64_MAX : timeout_ms * 1000000))
        return false;
    *ps = NULL;
    timers_destroy(&s->timers);
    jobs_free(s);
    provider_porep_destroy(&s->porep);
    toys_destroy(&s->toys);
    pce_cache_destroy(&s->programs);
    for (uint32_t i = 0; i < s->n_devices; i++) device_close(&s->devices[i]);
    mem_free(s->devices);
    service_device_plans_free(&s->device_plans);
    cuzk_error why;
    if (s->rec != NULL && recorder_close(&s->rec, &why) != CUZK_OK)
        log_write(LOG_WARN, "service", NULL, "timeline: %s", why.text);
    mem_free(s->params_dir);
    mem_free(s->test_blinding);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->trouble_lock);
    pthread_cond_destroy(&s->called);
    mem_free(s);
    return true;
}

// --- draining ---

bool service_draining(const service *s) { return atomic_load(&s->draining); }

bool service_drain(service *s, uint64_t timeout_ms) {
    if (!atomic_exchange(&s->draining, true)) log_write(LOG_INFO, "service", NULL, "no more requests are accepted");
    return runtime_drain(s->rt, timeout_ms > UINT64_MAX / 1000000 ? UINT64_MAX : timeout_ms * 1000000);
}

// --- keys ---

service_code service_preload(service *s, const char *circuit_id, bool *already_loaded, uint64_t *load_ms,
                             service_error *err) {
    cuzk_error why;
    uint64_t ns = 0;
    *load_ms = 0;
    *already_loaded = false;
    const cuzk_status st = runtime_preload_named(s->rt, circuit_id, already_loaded, &ns, &why);
    *load_ms = ns == 0 ? 0 : ns < 1000000 ? 1 : ns / 1000000; // 0 is for "was there"
    if (st == CUZK_OK) {
        service_check_insecure(s);
        log_write(LOG_INFO, "service", NULL, "key %s: %s, %.3f s", circuit_id, *already_loaded ? "was there" : "loaded",
                  (double)ns / 1e9);
        return SERVICE_OK;
    }
    switch (st) {
    case CUZK_ERR_INPUT: return service_fail(err, SERVICE_INVALID_ARGUMENT, "circuit_id: %s", why.text);
    case CUZK_ERR_MEMORY: return service_fail(err, SERVICE_RESOURCE_EXHAUSTED, "%s", why.text);
    case CUZK_ERR_CANCELLED: return service_fail(err, SERVICE_UNAVAILABLE, "%s", why.text);
    case CUZK_ERR_INTERNAL: return service_fail(err, SERVICE_INTERNAL, "%s", why.text);
    default: return service_fail(err, SERVICE_FAILED_PRECONDITION, "%s", why.text); // files missing or damaged
    }
}

service_code service_evict(service *s, const char *circuit_id, bool *was_loaded, uint64_t *freed_bytes,
                           service_error *err) {
    cuzk_error why;
    engine_reason reason;
    const cuzk_status st = runtime_evict_named(s->rt, circuit_id, was_loaded, freed_bytes, &reason, &why);
    if (st == CUZK_OK) {
        log_write(LOG_INFO, "service", NULL, "key %s: %s", circuit_id, *was_loaded ? "freed" : "was not loaded");
        return SERVICE_OK;
    }
    if (reason == ENGINE_NOT_FOUND) return service_fail(err, SERVICE_INVALID_ARGUMENT, "circuit_id: %s", why.text);
    return service_fail(err, SERVICE_FAILED_PRECONDITION, "%s", why.text);
}

// --- the timeline ---

size_t service_timeline_since(service *s, char *out, uint64_t *seq, uint64_t *lost, size_t cap) {
    return recorder_since(s->rec, out, seq, lost, cap);
}

recorder_stats service_timeline_stats(service *s) { return recorder_stats_of(s->rec); }
