// SPDX-License-Identifier: MIT OR Apache-2.0
//
// waterfall LOG [FORMAT]: why was the device idle? Reads a log with TIMELINE lines and prints each gap with its cause,
// or the whole analysis in a format (text, json, csv, svg, html, trace).
//   cc waterfall.c -lcuzk -o waterfall
#include <cuzk/timeline.h>

#include <stdio.h>

static int fail(cuzk_timeline *t, cuzk_result r) {
    fprintf(stderr, "waterfall: %s: %s\n", cuzk_result_name(r), cuzk_timeline_error(t));
    cuzk_timeline_free(t);
    return r == CUZK_RESULT_USAGE ? 2 : 1;
}

static int print_gaps(cuzk_timeline *t) {
    cuzk_timeline_figures all;
    cuzk_result r = cuzk_timeline_figures_of(t, &all, CUZK_TIMELINE_ALL);
    if (r != CUZK_RESULT_OK) return fail(t, r);
    printf("%u proofs in %.3f s, GPU %.1f %% busy\n", (unsigned)all.proofs, all.wall_ms / 1e3, all.gpu_utilization_pct);
    for (size_t i = 0; i < cuzk_timeline_gap_count(t); i++) {
        cuzk_timeline_gap g;
        r = cuzk_timeline_gap_at(t, &g, i);
        if (r != CUZK_RESULT_OK) return fail(t, r);
        printf("gpu %d idle %.3f s from %.3f s: %s%s%s\n", g.device, (g.end_ms - g.start_ms) / 1e3, g.start_ms / 1e3,
               g.cause, g.before_job != NULL ? ", before " : "", g.before_job != NULL ? g.before_job : "");
    }
    for (size_t i = 0; cuzk_timeline_warning(t, i) != NULL; i++)
        fprintf(stderr, "warning: %s\n", cuzk_timeline_warning(t, i));
    cuzk_timeline_free(t);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: waterfall LOG [text|json|csv|svg|html|trace]\n");
        return 2;
    }
    FILE *f = fopen(argv[1], "rb");
    if (f == NULL) {
        perror(argv[1]);
        return 1;
    }
    cuzk_timeline *t = NULL;
    cuzk_result r = cuzk_timeline_new(&t);
    char piece[65536];
    size_t n = 0;
    while (r == CUZK_RESULT_OK && (n = fread(piece, 1, sizeof piece, f)) > 0) r = cuzk_timeline_add(t, piece, n);
    fclose(f);
    if (r == CUZK_RESULT_OK) r = cuzk_timeline_end(t);
    if (r == CUZK_RESULT_OK) r = cuzk_timeline_analyse(t, NULL);
    if (r != CUZK_RESULT_OK) return fail(t, r);
    if (argc == 2) return print_gaps(t);
    const char *text = NULL;
    size_t len = 0;
    r = cuzk_timeline_render(t, &text, &len, argv[2], 0);
    if (r != CUZK_RESULT_OK) return fail(t, r);
    fwrite(text, 1, len, stdout);
    cuzk_timeline_free(t);
    return 0;
}
