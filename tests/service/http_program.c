// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A service with toys and its HTTP server, for test_http.py: http_program ADDRESS DEVICE [name=value ...] prints the
// address, then obeys lines of its input, each answered with one line:
//     submit ID LOG_ROWS PARTITIONS SEED [PRIORITY]   "accepted JOB_ID" or "refused CODE TEXT"
//     await ID                                        "outcome N TEXT"
//     cancel ID, preload KEY, drain MS                "ok" or "no"
//     quit
#include "testing.h"

#include "service/http.h"
#include "service/service_bed.h"

static void submit(service *s, char *words[]) {
    service_submitted out;
    service_error err;
    const service_request like = {.priority = words[5] != NULL ? (uint32_t)atoi(words[5]) : 0};
    const service_code code = bed_submit(s, &out, words[1], (uint64_t)atoi(words[2]), (uint32_t)atoi(words[3]),
                                         (uint64_t)atoi(words[4]), &like, &err);
    if (code == SERVICE_OK)
        printf("accepted %s\n", out.job_id);
    else
        printf("refused %s %s\n", service_code_name(code), err.text);
}

static void await(service *s, const char *id) {
    runtime_job job;
    if (service_find(s, &job, id, NULL) != SERVICE_OK) {
        printf("outcome 0\n");
        return;
    }
    const bed_answer *a = bed_await(s, job);
    printf("outcome %d %s\n", (int)a->outcome, a->text);
}

static bool obey(service *s, char *words[]) {
    bool flag = false;
    uint64_t n;
    if (words[0] == NULL || strcmp(words[0], "quit") == 0) return false;
    if (strcmp(words[0], "submit") == 0 && words[1] && words[2] && words[3] && words[4])
        submit(s, words);
    else if (strcmp(words[0], "await") == 0 && words[1] != NULL)
        await(s, words[1]);
    else if (strcmp(words[0], "cancel") == 0 && words[1] != NULL)
        puts(service_cancel(s, words[1], &flag, NULL) == SERVICE_OK ? "ok" : "no");
    else if (strcmp(words[0], "preload") == 0 && words[1] != NULL)
        puts(service_preload(s, words[1], &flag, &n, NULL) == SERVICE_OK ? "ok" : "no");
    else if (strcmp(words[0], "drain") == 0 && words[1] != NULL)
        puts(service_drain(s, (uint64_t)atoi(words[1])) ? "ok" : "no");
    else
        puts("?");
    fflush(stdout);
    return true;
}

static bool set(service_options *so, http_options *ho, const char *word) {
    const char *value = strchr(word, '=');
    if (value == NULL) return false;
    const uint32_t n = (uint32_t)atoi(value + 1);
    if (strncmp(word, "picture_bytes=", 14) == 0) {
        ho->picture_bytes = n;
        return true;
    }
    const struct {
        const char *name;
        uint32_t *to;
    } names[] = {{"max_connections=", &ho->max_connections},
                 {"request_ms=", &ho->request_ms},
                 {"answer_ms=", &ho->answer_ms},
                 {"idle_ms=", &ho->idle_ms},
                 {"tail=", &so->timeline_tail},
                 {"pending=", &so->engine.max_pending_jobs}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(word, names[i].name, strlen(names[i].name)) == 0) {
            *names[i].to = n;
            return true;
        }
    return false;
}

int main(int argc, char **argv) {
    enum { WORDS = 8 };
    if (argc < 3) return 2;
    const char *device_name_ = argv[2];
    service_options so = bed_options(&device_name_);
    http_options ho = {.listen = argv[1]};
    for (int i = 3; i < argc; i++)
        if (!set(&so, &ho, argv[i])) return 2;
    service *s = NULL;
    http_server *h = NULL;
    cuzk_error err;
    if (service_create(&s, &so, &err) != CUZK_OK || http_start(&h, s, &ho, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.text);
        service_destroy(&s);
        return 1;
    }
    printf("%s\n", http_address(h));
    fflush(stdout);
    char line[512];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *words[WORDS + 1] = {0}, *rest = NULL;
        int n = 0;
        for (char *w = strtok_r(line, " \n", &rest); w != NULL && n < WORDS; w = strtok_r(NULL, " \n", &rest))
            words[n++] = w;
        if (!obey(s, words)) break;
    }
    http_stop(&h);
    service_destroy(&s);
    return 0;
}
