// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/made.h"

#include "base/file.h"
#include "base/mem.h"

timeline_log *made_log(const char *text, size_t len) {
    timeline_log *log = NULL;
    assert_int_equal(timeline_log_create(&log, NULL), CUZK_OK);
    assert_int_equal(timeline_log_push(log, text, len, NULL), CUZK_OK);
    assert_int_equal(timeline_log_finish(log, NULL), CUZK_OK);
    return log;
}

timeline_log *made_log_of(const char *text) { return made_log(text, strlen(text)); }

timeline_log *made_log_file(const char *path) {
    uint8_t *data = NULL;
    size_t len = 0;
    assert_int_equal(file_read_all(&data, &len, path, 1 << 24, NULL), CUZK_OK);
    timeline_log *log = made_log((const char *)data, len);
    mem_free(data);
    return log;
}

timeline_analysis *made_analysis(const timeline_log *log, const timeline_options *options) {
    timeline_analysis *a = NULL;
    timeline_options standard = TIMELINE_OPTIONS;
    cuzk_error err = {0};
    if (timeline_analyse(&a, log, options != NULL ? options : &standard, &err) != CUZK_OK) fail_msg("%s", err.text);
    return a;
}

const timeline_row *made_row(const timeline_analysis *a, const char *job, int32_t partition) {
    for (size_t i = 0; i < a->n_rows; i++)
        if (strcmp(timeline_job_name(a, a->rows[i].job), job) == 0 &&
            (partition < 0 || a->rows[i].partition == partition))
            return &a->rows[i];
    return NULL;
}

const timeline_gap *made_gap(const timeline_analysis *a, int32_t gpu, int64_t to_us) {
    for (size_t i = 0; i < a->n_gaps; i++)
        if (a->spans.devices[a->gaps[i].device].id == gpu && a->gaps[i].to_us == to_us) return &a->gaps[i];
    return NULL;
}

bool made_warned(const timeline_analysis *a, const char *text) {
    for (size_t i = 0; i < a->n_warnings; i++)
        if (strstr(a->warnings[i], text) != NULL) return true;
    return false;
}

void made_put(timeline_text *t, double ms, const char *event, const char *job, const char *detail) {
    text_put_f(t, "TIMELINE,%.3f,%s,%s,%s\n", ms, event, job, detail);
}

void made_proof(timeline_text *t, const char *job, double synth_start, double synth_end, double gpu_start,
                double gpu_end) {
    made_put(t, synth_start, "SYNTH_START", job, "");
    made_put(t, synth_end, "SYNTH_END", job, "");
    made_put(t, synth_end, "CHAN_SEND", job, "");
    made_put(t, gpu_start, "GPU_PICKUP", job, "worker=0 gpu=0");
    made_put(t, gpu_start, "GPU_START", job, "worker=0 gpu=0");
    made_put(t, gpu_end, "GPU_END", job, "worker=0 gpu=0");
}
