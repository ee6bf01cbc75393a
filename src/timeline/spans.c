// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Pairing: one pass over the sorted events of a run.
#include "timeline/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/pair.h"

// What the pass carries along.
typedef struct pairing {
    timeline_spans *out;
    const timeline_log *log;
    size_t cap_spans, cap_units, cap_jobs, cap_devices;
    uint32_t *job_of;      // by name: index in jobs + 1, 0: none yet
    pair_map unit_of;      // (job, partition) -> newest unit
    pair_map worker_unit;  // (job, device worker) -> unit it took last
    pair_map on_worker;    // (device, device worker) -> unit it runs or ran
    pair_map synth_worker; // (synthesis worker) -> unit it works or worked on
    pair_map open;         // other spans: (kind, job, partition; name, device, worker) -> span
    pair_map worker_gpu;   // worker -> gpu= it was named with
    pair_map device_of;    // gpu= -> index in devices, while unsorted
    bool ok;
} pairing;

static void odd(pairing *p, timeline_oddity what, const timeline_event *e) {
    if (p->out->odd[what]++ == 0) p->out->odd_line[what] = e->line;
}

static pair_key key2(uint64_t a, uint64_t b) { return (pair_key){a, b}; }

static timeline_job *job_of(pairing *p, uint32_t name) {
    timeline_spans *o = p->out;
    if (p->job_of[name] != 0) return &o->jobs[p->job_of[name] - 1];
    if (!pair_grow((void **)&o->jobs, &p->cap_jobs, o->n_jobs, sizeof *o->jobs)) {
        p->ok = false;
        return NULL;
    }
    timeline_job *j = &o->jobs[o->n_jobs++];
    *j = (timeline_job){.name = name,
                        .submit = TIMELINE_NONE,
                        .end = TIMELINE_NONE,
                        .end_kind = TL_KINDS,
                        .partitions = -1,
                        .first_unit = TIMELINE_NO_INDEX,
                        .last_unit = TIMELINE_NO_INDEX,
                        .await = {TIMELINE_NO_INDEX, TIMELINE_NO_INDEX, TIMELINE_NO_INDEX}};
    p->job_of[name] = (uint32_t)o->n_jobs;
    return j;
}

static uint32_t new_unit(pairing *p, timeline_job *j, int32_t partition) {
    timeline_spans *o = p->out;
    if (!pair_grow((void **)&o->units, &p->cap_units, o->n_units, sizeof *o->units)) {
        p->ok = false;
        return TIMELINE_NO_INDEX;
    }
    uint32_t at = (uint32_t)o->n_units++;
    o->units[at] = (timeline_unit){.job = j->name,
                                   .partition = partition,
                                   .count = -1,
                                   .gpu = -1,
                                   .gpu_worker = -1,
                                   .synth_worker = -1,
                                   .synth_start = TIMELINE_NONE,
                                   .synth_end = TIMELINE_NONE,
                                   .channel = TIMELINE_NONE,
                                   .pickup = TIMELINE_NONE,
                                   .gpu_start = TIMELINE_NONE,
                                   .gpu_end = TIMELINE_NONE,
                                   .synth_over = TIMELINE_NONE,
                                   .gpu_over = TIMELINE_NONE,
                                   .mem_from = TIMELINE_NONE,
                                   .mem_to = TIMELINE_NONE,
                                   .next_of_job = TIMELINE_NO_INDEX};
    if (j->first_unit == TIMELINE_NO_INDEX) {
        j->first_unit = at;
        for (int k = 0; k < 3; k++) j->await[k] = at;
    } else {
        o->units[j->last_unit].next_of_job = at;
        for (int k = 0; k < 3; k++)
            if (j->await[k] == TIMELINE_NO_INDEX) j->await[k] = at;
    }
    j->last_unit = at;
    if (!pair_map_put(&p->unit_of, key2(j->name, (uint32_t)partition), at)) p->ok = false;
    return at;
}

// The time of the step that `kind` starts, by which a cursor of a job moves on.
static int64_t step_time(const timeline_unit *u, int step) {
    return step == 0 ? u->channel : step == 1 ? u->pickup : u->gpu_start;
}

