// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Golden outputs of every format, and properties that hold for any log. CUZK_GOLDEN_UPDATE=1 writes the golden files
// anew; look at the difference before it is committed.
#include "timeline/made.h"

#include <jansson.h>

#include "base/file.h"
#include "base/mem.h"
#include "timeline/render.h"

#define PUBLISHED "vectors/timeline/published-closed-loop.log"
#define DEVICES "vectors/timeline/two-devices.log"

static void compare_golden(const timeline_text *got, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "timeline/golden/%s", name);
    if (getenv("CUZK_GOLDEN_UPDATE") != NULL) {
        assert_int_equal(file_write_all(path, got->data, got->len, NULL), CUZK_OK);
        return;
    }
    uint8_t *want = NULL;
    size_t len = 0;
    cuzk_error err = {0};
    if (file_read_all(&want, &len, path, 1 << 24, &err) != CUZK_OK) fail_msg("%s", err.text);
    size_t at = 0, line = 1;
    while (at < len && at < got->len && want[at] == (uint8_t)got->data[at]) line += want[at++] == '\n';
    if (at < len || at < got->len)
        fail_msg("%s differs at byte %zu, line %zu: expected '%.40s', found '%.40s'", path, at, line,
                 (const char *)want + at, got->data + at);
    mem_free(want);
}

static timeline_text render(const timeline_analysis *a, timeline_format f, const timeline_render_options *o) {
    timeline_text t = {0};
    cuzk_error err = {0};
    if (timeline_render(&t, a, f, o, &err) != CUZK_OK) fail_msg("%s", err.text);
    return t;
}

