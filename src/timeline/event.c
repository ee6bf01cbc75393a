// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/event.h"

#include <string.h>

static const char *const WORD[TL_KINDS + 1] = {
    [TL_EPOCH] = "EPOCH",
    [TL_JOB_SUBMIT] = "JOB_SUBMIT",
    [TL_JOB_DONE] = "JOB_DONE",
    [TL_JOB_FAIL] = "JOB_FAIL",
    [TL_JOB_CANCEL] = "JOB_CANCEL",
    [TL_SYNTH_START] = "SYNTH_START",
    [TL_SYNTH_END] = "SYNTH_END",
    [TL_CHAN_SEND] = "CHAN_SEND",
    [TL_GPU_PICKUP] = "GPU_PICKUP",
    [TL_GPU_START] = "GPU_START",
    [TL_GPU_END] = "GPU_END",
    [TL_SRS_LOAD_START] = "SRS_LOAD_START",
    [TL_SRS_LOAD_END] = "SRS_LOAD_END",
    [TL_SRS_EVICT] = "SRS_EVICT",
    [TL_PCE_START] = "PCE_START",
    [TL_PCE_END] = "PCE_END",
    [TL_STAGE_START] = "STAGE_START",
    [TL_STAGE_END] = "STAGE_END",
    [TL_VERIFY_START] = "VERIFY_START",
    [TL_VERIFY_END] = "VERIFY_END",
    [TL_MEM_WAIT_START] = "MEM_WAIT_START",
    [TL_MEM_WAIT_END] = "MEM_WAIT_END",
    [TL_RETRY] = "RETRY",
    [TL_DEVICE] = "DEVICE",
    [TL_DRAIN] = "DRAIN",
    [TL_DROP] = "DROP",
    [TL_UNKNOWN] = "UNKNOWN",
};

const char *timeline_kind_word(timeline_kind kind) { return (unsigned)kind < TL_KINDS ? WORD[kind] : WORD[TL_UNKNOWN]; }

timeline_kind timeline_kind_from_word(const char *word, uint32_t len) {
    for (unsigned k = 0; k < TL_KINDS; k++)
        if (WORD[k][0] == word[0] && strlen(WORD[k]) == len && memcmp(WORD[k], word, len) == 0) return (timeline_kind)k;
    if (len == 9 && memcmp(word, "GPU_QUEUE", 9) == 0) return TL_CHAN_SEND; // the public daemon's word
    return TL_UNKNOWN;
}
