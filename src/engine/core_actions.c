// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The list of actions of one step, and the timeline records in it.
#include <string.h>

#include "engine/core_internal.h"

// The list is sized for the worst step (core.c); should that sum be wrong, the last place is overwritten and the check
// says so.
engine_action *core_act(engine_core *c, engine_action_kind kind) {
    if (c->n_actions == c->max_actions) {
        c->broken = true;
        c->n_actions--;
    }
    engine_action *a = &c->actions[c->n_actions++];
    memset(a, 0, sizeof *a);
    a->kind = kind;
    a->at = c->now;
    return a;
}

void core_act_unit(engine_core *c, engine_action_kind kind, const unit *u) {
    engine_action *a = core_act(c, kind);
    a->unit = u->id;
    a->worker = u->worker;
    a->count = u->n;
    if (u->n > 0) {
        a->job = u->parts[0].job;
        a->token = u->parts[0].token;
        a->partition = u->parts[0].partition;
    }
    a->key = c->keys[u->key].id;
    if (kind == ENGINE_ACT_START_DEVICE) {
        a->device = u->device;
        a->worker = u->dev_worker;
    }
}

void core_act_refuse(engine_core *c, uint64_t token, uint64_t key, engine_reason reason, uint64_t needed,
                     uint64_t available) {
    engine_action *a = core_act(c, ENGINE_ACT_REFUSED);
    a->token = token;
    a->key = key;
    a->reason = reason;
    a->needed = needed;
    a->available = available;
}

void core_record_job(engine_core *c, timeline_kind event, const job *j, uint64_t value) {
    engine_action *a = core_act(c, ENGINE_ACT_RECORD);
    a->event = event;
    a->job = j->id;
    a->token = j->req.token;
    a->count = j->req.partitions;
    a->partition = j->mem_part;
    a->priority = j->req.priority;
    a->reason = j->reason;
    a->key = j->req.key;
    a->value = value;
}

void core_record_unit(engine_core *c, timeline_kind event, const unit *u, uint64_t at, uint64_t value) {
    bool device = event == TL_GPU_PICKUP || event == TL_GPU_START || event == TL_GPU_END;
    for (uint32_t i = 0; i < u->n;) {
        uint32_t end = i + 1;
        while (end < u->n && u->jobs[end] == u->jobs[i]) end++;
        engine_action *a = core_act(c, ENGINE_ACT_RECORD);
        a->event = event;
        a->unit = u->id;
        a->job = u->parts[i].job;
        a->token = u->parts[i].token;
        a->partition = u->parts[i].partition;
        a->count = end - i;
        a->device = u->device;
        a->worker = device ? u->dev_worker : u->worker;
        a->at = at;
        a->value = value;
        i = end;
    }
}

void core_record_key(engine_core *c, timeline_kind event, const key_entry *k, uint64_t value) {
    engine_action *a = core_act(c, ENGINE_ACT_RECORD);
    a->event = event;
    a->key = k->id;
    a->job = k->asked_by;
    uint32_t j = core_jobs_find(c, k->asked_by);
    if (j != NO_SLOT) a->token = c->jobs[j].req.token;
    a->value = value;
}

void core_record_device(engine_core *c, uint32_t d) {
    engine_action *a = core_act(c, ENGINE_ACT_RECORD);
    a->event = TL_DEVICE;
    a->device = d;
    a->value = core_devices_bad(c, d) ? 0 : 1;
}
