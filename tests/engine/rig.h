// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A small hand-driven runtime for direct tests of the core: actions are reported in order, one at a time, unless the
// test holds them back or changes the report.
#ifndef CUZK_TESTS_ENGINE_RIG_H
#define CUZK_TESTS_ENGINE_RIG_H

#include "engine/core.h"
#include "testing.h"

enum { RIG_PENDING = 1024, RIG_LOG = 4096 };

typedef struct rig {
    engine_core *core;
    uint64_t now;
    engine_event pending[RIG_PENDING]; // reports to come, oldest first
    size_t n_pending;
    engine_action log[RIG_LOG]; // every action but RECORD and SET_TIMER
    size_t n_log;
    uint64_t timer;
    // Changes a report that is due; false: it never comes.
    bool (*fate)(struct rig *r, const engine_action *a, engine_event *e);
    void *ctx;
} rig;

// One device, one worker of each kind, partition policy, no limits.
engine_config rig_config(void);
void rig_open(rig *r, const engine_config *c);
void rig_close(rig *r);
// One step, with engine_core_check after it. Returns the index in the log of its first action.
size_t rig_step(rig *r, engine_event e);
// A request of `partitions` partitions; its token, which must be new.
engine_request rig_request(uint64_t token, uint32_t partitions);
// The job's id, 0 if it was refused.
engine_job_id rig_submit(rig *r, const engine_request *q);
// Delivers the oldest pending report; false if there is none.
bool rig_deliver(rig *r);
// The same for the oldest of this kind.
bool rig_deliver_kind(rig *r, engine_event_kind kind);
// Delivers until nothing is pending.
void rig_run(rig *r);
void rig_wait_until(rig *r, uint64_t at); // fires the timer
void rig_cancel(rig *r, engine_job_id job);

// How many logged actions are of this kind (for this job, if not 0).
uint32_t rig_count(const rig *r, engine_action_kind kind, engine_job_id job);
// The nth of them, from 0; fails if there is none.
const engine_action *rig_action(const rig *r, engine_action_kind kind, engine_job_id job, uint32_t nth);
const engine_action *rig_last(const rig *r, engine_action_kind kind);
engine_stats rig_stats(const rig *r);

#endif