// The unit an event is about: the newest of its partition. An event without a partition of a job that has units by
// partition is about the unit its worker took last, else about the oldest unit that lacks this step. New if none.
static uint32_t unit_for(pairing *p, timeline_job *j, const timeline_event *e, int step) {
    uint32_t u = pair_map_get(&p->unit_of, key2(j->name, (uint32_t)e->partition));
    if (u != TIMELINE_NO_INDEX) return u;
    if (e->partition < 0 && j->first_unit != TIMELINE_NO_INDEX && step >= 0) {
        if (step >= 2 && e->worker >= 0) {
            u = pair_map_get(&p->worker_unit, key2(j->name, (uint32_t)e->worker));
            if (u != TIMELINE_NO_INDEX) return u;
        }
        if (step > 2) return j->last_unit; // an end of whatever ran last
        while (j->await[step] != TIMELINE_NO_INDEX && step_time(&p->out->units[j->await[step]], step) != TIMELINE_NONE)
            j->await[step] = p->out->units[j->await[step]].next_of_job;
        if (j->await[step] != TIMELINE_NO_INDEX) return j->await[step];
    }
    return new_unit(p, j, e->partition);
}

static void note_device(pairing *p, int32_t id, const timeline_event *e) {
    timeline_spans *o = p->out;
    uint32_t at = pair_map_get(&p->device_of, key2((uint32_t)id, 0));
    if (at == TIMELINE_NO_INDEX) {
        if (!pair_grow((void **)&o->devices, &p->cap_devices, o->n_devices, sizeof *o->devices) ||
            !pair_map_put(&p->device_of, key2((uint32_t)id, 0), (uint32_t)o->n_devices)) {
            p->ok = false;
            return;
        }
        at = (uint32_t)o->n_devices++;
        o->devices[at] = (timeline_device){.id = id};
    }
    if (e->kind == TL_DEVICE) {
        o->devices[at].configured = true;
        o->devices[at].unhealthy = strcmp(timeline_name(&p->log->names, e->name), "unhealthy") == 0;
    }
}

// A unit with `partition` and `count` set from an event.
static void note_unit(timeline_unit *u, const timeline_event *e) {
    if (e->count >= 0) u->count = e->count;
}

// The step was there already: the same row again, or the partition is tried again.
static uint32_t again(pairing *p, timeline_job *j, const timeline_event *e, const timeline_unit *u, int64_t before) {
    if (before == e->at_us) {
        odd(p, ODD_DUPLICATE, e);
        return TIMELINE_NO_INDEX;
    }
    uint32_t at = new_unit(p, j, u->partition);
    if (at != TIMELINE_NO_INDEX) p->out->units[at].flags |= UNIT_AGAIN;
    return at;
}

static void on_synth_start(pairing *p, timeline_job *j, const timeline_event *e) {
    uint32_t at = unit_for(p, j, e, -1);
    if (at == TIMELINE_NO_INDEX) return;
    timeline_unit *u = &p->out->units[at];
    if (u->synth_start != TIMELINE_NONE || u->synth_end != TIMELINE_NONE || u->gpu_start != TIMELINE_NONE) {
        at = again(p, j, e, u, u->synth_start);
        if (at == TIMELINE_NO_INDEX) return;
        u = &p->out->units[at];
    }
    u->synth_start = e->at_us;
    u->synth_worker = e->worker;
    note_unit(u, e);
    if (e->worker >= 0) {
        // A worker synthesises one unit at a time: what it worked on before is over.
        uint32_t before = pair_map_get(&p->synth_worker, key2((uint32_t)e->worker, 0));
        if (before != TIMELINE_NO_INDEX && before != at && p->out->units[before].synth_over == TIMELINE_NONE)
            p->out->units[before].synth_over = e->at_us;
        if (!pair_map_put(&p->synth_worker, key2((uint32_t)e->worker, 0), at)) p->ok = false;
    }
}

