// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The columns of "jobs" in the JSON; an empty field where that has null. With rows by partition there is one column
// more, behind the job.
#include <inttypes.h>

#include "timeline/render.h"

static void field_ms(timeline_text *t, int64_t us) {
    text_put(t, ",");
    if (us != TIMELINE_NONE) text_ms(t, us);
}

void timeline_render_csv(timeline_text *t, const timeline_analysis *a) {
    bool parts = a->options.by_partition;
    text_put_f(t, "job,%sdevice,synth_start_ms,synth_end_ms,synth_ms,gpu_start_ms,gpu_end_ms,gpu_ms,idle_gap_ms\r\n",
               parts ? "partition," : "");
    for (size_t i = 0; i < a->n_rows; i++) {
        const timeline_row *r = &a->rows[i];
        text_csv_field(t, timeline_job_name(a, r->job));
        if (parts) {
            text_put(t, ",");
            if (r->partition >= 0) text_put_f(t, "%" PRId32, r->partition);
        }
        text_put(t, ",");
        if (r->device >= 0) text_put_f(t, "%" PRId32, a->spans.devices[r->device].id);
        field_ms(t, r->synth_start);
        field_ms(t, r->synth_end);
        field_ms(t, r->synth_us);
        field_ms(t, r->gpu_start);
        field_ms(t, r->gpu_end);
        field_ms(t, r->gpu_us);
        field_ms(t, r->gap_us);
        text_put(t, "\r\n");
    }
}
