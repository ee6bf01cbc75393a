// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Records of the core become events of the timeline, under the jobs' names.
#include <inttypes.h>
#include <stdio.h>

#include "engine/record.h"
#include "engine/runtime_internal.h"

void runtime_record(runtime *rt, const engine_action *a) {
    engine_record r;
    engine_record_fill(&r, a);
    rjob *j = a->token != 0 ? rjob_find(rt, a->token) : NULL;
    if (a->event == TL_JOB_SUBMIT && j != NULL) { // the kind by its name, not by its number
        snprintf(r.text, sizeof r.text, "partitions=%" PRIu32 " kind=%.60s", a->count, j->prov->kind);
        r.detail.text = r.text;
    }
    recorder_event(rt->lane, a->event, j != NULL ? j->name : NULL, &r.detail);
    if (j != NULL) rjob_unref(rt, j);
}