static void on_synth_end(pairing *p, timeline_job *j, const timeline_event *e) {
    uint32_t at = pair_map_get(&p->unit_of, key2(j->name, (uint32_t)e->partition));
    if (at == TIMELINE_NO_INDEX) at = new_unit(p, j, e->partition);
    if (at == TIMELINE_NO_INDEX) return;
    timeline_unit *u = &p->out->units[at];
    if (u->synth_end != TIMELINE_NONE) {
        odd(p, u->synth_end == e->at_us ? ODD_DUPLICATE : ODD_SYNTH_NO_START, e);
        return;
    }
    u->synth_end = e->at_us;
    if (u->synth_start == TIMELINE_NONE) {
        odd(p, ODD_SYNTH_NO_START, e);
        if (e->value != UINT64_MAX && (int64_t)e->value <= e->at_us) {
            u->synth_start = e->at_us - (int64_t)e->value;
            u->flags |= UNIT_SYNTH_GUESSED;
        }
    }
    note_unit(u, e);
}

static void on_channel(pairing *p, timeline_job *j, const timeline_event *e) {
    uint32_t at = unit_for(p, j, e, 0);
    if (at == TIMELINE_NO_INDEX) return;
    timeline_unit *u = &p->out->units[at];
    if (u->channel != TIMELINE_NONE) {
        at = again(p, j, e, u, u->channel);
        if (at == TIMELINE_NO_INDEX) return;
        u = &p->out->units[at];
    }
    u->channel = e->at_us;
    if (u->synth_over == TIMELINE_NONE) u->synth_over = e->at_us;
    note_unit(u, e);
}

static void on_pickup(pairing *p, timeline_job *j, const timeline_event *e) {
    uint32_t at = unit_for(p, j, e, 1);
    if (at == TIMELINE_NO_INDEX) return;
    timeline_unit *u = &p->out->units[at];
    if (u->pickup != TIMELINE_NONE) {
        at = again(p, j, e, u, u->pickup);
        if (at == TIMELINE_NO_INDEX) return;
        u = &p->out->units[at];
    }
    u->pickup = e->at_us;
    if (u->gpu < 0) u->gpu = e->gpu;
    if (u->gpu_worker < 0) u->gpu_worker = e->worker;
    if (u->synth_over == TIMELINE_NONE) u->synth_over = e->at_us;
    note_unit(u, e);
    if (e->worker >= 0 && !pair_map_put(&p->worker_unit, key2(j->name, (uint32_t)e->worker), at)) p->ok = false;
}

static void on_gpu_start(pairing *p, timeline_job *j, const timeline_event *e) {
    uint32_t at = unit_for(p, j, e, 2);
    if (at == TIMELINE_NO_INDEX) return;
    timeline_unit *u = &p->out->units[at];
    if (u->gpu_start != TIMELINE_NONE) {
        at = again(p, j, e, u, u->gpu_start);
        if (at == TIMELINE_NO_INDEX) return;
        u = &p->out->units[at];
    }
    u->gpu_start = e->at_us;
    if (e->gpu >= 0) u->gpu = e->gpu;
    if (e->worker >= 0) u->gpu_worker = e->worker;
    if (u->synth_over == TIMELINE_NONE) u->synth_over = e->at_us;
    note_unit(u, e);
    if (e->worker >= 0) {
        // A device worker runs one unit at a time: what it ran before is over, should its GPU_END be missing.
        pair_key w = key2((uint32_t)e->worker, (uint32_t)e->gpu);
        uint32_t before = pair_map_get(&p->on_worker, w);
        if (before != TIMELINE_NO_INDEX && before != at && p->out->units[before].gpu_over == TIMELINE_NONE)
            p->out->units[before].gpu_over = e->at_us;
        if (!pair_map_put(&p->on_worker, w, at) ||
            !pair_map_put(&p->worker_unit, key2(j->name, (uint32_t)e->worker), at))
            p->ok = false;
    }
}