static void golden(const char *log_path, const char *stem, bool by_partition, bool colour) {
    timeline_log *log = made_log_file(log_path);
    timeline_options o = TIMELINE_OPTIONS;
    o.by_partition = by_partition;
    timeline_analysis *a = made_analysis(log, &o);
    timeline_render_options ro = {.causes = true, .stages = true, .colour = colour};
    for (int f = 0; f < TIMELINE_FORMATS; f++) {
        timeline_text t = render(a, (timeline_format)f, &ro);
        char name[96];
        snprintf(name, sizeof name, "%s.%s", stem,
                 f == TIMELINE_TEXT ? "txt" : timeline_format_name((timeline_format)f));
        if (f == TIMELINE_HTML) { // the page is in web/; what matters is the data inside
            char *data = strstr(t.data, "application/json\">");
            assert_non_null(data);
            char *end = strstr(data, "</script>");
            assert_non_null(end);
            timeline_text inside = {0};
            data += strlen("application/json\">");
            text_put_n(&inside, data, (size_t)(end - data));
            text_put(&inside, "\n");
            snprintf(name, sizeof name, "%s.html-data.json", stem);
            compare_golden(&inside, name);
            timeline_text_release(&inside);
        } else {
            compare_golden(&t, name);
        }
        timeline_text_release(&t);
    }
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

static void test_golden_published(void **state) {
    (void)state;
    golden(PUBLISHED, "published", false, false);
}
static void test_golden_partitions(void **state) {
    (void)state;
    golden(DEVICES, "two-devices", true, true);
}

static void test_golden_compare(void **state) {
    (void)state;
    timeline_log *x = made_log_file(PUBLISHED), *y = made_log_file(DEVICES);
    timeline_analysis *a = made_analysis(x, NULL), *b = made_analysis(y, NULL);
    static const timeline_format FORMAT[] = {TIMELINE_TEXT, TIMELINE_JSON};
    for (int i = 0; i < 2; i++) {
        timeline_text t = {0};
        assert_int_equal(timeline_render_compare(&t, a, b, "first.log", "second.log", FORMAT[i], NULL), CUZK_OK);
        compare_golden(&t, i == 0 ? "compare.txt" : "compare.json");
        timeline_text_release(&t);
    }
    timeline_text t = {0};
    assert_int_equal(timeline_render_compare(&t, a, b, "x", "y", TIMELINE_SVG, NULL), CUZK_ERR_USAGE);
    timeline_analysis_destroy(&a);
    timeline_analysis_destroy(&b);
    timeline_log_destroy(&x);
    timeline_log_destroy(&y);
}

static json_t *parse_json(const char *text, size_t len) {
    json_error_t e;
    json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    if (j == NULL) fail_msg("not JSON: line %d: %s", e.line, e.text);
    return j;
}

static void assert_keys(json_t *o, const char *const *keys, size_t n) {
    assert_int_equal(json_object_size(o), n);
    for (size_t i = 0; i < n; i++)
        if (json_object_get(o, keys[i]) == NULL) fail_msg("no key %s", keys[i]);
}

// The keys are an interface.
static void test_json_keys(void **state) {
    (void)state;
    timeline_log *log = made_log_file(PUBLISHED);
    timeline_analysis *a = made_analysis(log, NULL);
    timeline_render_options ro = {0};
    timeline_text t = render(a, TIMELINE_JSON, &ro);
    json_t *j = parse_json(t.data, t.len);
    static const char *const TOP[] = {"jobs", "summary", "cold", "steady", "devices", "gaps", "warnings"};
    assert_keys(j, TOP, 7);
    static const char *const JOB[] = {"job",          "device",     "synth_start_ms", "synth_end_ms", "synth_ms",
                                      "gpu_start_ms", "gpu_end_ms", "gpu_ms",         "idle_gap_ms"};
    json_t *jobs = json_object_get(j, "jobs");
    assert_int_equal(json_array_size(jobs), 3);
    for (size_t i = 0; i < 3; i++) assert_keys(json_array_get(jobs, i), JOB, 9);
    static const char *const SUMMARY[] = {"wall_ms",          "gpu_active_ms", "gpu_idle_ms",     "gpu_utilization_pct",
                                          "avg_synth_ms",     "avg_gpu_ms",    "avg_idle_gap_ms", "seconds_per_proof",
                                          "proofs_per_minute"};
    assert_keys(json_object_get(j, "summary"), SUMMARY, 9);
    assert_keys(json_object_get(j, "cold"), SUMMARY, 9);
    assert_keys(json_object_get(j, "steady"), SUMMARY, 9);
    assert_true(json_is_null(json_object_get(json_array_get(jobs, 2), "gpu_end_ms")));
    assert_true(json_is_null(json_object_get(json_array_get(jobs, 0), "idle_gap_ms")));
    json_decref(j);
    timeline_text_release(&t);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

// A trace, reloaded: on each thread slices nest, times are whole microseconds, and nothing is missing.
static void check_trace(const timeline_analysis *a) {
    timeline_render_options ro = {0};
    timeline_text t = render(a, TIMELINE_TRACE, &ro);
    json_t *j = parse_json(t.data, t.len);
    json_t *events = json_object_get(j, "traceEvents");
    size_t n = json_array_size(events), gpu = 0, synth = 0, stages = 0, want_gpu = 0, want_synth = 0, want_stages = 0;
    for (size_t i = 0; i < a->spans.n_spans; i++) {
        want_gpu += a->spans.spans[i].kind == SPAN_GPU;
        want_synth += a->spans.spans[i].kind == SPAN_SYNTH;
        want_stages += a->spans.spans[i].kind == SPAN_STAGE;
    }
    enum { DEPTH = 64 };
    json_int_t pid = -1, tid = -1, ends[DEPTH];
    json_int_t last = 0;
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        json_t *e = json_array_get(events, i);
        if (strcmp(json_string_value(json_object_get(e, "ph")), "X") != 0) continue;
        assert_true(json_is_integer(json_object_get(e, "ts")) && json_is_integer(json_object_get(e, "dur")));
        json_int_t ts = json_integer_value(json_object_get(e, "ts")),
                   dur = json_integer_value(json_object_get(e, "dur"));
        assert_true(ts >= 0 && dur >= 0);
        assert_true(json_string_length(json_object_get(e, "name")) > 0);
        if (json_integer_value(json_object_get(e, "pid")) != pid ||
            json_integer_value(json_object_get(e, "tid")) != tid) {
            pid = json_integer_value(json_object_get(e, "pid"));
            tid = json_integer_value(json_object_get(e, "tid"));
            depth = 0;
            last = ts;
        }
        assert_true(ts >= last);
        last = ts;
        while (depth > 0 && ends[depth - 1] <= ts) depth--;
        if (depth > 0 && ts + dur > ends[depth - 1]) fail_msg("slices overlap at %d us", (int)ts);
        const char *cat = json_string_value(json_object_get(e, "cat"));
        // Runs never hide in one another; only stages nest.
        if (depth > 0) assert_string_equal(cat, "stage");
        assert_true(depth < DEPTH);
        ends[depth++] = ts + dur;
        gpu += strcmp(cat, "gpu") == 0;
        synth += strcmp(cat, "synthesis") == 0;
        stages += strcmp(cat, "stage") == 0;
    }
    assert_int_equal(gpu, want_gpu);
    assert_int_equal(synth, want_synth);
    assert_int_equal(stages, want_stages);
    json_decref(j);
    timeline_text_release(&t);
}

static void test_trace(void **state) {
    (void)state;
    static const char OVERLAP[] = "TIMELINE,0,GPU_START,a,worker=0 gpu=0\nTIMELINE,50,GPU_START,b,worker=1 gpu=0\n"
                                  "TIMELINE,100,GPU_END,a,worker=0 gpu=0\nTIMELINE,150,GPU_END,b,worker=1 gpu=0\n";
    timeline_log *log = made_log_of(OVERLAP);
    timeline_analysis *a = made_analysis(log, NULL);
    check_trace(a);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    log = made_log_file(DEVICES);
    a = made_analysis(log, NULL);
    check_trace(a);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    test_rng rng = test_rng_new("trace");
    for (int round = 0; round < 200; round++) {
        timeline_text t = {0};
        for (int i = 0; i < 80; i++) {
            static const char *const EVENT[] = {"GPU_START",   "GPU_END",   "STAGE_START",  "STAGE_END",
                                                "SYNTH_START", "SYNTH_END", "VERIFY_START", "VERIFY_END"};
            char job[8], detail[64];
            snprintf(job, sizeof job, "j%d", (int)test_below(&rng, 3));
            snprintf(detail, sizeof detail, "gpu=%d worker=%d stage=s%d", (int)test_below(&rng, 2),
                     (int)test_below(&rng, 2), (int)test_below(&rng, 2));
            made_put(&t, (double)(i + (int)test_below(&rng, 4)), EVENT[test_below(&rng, 8)], job, detail);
        }
        log = made_log(t.data, t.len);
        timeline_options o = TIMELINE_OPTIONS;
        if (timeline_analyse(&a, log, &o, NULL) == CUZK_OK) check_trace(a);
        timeline_analysis_destroy(&a);
        timeline_log_destroy(&log);
        timeline_text_release(&t);
    }
}

// Names that are code in some format stay names in all of them.
static void test_escapes(void **state) {
    (void)state;
    static const char NASTY[] = "</script><b onload='x'>&\"%2C=cmd()%0A{}\\";
    timeline_text t = {0};
    made_proof(&t, NASTY, 0, 10, 10, 20);
    made_proof(&t, "=1+1", 10, 20, 20, 30);
    made_put(&t, 12, "STAGE_START", NASTY, "gpu=0 stage=<i>\"");
    made_put(&t, 13, "STAGE_END", NASTY, "gpu=0 stage=<i>\"");
    timeline_log *log = made_log(t.data, t.len);
    timeline_text_release(&t);
    timeline_analysis *a = made_analysis(log, NULL);
    const char *name = timeline_job_name(a, a->rows[0].job);
    timeline_render_options ro = {.stages = true};
    t = render(a, TIMELINE_JSON, &ro);
    json_t *j = parse_json(t.data, t.len);
    assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(j, "jobs"), 0), "job")), name);
    json_decref(j);
    timeline_text_release(&t);
    t = render(a, TIMELINE_HTML, &ro);
    assert_null(strstr(t.data, "<b onload"));
    size_t scripts = 0;
    for (const char *p = t.data; (p = strstr(p, "</script")) != NULL; p++) scripts++;
    assert_int_equal(scripts, 2); // the page's own
    timeline_text_release(&t);
    t = render(a, TIMELINE_SVG, &ro);
    assert_null(strstr(t.data, "<b onload"));
    assert_null(strstr(t.data, "</script>"));
    timeline_text_release(&t);
    t = render(a, TIMELINE_CSV, &ro);
    assert_non_null(strstr(t.data, "\n\"'=1+1\","));
    assert_non_null(strstr(t.data, "&\"\","));
    timeline_text_release(&t);
    check_trace(a);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

