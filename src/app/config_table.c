// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every key there is. The example file, the man page, --check-config and the reader are all made from this table.
// Sections and keys of the public daemon keep their names, meanings and defaults.
#include "app/config.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define SECOND UINT64_C(1000)
#define DAY (86400 * SECOND)
#define NO_EFFECT "Of older versions of the public daemon: accepted, and without effect. "

const config_section CONFIG_SECTIONS[] = {
    {"daemon", "Addresses, limits and the end of the daemon."},
    {"srs", "Proving keys."},
    {"memory", "One budget for keys, witnesses and everything a proof needs on its way."},
    {"gpus", "What proves: devices and the workers that feed them."},
    {"scheduler", "The order of work, batches and time limits."},
    {"synthesis", "Threads that make witnesses."},
    {"pipeline", "How a proof is cut into units of work and how many of them are under way."},
    {"timeline", "The record of what happened when; cuzk waterfall shows it."},
    {"logging", "The log, on standard error."},
    {"testing", "For tests alone. What is set here makes proofs that are worthless or leak secrets, and is loudly said "
                "at the start."},
};
const size_t CONFIG_N_SECTIONS = sizeof CONFIG_SECTIONS / sizeof *CONFIG_SECTIONS;

const config_key CONFIG_TABLE[CONFIG_KEYS] = {
    [CONFIG_DAEMON_LISTEN] =
        {"daemon", "listen", CONFIG_TEXT, "unix:///run/curio/cuzk.sock", .filled = true,
         .help = "Where gRPC is served: \"HOST:PORT\" for TCP, \"unix:///PATH\" for a unix socket. Port 0 takes a free "
                 "one, which the log names. The socket of a daemon that is gone is replaced; one that answers is not."},
    [CONFIG_DAEMON_STATUS_LISTEN] =
        {"daemon", "status_listen", CONFIG_TEXT, "",
         .help = "Where HTTP is served: /status (JSON), /metrics (Prometheus), /timeline (JSON and a live page), "
                 "/healthz. Empty: nowhere. There is no authentication; keep it on a trusted network."},
    [CONFIG_DAEMON_SHUTDOWN_TIMEOUT] =
        {"daemon", "shutdown_timeout", CONFIG_DURATION, "60s", .max = DAY, .unit_ms = 1000,
         .help = "After SIGTERM or SIGINT, running and queued jobs may go on for so long; then they are cancelled. "
                 "A second signal ends the daemon at once."},
    [CONFIG_DAEMON_MAX_PENDING] =
        {"daemon", "max_pending", CONFIG_INTEGER, "64", 1, 100000,
         .help = "Jobs that may be accepted and not yet finished. One more is refused with RESOURCE_EXHAUSTED and a "
                 "hint when to try again."},
    [CONFIG_DAEMON_MAX_CONNECTIONS] =
        {"daemon", "max_connections", CONFIG_INTEGER, "256", 1, 65536,
         .help = "Connections that may be open at a time, of gRPC as of HTTP; never more than half of "
                 "the files that may be open. One more waits with HTTP and is closed "
                 "with gRPC."},
    [CONFIG_DAEMON_MAX_MESSAGE] =
        {"daemon", "max_message", CONFIG_SIZE, "256MiB", KIB, 2047 * MIB,
         .help =
             "The longest gRPC message. A longer one is refused before it is looked into. A C1 of a 32 GiB sector has "
             "51 MB."},
    [CONFIG_DAEMON_CANCEL_ON_DISCONNECT] =
        {"daemon", "cancel_on_disconnect", CONFIG_BOOL, "true",
         .help = "When the client of a Prove call goes away and nobody else waits for that job, cancel it. Jobs of "
                 "SubmitProof are never cancelled by this."},
    [CONFIG_DAEMON_THREADS] =
        {"daemon", "threads", CONFIG_INTEGER, "0", 0, 4096,
         .help = "Threads of heavy work in all, synthesis and devices together. 0: as many as the process may use; "
                 "affinity and control groups count. More than those are never taken."},
    [CONFIG_DAEMON_TLS_CERT] =
        {"daemon", "tls_cert", CONFIG_TEXT, "",
         .help = "File with the certificate chain (PEM); with tls_key it makes gRPC over TCP use TLS."},
    [CONFIG_DAEMON_TLS_KEY] = {"daemon", "tls_key", CONFIG_TEXT, "", .help = "File with the private key (PEM)."},
    [CONFIG_DAEMON_TLS_CLIENT_CA] = {"daemon", "tls_client_ca", CONFIG_TEXT, "",
                                     .help =
                                         "File with certificates (PEM); clients must then show one that they signed."},

    [CONFIG_SRS_PARAM_CACHE] =
        {"srs", "param_cache", CONFIG_TEXT, "/data/zk/params", .filled = true,
         .help = "Folder of parameter files (v28-*.params, .vk, .meta). A key is loaded when the first proof asks for "
                 "it, or by a preload. A file that is missing or bad fails the jobs that need it and nothing else; "
                 "once it is right, the next job takes it."},
    [CONFIG_SRS_CHECK_POINTS] =
        {"srs", "check", CONFIG_CHOICE, "once", .choices = "once|full|curve",
         .help =
             "What is checked when a key is loaded: \"full\" is that every point is on its curve and in its "
             "subgroup, \"curve\" leaves out the subgroup. \"once\" is \"full\" the first time; a receipt beside the "
             "file (FILE.checked) then spares the subgroups as long as nobody has written to the file."},
    [CONFIG_SRS_PCE_CACHE] =
        {"srs", "pce_cache", CONFIG_TEXT, "",
         .help = "Folder of compiled circuits, made when they are first needed. Empty: none is kept on disk."},
    [CONFIG_SRS_PRELOAD] = {"srs", "preload", CONFIG_LIST, "", .deprecated = true,
                            .help =
                                NO_EFFECT "Keys are loaded when they are needed; cuzk bench preload loads one ahead."},

    [CONFIG_MEMORY_TOTAL_BUDGET] =
        {"memory", "total_budget", CONFIG_SIZE, "auto", 1, UINT64_MAX, .automatic = true,
         .help = "Memory for keys and proofs together, such as \"256GiB\". Work waits until it fits; a job that can "
                 "never fit is refused at once. \"auto\": what the machine, the control group or the limits of the "
                 "process leave, whichever is least, without safety_margin. The log says which it was."},
    [CONFIG_MEMORY_SAFETY_MARGIN] =
        {"memory", "safety_margin", CONFIG_SIZE, "5GiB", 0, UINT64_MAX,
         .help = "What \"auto\" leaves to others. The default is never more than an eighth of what there is."},
    [CONFIG_MEMORY_EVICTION_MIN_IDLE] =
        {"memory", "eviction_min_idle", CONFIG_DURATION, "5m", 0, 365 * DAY, .unit_ms = 1000,
         .help = "Keys stay until their memory is needed; the one unused for longest goes first, and one in use never. "
                 "One that was in use within this time goes only for a CRITICAL job, or if neither other keys nor work "
                 "that is under way can make room. 0: any idle one goes."},
    [CONFIG_MEMORY_CRITICAL_RESERVE] =
        {"memory", "critical_reserve", CONFIG_SIZE, "0", 0, UINT64_MAX,
         .help = "Part of the budget that only CRITICAL jobs (WinningPoSt) and their keys may take, so that a full "
                 "budget cannot make them late."},
    [CONFIG_MEMORY_MAX_INPUT] = {"memory", "max_input", CONFIG_SIZE, "auto", KIB, UINT64_MAX, .automatic = true,
                                 .help = "Inputs of all waiting jobs together. \"auto\": a quarter of the budget."},
    [CONFIG_MEMORY_PINNED_BUDGET] = {"memory", "pinned_budget", CONFIG_SIZE, "0", 0, UINT64_MAX, .deprecated = true,
                                     .help = NO_EFFECT "Use total_budget."},
    [CONFIG_MEMORY_WORKING_MEMORY_BUDGET] = {"memory", "working_memory_budget", CONFIG_SIZE, "0", 0, UINT64_MAX,
                                             .deprecated = true, .help = NO_EFFECT "Use total_budget."},

    [CONFIG_GPUS_DEVICES] =
        {"gpus", "devices", CONFIG_LIST, "", 0, 1023, .numbers = true,
         .help = "Ordinals of the GPUs to use, such as [0, 1]. Empty: all that are found. One that is not there is an "
                 "error."},
    [CONFIG_GPUS_USE] =
        {"gpus", "use", CONFIG_CHOICE, "auto", .choices = "auto|required|off",
         .help = "\"auto\": GPUs where there are some, else the processors. \"required\": without a GPU the daemon "
                 "does not start. \"off\": the processors."},
    [CONFIG_GPUS_BACKEND] =
        {"gpus", "backend", CONFIG_LIST, "",
         .help = "Devices by name, in place of `use` and `devices`: \"cpu\", or \"sim:...\" for devices that take "
                 "time and fail as they are told, for tests. Empty: what `use` says."},
    [CONFIG_GPUS_GPU_THREADS] =
        {"gpus", "gpu_threads", CONFIG_INTEGER, "0", 0, 4096,
         .help =
             "Threads for what devices do on processors: all of it for the CPU device. 0: what syntheses leave, the "
             "first of which does not count, as it takes a thousandth of a proof."},
    [CONFIG_GPUS_WORKERS] =
        {"gpus", "gpu_workers_per_device", CONFIG_INTEGER, "2", 1, 16,
         .help = "Workers a device. One of them is in the kernels at a time; with two, the other one prepares or "
                 "finishes meanwhile."},
    [CONFIG_GPUS_FAILURE_LIMIT] =
        {"gpus", "failure_limit", CONFIG_INTEGER, "5", 0, 1000000,
         .help = "A device that fails so many times in a row gets no work until retry_after. 0: it always does."},
    [CONFIG_GPUS_RETRY_AFTER] = {"gpus", "retry_after", CONFIG_DURATION, "60s", 0, DAY, .unit_ms = 1000,
                                 .help = "When an unhealthy device is tried again. 0: never."},
    [CONFIG_GPUS_CPU_FALLBACK] =
        {"gpus", "cpu_fallback", CONFIG_BOOL, "false",
         .help = "Let the processors prove what the devices run out of memory for, and everything while none of them "
                 "works. It is slower; log, status and metrics say when it happens. false: such a job fails."},

    [CONFIG_SCHEDULER_MAX_BATCH_SIZE] =
        {"scheduler", "max_batch_size", CONFIG_INTEGER, "1", 1, 64,
         .help = "Proofs of one circuit that are synthesised together and then proven together. 1: no batches. More "
                 "than 1 makes pipeline.policy \"batch\" unless it is set."},
    [CONFIG_SCHEDULER_MAX_BATCH_WAIT] = {"scheduler", "max_batch_wait_ms", CONFIG_DURATION, "10000ms", 0, DAY,
                                         .unit_ms = 1,
                                         .help = "A batch that is not full starts after so many milliseconds."},
    [CONFIG_SCHEDULER_SORT_BY_TYPE] =
        {"scheduler", "sort_by_type", CONFIG_BOOL, "true",
         .help = "Of one priority, jobs whose key is loaded start before those that need another loaded, so that keys "
                 "are not loaded and evicted in turn. A job that has waited for `ageing` is not overtaken any more; if "
                 "that is 0, nobody is. false: jobs start by priority, then by age."},
    [CONFIG_SCHEDULER_AGEING] =
        {"scheduler", "ageing", CONFIG_DURATION, "10m", 0, 365 * DAY, .unit_ms = 1000,
         .help = "A job that has waited so long rises one priority, never to CRITICAL, so that LOW is not starved. "
                 "0: never."},
    [CONFIG_SCHEDULER_JOB_DEADLINE] = {"scheduler", "job_deadline", CONFIG_DURATION, "0", 0, 365 * DAY, .unit_ms = 1000,
                                       .help = "A job that is not done after so long fails. 0: no limit."},
    [CONFIG_SCHEDULER_STAGE_TIMEOUT] =
        {"scheduler", "stage_timeout", CONFIG_DURATION, "0", 0, 365 * DAY, .unit_ms = 1000,
         .help = "A synthesis, device run, verification or key load that takes longer is stopped, said in the log, "
                 "and its job fails. 0: no limit."},
    [CONFIG_SCHEDULER_CRITICAL_PLACES] = {"scheduler", "critical_places", CONFIG_INTEGER, "4", 0, 10000,
                                          .help = "Places beyond max_pending that only CRITICAL jobs may take."},
    [CONFIG_SCHEDULER_RESULTS_KEPT] =
        {"scheduler", "results_kept", CONFIG_INTEGER, "64", 1, 100000,
         .help = "Finished jobs that are remembered, for callers that ask later and for repeated request ids."},

    [CONFIG_SYNTHESIS_THREADS] =
        {"synthesis", "threads", CONFIG_INTEGER, "0", 0, 4096,
         .help = "Threads of all syntheses together. 0: one for each of pipeline.synthesis_concurrency, "
                 "but no more than a quarter of daemon.threads."},
    [CONFIG_SYNTHESIS_PARTITION_WORKERS] = {"synthesis", "partition_workers", CONFIG_INTEGER, "0", 0, UINT32_MAX,
                                            .deprecated = true,
                                            .help = NO_EFFECT "Memory decides how many partitions are under way."},

    [CONFIG_PIPELINE_ENABLED] =
        {"pipeline", "enabled", CONFIG_BOOL, "true",
         .help = "false makes the policy \"standard\" with one synthesis at a time, unless it is set."},
    [CONFIG_PIPELINE_POLICY] =
        {"pipeline", "policy", CONFIG_CHOICE, "auto", .choices = "auto|standard|slotted|partition|batch",
         .help = "What a unit of work is: \"standard\" a whole proof, \"slotted\" slot_size partitions of one, "
                 "\"partition\" one partition, \"batch\" up to scheduler.max_batch_size proofs.\n"
                 "\"auto\" follows the public daemon's keys: \"batch\" if max_batch_size is above 1; else \"standard\" "
                 "if enabled is false or slot_size is set to 0; else \"slotted\" if slot_size is set; else "
                 "\"partition\"."},
    [CONFIG_PIPELINE_SLOT_SIZE] =
        {"pipeline", "slot_size", CONFIG_INTEGER, "0", 0, 256,
         .help = "Partitions a unit of policy \"slotted\". 0 is \"standard\", if it is set; see policy."},
    [CONFIG_PIPELINE_LOOKAHEAD] = {"pipeline", "synthesis_lookahead", CONFIG_INTEGER, "1", 0, 1024,
                                   .help = "Synthesised units that may wait for a device. 0 counts as 1."},
    [CONFIG_PIPELINE_CONCURRENCY] =
        {"pipeline", "synthesis_concurrency", CONFIG_INTEGER, "1", 1, 256,
         .help = "Units in synthesis at once. More than one helps when a synthesis takes longer than a device run."},
    [CONFIG_PIPELINE_MAX_PARALLEL] = {"pipeline", "max_parallel_synthesis", CONFIG_INTEGER, "18", 0, 256,
                                      .help = "Upper limit of synthesis_concurrency. 0 counts as 18."},
    [CONFIG_PIPELINE_QUEUE_DEPTH] = {"pipeline", "max_gpu_queue_depth", CONFIG_INTEGER, "0", 0, 1024,
                                     .help = "The same as synthesis_lookahead, and in its place unless it is 0."},
    [CONFIG_PIPELINE_MAX_ATTEMPTS] =
        {"pipeline", "max_attempts", CONFIG_INTEGER, "3", 1, 100,
         .help = "Device runs a partition may have: one whose proof does not verify, or whose device failed, is proven "
                 "again alone."},

    [CONFIG_TIMELINE_PATH] =
        {"timeline", "path", CONFIG_TEXT, "",
         .help = "File that TIMELINE lines are appended to. Empty: memory alone. A file that cannot be written never "
                 "harms a proof."},
    [CONFIG_TIMELINE_TAIL_LINES] =
        {"timeline", "tail_lines", CONFIG_INTEGER, "65536", 256, 16777216,
         .help = "Newest lines kept in memory, some 170 bytes for each, for the live page and for GetTimeline."},

    [CONFIG_LOGGING_LEVEL] = {"logging", "level", CONFIG_CHOICE, "info", .choices = "error|warn|info|debug|trace",
                              .help = "What is logged. Witnesses and vanilla proofs never are, at any level."},
    [CONFIG_LOGGING_FORMAT] = {"logging", "format", CONFIG_CHOICE, "text", .choices = "text|json",
                               .help = "\"json\": one object a line."},

    [CONFIG_TESTING_TOY_CIRCUITS] = {"testing", "toy_circuits", CONFIG_BOOL, "false", .test_only = true,
                                     .help = "Offer proofs of toy circuits, which say nothing about any sector."},
    [CONFIG_TESTING_BLINDING] =
        {"testing", "blinding", CONFIG_TEXT, "", .test_only = true,
         .help = "Label that the blinding of all proofs follows from, so that they can be compared byte for byte. Such "
                 "proofs leak their witness."},
};