static void on_gpu_end(pairing *p, timeline_job *j, const timeline_event *e) {
    uint32_t at = unit_for(p, j, e, 3);
    if (at == TIMELINE_NO_INDEX) return;
    timeline_unit *u = &p->out->units[at];
    if (u->gpu_end != TIMELINE_NONE) {
        odd(p, u->gpu_end == e->at_us ? ODD_DUPLICATE : ODD_GPU_NO_START, e);
        return;
    }
    u->gpu_end = e->at_us;
    if (u->gpu < 0) u->gpu = e->gpu;
    if (u->gpu_worker < 0) u->gpu_worker = e->worker;
    if (u->gpu_start == TIMELINE_NONE) {
        odd(p, ODD_GPU_NO_START, e);
        if (e->value != UINT64_MAX && (int64_t)e->value <= e->at_us) {
            u->gpu_start = e->at_us - (int64_t)e->value;
            u->flags |= UNIT_GPU_GUESSED;
        }
    }
    note_unit(u, e);
}

// The job is over: so is everything of it that has no END.
static void on_job_end(pairing *p, timeline_job *j, const timeline_event *e) {
    if (j->end != TIMELINE_NONE) {
        odd(p, ODD_DUPLICATE, e);
        return;
    }
    j->end = e->at_us;
    j->end_kind = e->kind;
    for (uint32_t at = j->first_unit; at != TIMELINE_NO_INDEX; at = p->out->units[at].next_of_job) {
        timeline_unit *u = &p->out->units[at];
        if (u->synth_end == TIMELINE_NONE && u->synth_over == TIMELINE_NONE) u->synth_over = e->at_us;
        if (u->gpu_end == TIMELINE_NONE && u->gpu_over == TIMELINE_NONE) u->gpu_over = e->at_us;
        // The public daemon writes GPU_END on success only.
        if (e->kind != TL_JOB_DONE) u->flags |= UNIT_CUT_OFF;
    }
}

// --- the other spans ---

static pair_key span_key(const timeline_event *e, timeline_span_kind kind) {
    uint64_t who = (uint64_t)kind << 58 ^ (uint64_t)e->job << 26 ^ (uint32_t)(e->partition + 1);
    return key2(who, (uint64_t)e->name << 32 ^ (uint64_t)(uint32_t)(e->gpu + 1) << 17 ^ (uint32_t)(e->worker + 1));
}

static timeline_span *new_span(pairing *p) {
    timeline_spans *o = p->out;
    if (!pair_grow((void **)&o->spans, &p->cap_spans, o->n_spans, sizeof *o->spans)) {
        p->ok = false;
        return NULL;
    }
    return &o->spans[o->n_spans++];
}

static void on_other_start(pairing *p, const timeline_event *e, timeline_span_kind kind) {
    uint32_t before = pair_map_get(&p->open, span_key(e, kind));
    if (before != TIMELINE_NO_INDEX) {
        timeline_span *s = &p->out->spans[before];
        if (s->start_us == e->at_us && s->end_us == TIMELINE_NONE) {
            odd(p, ODD_DUPLICATE, e);
            return;
        }
        if (s->end_us == TIMELINE_NONE) { // the same thing again: the first is over
            odd(p, ODD_OTHER_OPEN, e);
            s->end_us = e->at_us;
            s->flags |= SPAN_NO_END;
        }
    }
    uint32_t at = (uint32_t)p->out->n_spans;
    timeline_span *s = new_span(p);
    if (s == NULL) return;
    *s = (timeline_span){.start_us = e->at_us,
                         .end_us = TIMELINE_NONE,
                         .job = e->job,
                         .name = e->name,
                         .unit = TIMELINE_NO_INDEX,
                         .device = e->gpu, // an index after resolve_devices
                         .worker = e->worker,
                         .partition = e->partition,
                         .kind = (uint8_t)kind};
    if (!pair_map_put(&p->open, span_key(e, kind), at)) p->ok = false;
}