// No line of the text is wider than asked for the chart, at any width.
static void test_widths(void **state) {
    (void)state;
    timeline_log *log = made_log_file(DEVICES);
    timeline_analysis *a = made_analysis(log, NULL);
    for (uint32_t width = 32; width < 300; width += 13) {
        timeline_render_options ro = {.width = width, .causes = true};
        timeline_text t = {0};
        assert_int_equal(timeline_render_chart(&t, a, &ro, NULL), CUZK_OK);
        for (char *line = strtok(t.data, "\n"); line != NULL; line = strtok(NULL, "\n"))
            if (strncmp(line, " idle:", 6) != 0 && strncmp(line, " keys:", 6) != 0)
                assert_in_range(text_width(line), 1, width);
        timeline_text_release(&t);
    }
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

static void test_text_helpers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t width;
        bool right;
        const char *want;
    } CELL[] = {{"ab", 4, false, "ab  "}, {"ab", 4, true, "  ab"},   {"abcde", 3, false, "ab…"},
                {"äöü", 3, false, "äöü"}, {"äöüß", 3, false, "äö…"}, {"", 2, true, "  "}};
    for (size_t i = 0; i < sizeof CELL / sizeof *CELL; i++) {
        timeline_text t = {0};
        text_cell(&t, CELL[i].text, CELL[i].width, CELL[i].right);
        assert_string_equal(t.data, CELL[i].want);
        timeline_text_release(&t);
    }
    timeline_text t = {0};
    text_ms(&t, 1234567);
    text_put(&t, " ");
    text_ms(&t, -5);
    text_put(&t, " ");
    text_json_ms(&t, TIMELINE_NONE);
    assert_string_equal(t.data, "1234.567 -0.005 null");
    timeline_text_release(&t);
    assert_int_equal(timeline_tick_step(100, 10), 20);
    assert_int_equal(timeline_tick_step(99, 10), 10);
    assert_int_equal(timeline_tick_step(0, 10), 1);
    assert_true(timeline_tick_step(INT64_MAX, 1) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_published),
        cmocka_unit_test(test_golden_partitions),
        cmocka_unit_test(test_golden_compare),
        cmocka_unit_test(test_json_keys),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_text_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
