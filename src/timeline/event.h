// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a timeline is made of. One line of a log is
//     TIMELINE,<ms since the epoch, 3 decimals>,<EVENT>,<job uuid>,<detail>
// split at the first four commas only; the detail is key=value pairs separated by spaces (older logs of the public
// daemon separate them by commas and count whole milliseconds; both are read).
#ifndef CUZK_TIMELINE_EVENT_H
#define CUZK_TIMELINE_EVENT_H

#include <stdint.h>

// The core events mean what they mean in the public daemon; the others only add to them.
typedef enum timeline_kind {
    TL_EPOCH,      // first line of a run: wall=<ISO 8601 of the epoch> version=...
    TL_JOB_SUBMIT, // accepted: kind= partitions= priority=
    TL_JOB_DONE,
    TL_JOB_FAIL, // reason=
    TL_JOB_CANCEL,
    TL_SYNTH_START,    // worker= partition= (first of the unit) count= (partitions in the unit)
    TL_SYNTH_END,      // synth_ms=
    TL_CHAN_SEND,      // the unit waits for a device; the public daemon writes GPU_QUEUE
    TL_GPU_PICKUP,     // worker= gpu= : a device worker took the unit
    TL_GPU_START,      // worker= gpu= : the device's kernel section begins
    TL_GPU_END,        // gpu_ms= : it ends
    TL_SRS_LOAD_START, // key= : the job field holds the job that asked, or zeros
    TL_SRS_LOAD_END,
    TL_SRS_EVICT,
    TL_PCE_START,
    TL_PCE_END,
    TL_STAGE_START, // stage= gpu= worker= : inside a device run
    TL_STAGE_END,
    TL_VERIFY_START,
    TL_VERIFY_END,     // ok=0|1
    TL_MEM_WAIT_START, // the unit waits for memory: bytes=
    TL_MEM_WAIT_END,
    TL_RETRY,  // partition= reason=
    TL_DEVICE, // gpu= state=healthy|unhealthy : also written once a device at the start, so that idle devices count
    TL_DRAIN,  // no more jobs are accepted
    TL_DROP,   // drops= lane= : the recorder lost events because a ring was full
    TL_KINDS,
    TL_UNKNOWN = TL_KINDS // a word this version does not know; kept, never an error
} timeline_kind;

// The word in the log, such as "SYNTH_START"; "UNKNOWN" for TL_UNKNOWN.
const char *timeline_kind_word(timeline_kind kind);
// The inverse, for `len` characters; "GPU_QUEUE" is TL_CHAN_SEND. TL_UNKNOWN if none.
timeline_kind timeline_kind_from_word(const char *word, uint32_t len);

// Bytes that the recorder keeps of a job id and of free detail text, with the final NUL.
enum { TIMELINE_JOB_MAX = 64, TIMELINE_DETAIL_MAX = 128 };

#endif
