// SPDX-License-Identifier: MIT OR Apache-2.0
//
// engine PARAMS_DIR C1...: proves C1 files side by side with the engine and writes each proof to C1.proof.
// engine --toy N: the same with N toy jobs of ten partitions, whose proofs are only counted.
//   cc engine.c -lcuzk -o engine
#include <cuzk/engine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 64, C1_MAX = 256 << 20 };

static cuzk_message message;

static int fail(cuzk_engine *e, const char *what, cuzk_result r) {
    fprintf(stderr, "engine: %s: %s: %s\n", what, cuzk_result_name(r), message.text);
    cuzk_engine_free(e);
    return 1;
}

static void on_warning(void *user, const char *text) {
    (void)user;
    fprintf(stderr, "engine: %s\n", text);
}

static unsigned char *read_file(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    unsigned char *data = f == NULL ? NULL : malloc(C1_MAX);
    *len = data == NULL ? 0 : fread(data, 1, C1_MAX, f);
    if (f != NULL) fclose(f);
    return data;
}

static int write_proof(const char *name, const unsigned char *proof, size_t len) {
    char path[4096];
    snprintf(path, sizeof path, "%s.proof", name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(proof, 1, len, f) != len || fclose(f) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

// One answer; 0 when the job is done.
static int collect(cuzk_engine *e, cuzk_job job, const char *name, int keep) {
    cuzk_job_info info;
    cuzk_result r = cuzk_engine_await(e, &info, job, UINT64_MAX, &message);
    if (r != CUZK_RESULT_OK) return 1;
    if (info.state != CUZK_JOB_DONE) {
        printf("%s: %s\n", name, info.text);
        return 1;
    }
    size_t len = info.proof_len;
    unsigned char *proof = malloc(len);
    r = cuzk_engine_proof(e, proof, &len, job, &message);
    printf("%s: %zu bytes in %.0f ms (waited %.0f, synthesis %.0f, device %.0f)\n", name, len, info.total_ms,
           info.queue_ms, info.synthesis_ms, info.device_ms);
    int failed = r != CUZK_RESULT_OK || (keep && write_proof(name, proof, len) != 0);
    free(proof);
    return failed;
}

int main(int argc, char **argv) {
    const int toy = argc == 3 && strcmp(argv[1], "--toy") == 0;
    const int jobs = toy ? atoi(argv[2]) : argc - 2;
    if (argc < 3 || jobs < 1 || jobs > JOBS_MAX) {
        fprintf(stderr, "usage: engine PARAMS_DIR C1...\n       engine --toy N\n");
        return 2;
    }
    cuzk_engine *e = NULL;
    cuzk_engine_options options;
    cuzk_engine_options_init(&options);
    options.warn = on_warning;
    cuzk_result r = cuzk_engine_new(&e, &options, &message);
    if (r == CUZK_RESULT_OK)
        r = toy ? cuzk_engine_add_toy(e, "toy", 1024, 10, "example", &message)
                : cuzk_engine_add_porep(e, argv[1], 0, &message);
    if (r == CUZK_RESULT_OK) r = cuzk_engine_start(e, &message);
    if (r != CUZK_RESULT_OK) return fail(e, "start", r);

    cuzk_job job[JOBS_MAX];
    char names[JOBS_MAX][32];
    for (int i = 0; i < jobs; i++) {
        unsigned char seed[8] = {(unsigned char)i};
        size_t len = sizeof seed;
        unsigned char *c1 = toy ? NULL : read_file(argv[2 + i], &len);
        snprintf(names[i], sizeof names[i], "toy %d", i);
        if (!toy && c1 == NULL) {
            perror(argv[2 + i]);
            cuzk_engine_free(e);
            return 1;
        }
        const cuzk_request request = {.kind = toy ? "toy" : "porep", .input = toy ? seed : c1, .input_len = len};
        r = cuzk_engine_submit(e, &job[i], NULL, &request, &message);
        free(c1);
        if (r != CUZK_RESULT_OK) return fail(e, toy ? names[i] : argv[2 + i], r);
    }
    int failed = 0;
    for (int i = 0; i < jobs; i++) failed |= collect(e, job[i], toy ? names[i] : argv[2 + i], !toy);
    cuzk_engine_free(e);
    return failed;
}
