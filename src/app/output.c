// SPDX-License-Identifier: MIT OR Apache-2.0
//
// How a run speaks: one line for an error, one document for a result, and an exit code that says the same.
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/app.h"
#include "base/file.h"

void app_print_json(app *a, json_t *document) {
    char *text = json_dumps(document, JSON_SORT_KEYS);
    if (text != NULL) fprintf(a->documents, "%s\n", text);
    free(text);
    json_decref(document);
}

json_t *app_json_text(const char *foreign) {
    json_t *t = json_string(foreign);
    char *text = t == NULL ? strdup(foreign) : NULL;
    if (text == NULL) return t;
    for (char *p = text; *p != 0; p++)
        if ((unsigned char)*p >= 0x80) *p = '?';
    t = json_string(text);
    free(text);
    return t;
}

int app_fail(app *a) {
    fprintf(stderr, "cuzk: %s\n", a->err.text);
    if (a->json) {
        app_print_json(a, json_pack("{s:{s:s, s:o}}", "error", "status", cuzk_status_name(a->err.status), "text",
                                    app_json_text(a->err.text)));
        fflush(a->documents);
    }
    return a->err.status == CUZK_ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

int app_usage(app *a, const char *fmt, ...) {
    char text[CUZK_ERROR_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)cuzk_fail(&a->err, CUZK_ERR_USAGE, "%s", text);
    return app_fail(a);
}

void app_warn_insecure(const char *fmt, ...) {
    char text[CUZK_ERROR_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cuzk_error scrubbed; // labels come from files: no control characters on somebody's terminal
    (void)cuzk_fail(&scrubbed, CUZK_ERR_USAGE, "%s", text);
    fprintf(stderr, "WARNING: INSECURE: %s\n", scrubbed.text);
}

cuzk_status app_check_output(app *a, const char *path) {
    struct stat st;
    // Devices and pipes are opened once, when there is something to write.
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return CUZK_OK;
    file_writer *w = NULL;
    cuzk_status s = file_writer_open(&w, path, &a->err);
    file_writer_abort(&w);
    return s;
}

int app_finish(app *a) {
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0) return EXIT_DONE;
    (void)cuzk_fail(&a->err, CUZK_ERR_IO, "standard output: %s", errno != 0 ? strerror(errno) : "write error");
    a->json = false; // there is nobody left to read a document
    return app_fail(a);
}