static void on_other_end(pairing *p, const timeline_event *e, timeline_span_kind kind) {
    uint32_t at = pair_map_get(&p->open, span_key(e, kind));
    if (at == TIMELINE_NO_INDEX) {
        odd(p, ODD_OTHER_NO_START, e);
        return;
    }
    timeline_span *s = &p->out->spans[at];
    if (s->end_us != TIMELINE_NONE) {
        odd(p, s->end_us == e->at_us ? ODD_DUPLICATE : ODD_OTHER_NO_START, e);
        return;
    }
    s->end_us = e->at_us;
    if (kind == SPAN_MEM_WAIT && e->job != TIMELINE_NO_NAME) {
        timeline_job *j = job_of(p, e->job);
        uint32_t u = j == NULL ? TIMELINE_NO_INDEX : pair_map_get(&p->unit_of, key2(j->name, (uint32_t)e->partition));
        if (j != NULL && (u == TIMELINE_NO_INDEX || p->out->units[u].mem_from != TIMELINE_NONE))
            u = new_unit(p, j, e->partition);
        if (u != TIMELINE_NO_INDEX) {
            p->out->units[u].mem_from = s->start_us;
            p->out->units[u].mem_to = s->end_us;
        }
    }
}

// --- the pass ---

static void on_event(pairing *p, const timeline_event *e) {
    timeline_spans *o = p->out;
    timeline_kind k = (timeline_kind)e->kind;
    if (e->gpu >= 0) {
        note_device(p, e->gpu, e);
        bool device_event = k == TL_GPU_PICKUP || k == TL_GPU_START || k == TL_GPU_END;
        if (device_event && e->worker >= 0 &&
            !pair_map_put(&p->worker_gpu, key2((uint32_t)e->worker, 0), (uint32_t)e->gpu))
            p->ok = false;
    }
    // The window is that of work: headers, device states and a drain do not widen it.
    if (k != TL_EPOCH && k != TL_DEVICE && k != TL_DRAIN && k != TL_DROP && k != TL_SRS_EVICT && k != TL_UNKNOWN) {
        if (o->from == TIMELINE_NONE) o->from = e->at_us;
        o->to = e->at_us;
    }
    switch (k) {
    case TL_SRS_LOAD_START: on_other_start(p, e, SPAN_SRS_LOAD); return;
    case TL_SRS_LOAD_END: on_other_end(p, e, SPAN_SRS_LOAD); return;
    case TL_PCE_START: on_other_start(p, e, SPAN_PCE); return;
    case TL_PCE_END: on_other_end(p, e, SPAN_PCE); return;
    case TL_STAGE_START: on_other_start(p, e, SPAN_STAGE); return;
    case TL_STAGE_END: on_other_end(p, e, SPAN_STAGE); return;
    case TL_VERIFY_START: on_other_start(p, e, SPAN_VERIFY); return;
    case TL_VERIFY_END: on_other_end(p, e, SPAN_VERIFY); return;
    case TL_MEM_WAIT_START: on_other_start(p, e, SPAN_MEM_WAIT); return;
    case TL_MEM_WAIT_END: on_other_end(p, e, SPAN_MEM_WAIT); return;
    case TL_DRAIN:
        if (o->drain == TIMELINE_NONE) o->drain = e->at_us;
        return;
    case TL_DROP:
        if (o->odd[ODD_DROPS] == 0) o->odd_line[ODD_DROPS] = e->line;
        o->odd[ODD_DROPS] += e->value == UINT64_MAX ? 1 : e->value;
        return;
    case TL_EPOCH:
    case TL_DEVICE:
    case TL_SRS_EVICT:
    case TL_RETRY:
    case TL_UNKNOWN: return;
    default: break;
    }
    if (e->job == TIMELINE_NO_NAME) {
        odd(p, ODD_NO_JOB, e);
        return;
    }
    timeline_job *j = job_of(p, e->job);
    if (j == NULL) return;
    switch (k) {
    case TL_JOB_SUBMIT:
        if (j->submit != TIMELINE_NONE) {
            odd(p, ODD_DUPLICATE, e);
        } else {
            j->submit = e->at_us;
            o->has_submits = true;
            if (e->count >= 0) j->partitions = e->count;
        }
        break;
    case TL_JOB_DONE:
    case TL_JOB_FAIL:
    case TL_JOB_CANCEL: on_job_end(p, j, e); break;
    case TL_SYNTH_START: on_synth_start(p, j, e); break;
    case TL_SYNTH_END: on_synth_end(p, j, e); break;
    case TL_CHAN_SEND: on_channel(p, j, e); break;
    case TL_GPU_PICKUP: on_pickup(p, j, e); break;
    case TL_GPU_START: on_gpu_start(p, j, e); break;
    case TL_GPU_END: on_gpu_end(p, j, e); break;
    default: break;
    }
}

