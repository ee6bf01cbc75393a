// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A service and its gRPC server in this process, so that a bench measures what a client would see and needs nobody to
// start a daemon first.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/bench.h"
#include "app/daemon_options.h"

struct bench_daemon {
    service *service;
    rpc_server *rpc;
    char folder[96], target[128];
};

cuzk_status bench_daemon_start(bench_daemon **out, const config *c, cuzk_error *err) {
    *out = NULL;
    daemon_options o;
    cuzk_status s = daemon_options_make(&o, c, err);
    if (s != CUZK_OK) return s;
    bench_daemon *d = calloc(1, sizeof *d);
    if (d == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a daemon");
    const char *tmp = getenv("TMPDIR");
    // A socket's path has at most 107 bytes (unix(7)); a folder whose name is too long for that is passed over.
    snprintf(d->folder, sizeof d->folder, "%s/cuzk-bench-XXXXXX", tmp != NULL && strlen(tmp) < 60 ? tmp : "/tmp");
    if (mkdtemp(d->folder) == NULL) {
        s = cuzk_fail(err, CUZK_ERR_IO, "%s: cannot be made: %s", d->folder, strerror(errno));
        d->folder[0] = 0;
        bench_daemon_stop(&d);
        return s;
    }
    snprintf(d->target, sizeof d->target, "unix://%s/s", d->folder);
    o.listen[0] = d->target;
    o.rpc.tls_cert = o.rpc.tls_key = o.rpc.tls_client_ca = NULL;
    log_start(&(log_options){.level = o.level, .json = o.json_log, .fd = STDERR_FILENO});
    s = service_create(&d->service, &o.service, err);
    if (s == CUZK_OK) s = rpc_server_start(&d->rpc, d->service, &o.rpc, err);
    if (s != CUZK_OK) {
        bench_daemon_stop(&d);
        return s;
    }
    *out = d;
    return CUZK_OK;
}

const char *bench_daemon_target(const bench_daemon *d) { return d->target; }

void bench_daemon_stop(bench_daemon **pd) {
    bench_daemon *d = *pd;
    if (d == NULL) return;
    *pd = NULL;
    if (d->rpc != NULL) rpc_server_stop(&d->rpc, 0);
    service_destroy(&d->service);
    if (d->folder[0] != 0) (void)rmdir(d->folder);
    log_flush();
    free(d);
}
