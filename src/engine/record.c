// SPDX-License-Identifier: MIT OR Apache-2.0
#include "engine/record.h"

#include <inttypes.h>
#include <stdio.h>

const char *engine_priority_name(engine_priority p) {
    static const char *const NAMES[ENGINE_PRIORITIES] = {"low", "normal", "high", "critical"};
    return (unsigned)p < ENGINE_PRIORITIES ? NAMES[p] : "unknown";
}

const char *engine_policy_name(engine_policy p) {
    static const char *const NAMES[] = {"standard", "slotted", "partition", "batch"};
    return (unsigned)p <= ENGINE_BATCH ? NAMES[p] : "unknown";
}

static void number(engine_record *r, const char *name, uint64_t value) {
    r->detail.number_key = name;
    r->detail.number = value;
}

static void word(engine_record *r, const char *name, const char *value) {
    r->detail.word_key = name;
    r->detail.word = value;
}

static void milliseconds(engine_record *r, const char *name, uint64_t ns) {
    (void)snprintf(r->text, sizeof r->text, "%s=%" PRIu64 ".%03u", name, ns / 1000000, (unsigned)(ns / 1000 % 1000));
    r->detail.text = r->text;
}

static void unit(engine_record *r, const engine_action *a, bool device) {
    r->detail.partition = (int32_t)a->partition;
    r->detail.count = (int32_t)a->count;
    if (a->worker != UINT32_MAX) r->detail.worker = (int32_t)a->worker;
    if (device) r->detail.gpu = (int32_t)a->device;
}

void engine_record_fill(engine_record *r, const engine_action *a) {
    r->detail = TIMELINE_DETAIL_NONE;
    r->text[0] = 0;
    switch (a->event) {
    case TL_JOB_SUBMIT:
        word(r, "priority", engine_priority_name(a->priority));
        (void)snprintf(r->text, sizeof r->text, "partitions=%u kind=%" PRIu64, a->count, a->value);
        r->detail.text = r->text;
        break;
    case TL_JOB_FAIL: word(r, "reason", engine_reason_name(a->reason)); break;
    case TL_SYNTH_START:
    case TL_CHAN_SEND: unit(r, a, false); break;
    case TL_SYNTH_END:
        unit(r, a, false);
        milliseconds(r, "synth_ms", a->value);
        break;
    case TL_GPU_PICKUP:
    case TL_GPU_START: unit(r, a, true); break;
    case TL_GPU_END:
        unit(r, a, true);
        milliseconds(r, "gpu_ms", a->value);
        break;
    case TL_SRS_LOAD_START:
    case TL_SRS_LOAD_END:
    case TL_SRS_EVICT: number(r, "key", a->key); break;
    case TL_VERIFY_START: unit(r, a, false); break;
    case TL_VERIFY_END:
        unit(r, a, false);
        number(r, "ok", a->value);
        break;
    case TL_MEM_WAIT_START:
        r->detail.partition = (int32_t)a->partition;
        number(r, "bytes", a->value);
        break;
    case TL_MEM_WAIT_END: r->detail.partition = (int32_t)a->partition; break;
    case TL_RETRY:
        r->detail.partition = (int32_t)a->partition;
        r->detail.gpu = (int32_t)a->device;
        if (a->device == UINT32_MAX) r->detail.gpu = -1;
        word(r, "reason", engine_reason_name(a->reason));
        break;
    case TL_DEVICE:
        r->detail.gpu = (int32_t)a->device;
        word(r, "state", a->value != 0 ? "healthy" : "unhealthy");
        break;
    default: break;
    }
}