// --- afterwards ---

static int by_id(const void *a, const void *b) {
    return ((const timeline_device *)a)->id - ((const timeline_device *)b)->id;
}

static int32_t index_of_device(const timeline_spans *o, int32_t id) {
    size_t lo = 0, hi = o->n_devices;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (o->devices[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < o->n_devices && o->devices[lo].id == id ? (int32_t)lo : -1;
}

// From gpu= as written to indices. A run that names a worker only is on the device that worker was seen with, or on
// the only device, or on the first one (0 if there is none).
static void resolve_devices(pairing *p) {
    timeline_spans *o = p->out;
    bool unnamed = false;
    for (size_t i = 0; i < o->n_units; i++)
        unnamed |=
            o->units[i].gpu < 0 && (o->units[i].gpu_start != TIMELINE_NONE || o->units[i].gpu_end != TIMELINE_NONE);
    static const timeline_event none = {.kind = TL_GPU_START};
    if (o->n_devices == 0 && unnamed) note_device(p, 0, &none);
    if (!p->ok) return;
    if (o->n_devices > 0) qsort(o->devices, o->n_devices, sizeof *o->devices, by_id);
    for (size_t i = 0; i < o->n_units; i++) {
        timeline_unit *u = &o->units[i];
        if (u->gpu < 0 && (u->gpu_start != TIMELINE_NONE || u->gpu_end != TIMELINE_NONE)) {
            uint32_t gpu = TIMELINE_NO_INDEX;
            if (u->gpu_worker >= 0) gpu = pair_map_get(&p->worker_gpu, key2((uint32_t)u->gpu_worker, 0));
            if (gpu == TIMELINE_NO_INDEX) {
                gpu = (uint32_t)o->devices[0].id;
                if (o->n_devices > 1) o->odd[ODD_DEVICE]++;
            }
            u->gpu = (int32_t)gpu;
        }
        u->gpu = u->gpu < 0 ? -1 : index_of_device(o, u->gpu);
    }
    for (size_t i = 0; i < o->n_spans; i++)
        o->spans[i].device = o->spans[i].device < 0 ? -1 : index_of_device(o, o->spans[i].device);
}

int64_t timeline_unit_synth_end(const timeline_unit *u, int64_t to) {
    return u->synth_end != TIMELINE_NONE ? u->synth_end : u->synth_over != TIMELINE_NONE ? u->synth_over : to;
}
int64_t timeline_unit_gpu_end(const timeline_unit *u, int64_t to) {
    return u->gpu_end != TIMELINE_NONE ? u->gpu_end : u->gpu_over != TIMELINE_NONE ? u->gpu_over : to;
}

static void add_unit_span(pairing *p, uint32_t at, timeline_span_kind kind, int64_t from, int64_t to, uint8_t flags) {
    timeline_span *s = new_span(p);
    if (s == NULL) return;
    const timeline_unit *u = &p->out->units[at];
    if (to < from) { // cannot come from sorted rows; from durations it can
        p->out->odd[ODD_NEGATIVE]++;
        to = from;
    }
    *s = (timeline_span){.start_us = from,
                         .end_us = to,
                         .job = u->job,
                         .name = TIMELINE_NO_NAME,
                         .unit = at,
                         .device = kind == SPAN_GPU ? u->gpu : -1,
                         .worker = kind == SPAN_GPU     ? u->gpu_worker
                                   : kind == SPAN_SYNTH ? u->synth_worker
                                                        : -1,
                         .partition = u->partition,
                         .kind = (uint8_t)kind,
                         .flags = flags};
}

static void close_and_collect(pairing *p) {
    timeline_spans *o = p->out;
    for (size_t i = 0; i < o->n_spans; i++) {
        timeline_span *s = &o->spans[i];
        if (s->end_us != TIMELINE_NONE) continue;
        s->end_us = o->to > s->start_us ? o->to : s->start_us;
        s->flags |= SPAN_NO_END;
        o->odd[ODD_OTHER_OPEN]++;
    }
    for (uint32_t i = 0; i < o->n_units && p->ok; i++) {
        const timeline_unit *u = &o->units[i];
        uint8_t cut = u->flags & UNIT_CUT_OFF ? SPAN_CUT_OFF : 0;
        if (u->synth_start != TIMELINE_NONE) {
            bool open = u->synth_end == TIMELINE_NONE;
            if (open && !cut) o->odd[ODD_SYNTH_OPEN]++;
            add_unit_span(
                p, i, SPAN_SYNTH, u->synth_start, timeline_unit_synth_end(u, o->to),
                (uint8_t)((open ? SPAN_NO_END | cut : 0) | (u->flags & UNIT_SYNTH_GUESSED ? SPAN_NO_START : 0)));
        }
        int64_t ready = u->channel != TIMELINE_NONE ? u->channel : u->synth_end;
        int64_t taken = u->pickup != TIMELINE_NONE ? u->pickup : u->gpu_start;
        if (ready != TIMELINE_NONE && (taken != TIMELINE_NONE || u->channel != TIMELINE_NONE)) {
            int64_t over = u->gpu_over != TIMELINE_NONE ? u->gpu_over : o->to;
            if (taken == TIMELINE_NONE) taken = over;
            if (taken > ready) add_unit_span(p, i, SPAN_CHANNEL, ready, taken, 0);
        }
        if (u->gpu_start != TIMELINE_NONE) {
            bool open = u->gpu_end == TIMELINE_NONE;
            if (open && !cut) o->odd[ODD_GPU_OPEN]++;
            add_unit_span(
                p, i, SPAN_GPU, u->gpu_start, timeline_unit_gpu_end(u, o->to),
                (uint8_t)((open ? SPAN_NO_END | cut : 0) | (u->flags & UNIT_GPU_GUESSED ? SPAN_NO_START : 0)));
        }
    }
}

static int by_start(const void *a, const void *b) {
    const timeline_span *x = a, *y = b;
    if (x->start_us != y->start_us) return x->start_us < y->start_us ? -1 : 1;
    if (x->end_us != y->end_us) return x->end_us > y->end_us ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

cuzk_status timeline_spans_pair(timeline_spans *out, const timeline_log *log, const uint32_t *order, size_t n,
                                cuzk_error *err) {
    *out = (timeline_spans){.from = TIMELINE_NONE, .to = TIMELINE_NONE, .drain = TIMELINE_NONE};
    pairing p = {.out = out, .log = log, .ok = true};
    p.job_of = mem_calloc(MEM_MISC, log->names.n, sizeof *p.job_of);
    p.ok = p.job_of != NULL;
    for (size_t i = 0; p.ok && i < n; i++) on_event(&p, &log->events[order[i]]);
    if (p.ok) resolve_devices(&p);
    if (p.ok) close_and_collect(&p);
    if (p.ok && out->n_spans > 0) qsort(out->spans, out->n_spans, sizeof *out->spans, by_start);
    mem_free(p.job_of);
    pair_map_release(&p.unit_of);
    pair_map_release(&p.worker_unit);
    pair_map_release(&p.on_worker);
    pair_map_release(&p.synth_worker);
    pair_map_release(&p.open);
    pair_map_release(&p.worker_gpu);
    pair_map_release(&p.device_of);
    if (p.ok) return CUZK_OK;
    timeline_spans_release(out);
    return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to pair %zu timeline events", n);
}

void timeline_spans_release(timeline_spans *s) {
    mem_free(s->spans);
    mem_free(s->units);
    mem_free(s->jobs);
    mem_free(s->devices);
    *s = (timeline_spans){.from = TIMELINE_NONE, .to = TIMELINE_NONE, .drain = TIMELINE_NONE};
}
