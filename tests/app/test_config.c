// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The configuration: what is refused and how it is said, what is accepted, and that the documents made from the table
// are those of the repository.
#include "testing.h"

#include <unistd.h>

#include "app/config.h"
#include "base/mem.h"

static config *fresh(void) {
    config *c = NULL;
    cuzk_error err;
    assert_int_equal(config_create(&c, &err), CUZK_OK);
    return c;
}

static cuzk_status read_text(config *c, const char *text, cuzk_error *err) {
    return config_read_text(c, "x.toml", text, strlen(text), err);
}

// --- refusals ---

#define TEXT "expected text that is not empty, found "
#define SLOTS "x.toml:2: pipeline.slot_size: expected a whole number from 0 to 256, found "
#define ORDINALS "x.toml:2: gpus.devices: expected a list of whole numbers from 0 to 1023, found "
#define BUDGET "x.toml:2: memory.total_budget: expected \"auto\" or a size such as \"256GiB\", found "

static const struct {
    const char *toml, *expected; // the error begins with `expected`
} BAD[] = {
    // Names.
    {"[deamon]\n", "x.toml:1: deamon: there is no such section; did you mean [daemon]?"},
    {"[network]\nport = 1\n", "x.toml:1: network: there is no such section"},
    {"\n[daemon]\nlisen = \"x\"\n", "x.toml:3: daemon.lisen: there is no such key; did you mean daemon.listen?"},
    {"[daemon]\nslot_size = 3\n", "x.toml:2: daemon.slot_size: there is no such key; did you mean pipeline.slot_size?"},
    {"[daemon]\nxyzzy = 3\n", "x.toml:2: daemon.xyzzy: there is no such key"},
    {"[daemon]\nListen = \"x\"\n", "x.toml:2: daemon.Listen: there is no such key; did you mean daemon.listen?"},
    {"listen = \"x\"\n", "x.toml:1: listen: keys stand in sections; did you mean listen in [daemon]?"},
    {"daemon = 3\n", "x.toml:1: daemon: expected a section [daemon], found an integer"},
    {"[[daemon]]\nlisten = \"x\"\n", "x.toml:1: daemon: expected a section [daemon], found a list"},
    {"[daemon.listen]\nx = 1\n", "x.toml:1: daemon.listen: " TEXT "a table"},
    // Types.
    {"[daemon]\nlisten = 9820\n", "x.toml:2: daemon.listen: " TEXT "the integer 9820"},
    {"[daemon]\nlisten = \"\"\n", "x.toml:2: daemon.listen: " TEXT "\"\""},
    {"[daemon]\nlisten = \"a\\u0000b\"\n", "x.toml:2: daemon.listen: " TEXT "a string with a NUL in it"},
    {"[daemon]\nlisten = \"a\\nb\"\n", "x.toml:2: daemon.listen: " TEXT "\"a?b\""},
    {"[pipeline]\nenabled = \"yes\"\n", "x.toml:2: pipeline.enabled: expected true or false, found the string \"yes\""},
    {"[pipeline]\nenabled = 0\n", "x.toml:2: pipeline.enabled: expected true or false, found the integer 0"},
    {"[pipeline]\nslot_size = \"3\"\n", SLOTS "the string \"3\""},
    {"[pipeline]\nslot_size = 1.5\n", SLOTS "a number with a fraction"},
    {"[pipeline]\nslot_size = 2026-01-01\n", SLOTS "a date"},
    {"[pipeline]\nslot_size = [1]\n", SLOTS "a list"},
    {"[gpus]\ndevices = 0\n", ORDINALS "the integer 0"},
    {"[gpus]\ndevices = [0, -1]\n", ORDINALS "\"-1\" in the list"},
    {"[gpus]\ndevices = [0, true]\n", ORDINALS "true or false in the list"},
    {"[gpus]\ndevices = [\"a\"]\n", ORDINALS "\"a\" in the list"},
    {"[gpus]\nbackend = [\"cpu\", \"\"]\n", "x.toml:2: gpus.backend: expected a list of words, found \"\" in the list"},
    // Ranges.
    {"[pipeline]\nslot_size = -1\n", SLOTS "\"-1\""},
    {"[pipeline]\nslot_size = 257\n", SLOTS "\"257\""},
    {"[daemon]\nmax_pending = 0\n", "x.toml:2: daemon.max_pending: expected a whole number from 1 to 100000, found "
                                    "\"0\""},
    {"[daemon]\nmax_message = \"2GiB\"\n", "x.toml:2: daemon.max_message: expected a size such as \"256GiB\" of at "
                                           "least 1KiB and at most 2047MiB, found \"2GiB\""},
    {"[daemon]\nshutdown_timeout = \"25h\"\n", "x.toml:2: daemon.shutdown_timeout: expected a time such as \"5m\" or "
                                               "\"300s\", from 0s to 24h, found \"25h\""},
    {"[memory]\ntotal_budget = 0\n", BUDGET "\"0\""},
    // Units.
    {"[memory]\ntotal_budget = \"12 parsecs\"\n", BUDGET "\"12 parsecs\""},
    {"[memory]\ntotal_budget = \"256 G\"\n", BUDGET},
    {"[memory]\ntotal_budget = \"GiB\"\n", BUDGET},
    {"[memory]\ntotal_budget = \"-5GiB\"\n", BUDGET},
    {"[memory]\ntotal_budget = \"5GiB \"\n", BUDGET},
    {"[memory]\ntotal_budget = \" 5GiB\"\n", BUDGET},
    {"[memory]\ntotal_budget = \"1.GiB\"\n", BUDGET},
    {"[memory]\ntotal_budget = \"1.5\"\n", BUDGET},
    {"[memory]\ntotal_budget = \"Auto\"\n", BUDGET},
    {"[memory]\ntotal_budget = \"99999999TiB\"\n", BUDGET},
    {"[memory]\nsafety_margin = \"auto\"\n", "x.toml:2: memory.safety_margin: expected a size"},
    {"[memory]\neviction_min_idle = \"5 fortnights\"\n", "x.toml:2: memory.eviction_min_idle: expected a time"},
    {"[memory]\neviction_min_idle = true\n", "x.toml:2: memory.eviction_min_idle: expected a time"},
    // Words.
    {"[logging]\nlevel = \"loud\"\n", "x.toml:2: logging.level: expected \"error\", \"warn\", \"info\", \"debug\" or "
                                      "\"trace\", found \"loud\""},
    {"[pipeline]\npolicy = \"standard|slotted\"\n", "x.toml:2: pipeline.policy: expected \"auto\", \"standard\", "
                                                    "\"slotted\", \"partition\" or \"batch\", found "
                                                    "\"standard|slotted\""},
    {"[pipeline]\npolicy = \"\"\n", "x.toml:2: pipeline.policy: expected \"auto\""},
    // Not TOML.
    {"[daemon]\nlisten = \n", "x.toml:2: not TOML: column"},
    {"[daemon]\nlisten = \"x\"\nlisten = \"y\"\n", "x.toml:3: not TOML: column"},
    {"[daemon]\n[srs]\n[daemon]\n", "x.toml:3: not TOML: column"},
    {"[daemon\n", "x.toml:1: not TOML: column"},
    {"listen\n", "x.toml:1: not TOML: column"},
    {"[daemon]\nlisten = \"\xff\"\n", "x.toml:2: not TOML: column"},
    {"[daemon]\nlisten = \"unended\n", "x.toml:2: not TOML: column"},
    {"\x7f\x45\x4c\x46\x02", "x.toml:1: not TOML: column"},
};

static void test_what_is_refused(void **state) {
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        config *c = fresh();
        cuzk_error err = {0};
        cuzk_status s = read_text(c, BAD[i].toml, &err);
        if (s != CUZK_ERR_USAGE || strncmp(err.text, BAD[i].expected, strlen(BAD[i].expected)) != 0) {
            print_error("case %zu: status %d, text\n  %s\nexpected\n  %s\n", i, s, err.text, BAD[i].expected);
            failed++;
        }
        config_destroy(&c);
    }
    assert_int_equal(failed, 0);
}

// A list in a list, half a million deep, and a section name of a megabyte: an error, in little time and stack.
static void test_hostile_shapes(void **state) {
    (void)state;
    static char text[1 << 20];
    cuzk_error err;
    config *c = fresh();
    memset(text, '[', sizeof text);
    memcpy(text, "[gpus]\ndevices = ", 17);
    assert_int_equal(config_read_text(c, "x.toml", text, sizeof text, &err), CUZK_ERR_USAGE);
    memset(text, 'a', sizeof text);
    text[0] = '[', text[sizeof text - 1] = ']';
    assert_int_equal(config_read_text(c, "x.toml", text, sizeof text, &err), CUZK_ERR_USAGE);
    config_destroy(&c);
}

static const struct {
    const char *entry, *expected;
} BAD_ENVIRONMENT[] = {
    {"CUZK_MEMORY_TOTAL_BUDGET=lots",
     "environment CUZK_MEMORY_TOTAL_BUDGET: memory.total_budget: expected \"auto\" or"},
    {"CUZK_MEMORY_TOTAL_BUDGET=", "environment CUZK_MEMORY_TOTAL_BUDGET: memory.total_budget: expected \"auto\" or"},
    {"CUZK_PIPELINE_ENABLED=maybe", "environment CUZK_PIPELINE_ENABLED: pipeline.enabled: expected true or false, "
                                    "found \"maybe\""},
    {"CUZK_PIPELINE_SLOT_SIZE=0x10", "environment CUZK_PIPELINE_SLOT_SIZE: pipeline.slot_size: expected a whole "
                                     "number from 0 to 256, found \"0x10\""},
    {"CUZK_PIPELINE_SLOT_SIZE= 3", "environment CUZK_PIPELINE_SLOT_SIZE: pipeline.slot_size: expected a whole number"},
    {"CUZK_GPUS_DEVICES=0,,1", "environment CUZK_GPUS_DEVICES: gpus.devices: expected a list of whole numbers"},
    {"CUZK_GPUS_DEVICES=auto", "environment CUZK_GPUS_DEVICES: gpus.devices: expected a list of whole numbers"},
    {"CUZK_LOGGING_LEVEL=INFO", "environment CUZK_LOGGING_LEVEL: logging.level: expected \"error\", "},
    {"CUZK_DAEMON_LISTEN=", "environment CUZK_DAEMON_LISTEN: daemon.listen: expected text that is not empty"},
    {"CUZK_SCHEDULER_MAX_BATCH_WAIT_MS=5m5", "environment CUZK_SCHEDULER_MAX_BATCH_WAIT_MS: "
                                             "scheduler.max_batch_wait_ms: expected a time"},
};

static void test_bad_environment(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof BAD_ENVIRONMENT / sizeof *BAD_ENVIRONMENT; i++) {
        config *c = fresh();
        cuzk_error err = {0};
        const char *strange = NULL;
        char entry[128];
        snprintf(entry, sizeof entry, "%s", BAD_ENVIRONMENT[i].entry);
        char *environment[] = {entry, NULL};
        cuzk_status s = config_read_environment(c, &strange, environment, &err);
        const char *expected = BAD_ENVIRONMENT[i].expected;
        if (s != CUZK_ERR_USAGE || strncmp(err.text, expected, strlen(expected)) != 0)
            fail_msg("case %zu: status %d, text\n  %s\nexpected\n  %s", i, s, err.text, expected);
        config_destroy(&c);
    }
}

static void test_bad_words_of_set(void **state) {
    (void)state;
    static const struct {
        const char *word, *expected;
    } cases[] = {
        {"", "--set takes section.key=value, found ''"},
        {"daemon.listen", "--set takes section.key=value, found 'daemon.listen'"},
        {"=x", "--set takes section.key=value, found '=x'"},
        {"listen=x", "--set takes section.key=value, found 'listen=x'"},
        {"daemon.lisen=x", "--set: daemon.lisen: there is no such key; did you mean daemon.listen?"},
        {"pipline.enabled=1", "--set: pipline: there is no such section; did you mean [pipeline]?"},
        {"pipeline.enabled=2", "--set: pipeline.enabled: expected true or false, found \"2\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        config *c = fresh();
        cuzk_error err = {0};
        assert_int_equal(config_set_word(c, cases[i].word, &err), CUZK_ERR_USAGE);
        assert_string_equal(err.text, cases[i].expected);
        config_destroy(&c);
    }
}

// --- what is accepted ---

static void test_public_configuration(void **state) {
    (void)state;
    config *c = fresh();
    cuzk_error err = {0};
    // Sections and keys of the public daemon, deprecated ones too.
    const char *text = "[daemon]\nlisten = \"0.0.0.0:9820\"\nstatus_listen = \"0.0.0.0:9821\"\n"
                       "[srs]\nparam_cache = \"/data/zk/params\"\npreload = [\"porep-32g\"]\n"
                       "[memory]\ntotal_budget = \"256GiB\"\nsafety_margin = \"8GiB\"\neviction_min_idle = \"10m\"\n"
                       "pinned_budget = \"50GiB\"\nworking_memory_budget = \"80GiB\"\n"
                       "[gpus]\ndevices = [0, 1]\ngpu_threads = 32\ngpu_workers_per_device = 2\n"
                       "[scheduler]\nmax_batch_size = 1\nmax_batch_wait_ms = 10000\nsort_by_type = true\n"
                       "[synthesis]\nthreads = 0\npartition_workers = 12\n"
                       "[pipeline]\nenabled = true\nsynthesis_lookahead = 1\nsynthesis_concurrency = 2\n"
                       "slot_size = 3\nmax_parallel_synthesis = 18\nmax_gpu_queue_depth = 8\n"
                       "[logging]\nlevel = \"debug\"\nformat = \"json\"\n";
    assert_int_equal(read_text(c, text, &err), CUZK_OK);
    assert_string_equal(c->values[CONFIG_DAEMON_LISTEN].text, "0.0.0.0:9820");
    assert_true(c->values[CONFIG_MEMORY_TOTAL_BUDGET].number == UINT64_C(256) << 30);
    assert_int_equal(c->values[CONFIG_MEMORY_EVICTION_MIN_IDLE].number, 600 * 1000);
    assert_int_equal(c->values[CONFIG_GPUS_DEVICES].n_list, 2);
    assert_string_equal(c->values[CONFIG_GPUS_DEVICES].list[1], "1");
    assert_int_equal(c->values[CONFIG_SCHEDULER_MAX_BATCH_WAIT].number, 10000);
    assert_int_equal(c->values[CONFIG_PIPELINE_SLOT_SIZE].source, CONFIG_FROM_FILE);
    assert_int_equal(c->values[CONFIG_TIMELINE_PATH].source, CONFIG_FROM_DEFAULT);
    char where[CONFIG_WHERE_MAX];
    config_where(where, c, CONFIG_PIPELINE_SLOT_SIZE);
    assert_string_equal(where, "x.toml:28");
    config_destroy(&c);
}

static void test_sizes_and_times(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } sizes[] = {{"0", 0},
                 {"17", 17},
                 {"17B", 17},
                 {"1TiB", UINT64_C(1) << 40},
                 {"256gib", UINT64_C(256) << 30},
                 {"256 GiB", UINT64_C(256) << 30},
                 {"1.5GiB", UINT64_C(3) << 29},
                 {"0.001KiB", 1},
                 {"5GB", UINT64_C(5000000000)},
                 {"1.25MB", 1250000},
                 {"18446744073709551615", UINT64_MAX},
                 {"16777215.999999999TiB", UINT64_MAX - 1099}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t v = 0;
        assert_true(config_parse_size(&v, sizes[i].text));
        if (v != sizes[i].value) fail_msg("%s gave %llu", sizes[i].text, (unsigned long long)v);
    }
    uint64_t v = 0;
    assert_false(config_parse_size(&v, "18446744073709551616"));
    assert_false(config_parse_size(&v, "16777216TiB"));
    assert_false(config_parse_size(&v, "1.0000000001GiB"));
    assert_true(config_parse_duration(&v, 1000, "60"));
    assert_int_equal(v, 60000);
    assert_true(config_parse_duration(&v, 1, "60"));
    assert_int_equal(v, 60);
    assert_true(config_parse_duration(&v, 1000, "1.5h"));
    assert_int_equal(v, 5400000);
    assert_true(config_parse_duration(&v, 1000, "250ms"));
    assert_int_equal(v, 250);
    assert_true(config_parse_duration(&v, 1000, "2d"));
    assert_int_equal(v, 2 * 86400000);
    assert_false(config_parse_duration(&v, 1000, ""));
    assert_false(config_parse_duration(&v, 1000, "5 m m"));
    // What is printed is read back as the same.
    test_rng rng = test_rng_new("sizes");
    for (int i = 0; i < 2000; i++) {
        char text[32];
        uint64_t n = test_edge_u64(&rng), back = 0;
        config_format_size(text, n);
        assert_true(config_parse_size(&back, text));
        if (back != n) fail_msg("%llu is printed as %s", (unsigned long long)n, text);
        n %= UINT64_C(1) << 50;
        config_format_duration(text, n);
        assert_true(config_parse_duration(&back, 1000, text));
        assert_true(back == n);
    }
}

static void test_the_later_wins(void **state) {
    (void)state;
    config *c = fresh();
    cuzk_error err = {0};
    const char *strange = NULL;
    char on[] = "CUZK_TESTING_TOY_CIRCUITS=Yes", level[] = "CUZK_LOGGING_LEVEL=debug",
         off[] = "CUZK_PIPELINE_ENABLED=", list[] = "CUZK_GPUS_BACKEND=cpu, sim:delay=5ms",
         params[] = "CUZK_PARAMS_DIR=/x", no[] = "CUZK_DAEMON_PORT=1", other[] = "PATH=/bin";
    char *environment[] = {on, level, off, list, params, no, other, NULL};
    assert_int_equal(read_text(c, "[logging]\nlevel = \"warn\"\n[gpus]\nbackend = \"cpu\"\n", &err), CUZK_OK);
    assert_int_equal(c->values[CONFIG_GPUS_BACKEND].n_list, 1);
    assert_int_equal(config_read_environment(c, &strange, environment, &err), CUZK_OK);
    assert_string_equal(strange, "CUZK_DAEMON_PORT=1");
    assert_int_equal(c->values[CONFIG_TESTING_TOY_CIRCUITS].number, 1);
    assert_int_equal(c->values[CONFIG_PIPELINE_ENABLED].number, 0);
    assert_string_equal(c->values[CONFIG_LOGGING_LEVEL].text, "debug");
    assert_int_equal(c->values[CONFIG_GPUS_BACKEND].n_list, 2);
    assert_string_equal(c->values[CONFIG_GPUS_BACKEND].list[1], "sim:delay=5ms");
    char where[CONFIG_WHERE_MAX];
    config_where(where, c, CONFIG_LOGGING_LEVEL);
    assert_string_equal(where, "environment CUZK_LOGGING_LEVEL");
    assert_int_equal(config_set(c, CONFIG_LOGGING_LEVEL, "--log-level", "trace", &err), CUZK_OK);
    assert_int_equal(config_set_word(c, "timeline.path=/tmp/a=b", &err), CUZK_OK);
    assert_string_equal(c->values[CONFIG_LOGGING_LEVEL].text, "trace");
    assert_string_equal(c->values[CONFIG_TIMELINE_PATH].text, "/tmp/a=b");
    config_where(where, c, CONFIG_LOGGING_LEVEL);
    assert_string_equal(where, "flag");
    // A refused value leaves the old one.
    assert_int_equal(config_set(c, CONFIG_LOGGING_LEVEL, "--log-level", "loud", &err), CUZK_ERR_USAGE);
    assert_string_equal(err.text, "--log-level: logging.level: expected \"error\", \"warn\", \"info\", \"debug\" or "
                                  "\"trace\", found \"loud\"");
    assert_string_equal(c->values[CONFIG_LOGGING_LEVEL].text, "trace");
    config_destroy(&c);
}

// Names of simulated devices have commas of their own.
static void test_words_with_commas(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        const char *first;
    } cases[] = {{"", 0, NULL},
                 {"cpu", 1, "cpu"},
                 {"cpu,cpu", 2, "cpu"},
                 {"sim:kernel=5ms,wrong@3;", 1, "sim:kernel=5ms,wrong@3"},
                 {"sim:kernel=5ms,wrong@3; cpu", 2, "sim:kernel=5ms,wrong@3"}};
    config *c = fresh();
    cuzk_error err = {0};
    config_value *v = &c->values[CONFIG_GPUS_BACKEND];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(config_set(c, CONFIG_GPUS_BACKEND, "--set", cases[i].text, &err), CUZK_OK);
        assert_int_equal(v->n_list, cases[i].n);
        if (v->n_list > 0) assert_string_equal(v->list[0], cases[i].first);
    }
    assert_int_equal(config_set(c, CONFIG_GPUS_BACKEND, "--set", ";", &err), CUZK_ERR_USAGE);
    assert_int_equal(read_text(c, "[gpus]\nbackend = \"sim:kernel=5ms,wrong@3\"\n", &err), CUZK_OK);
    assert_int_equal(v->n_list, 1);
    assert_string_equal(v->list[0], "sim:kernel=5ms,wrong@3");
    assert_int_equal(read_text(c, "[gpus]\nbackend = [\"sim:a,b\", \"c;d\"]\n", &err), CUZK_OK);
    assert_int_equal(v->n_list, 2);
    config_destroy(&c);
}

static void test_files(void **state) {
    (void)state;
    config *c = fresh();
    cuzk_error err = {0};
    assert_int_equal(config_read_file(c, "/nonexistent/cuzk.toml", false, &err), CUZK_OK);
    assert_null(c->path);
    assert_int_equal(config_read_file(c, "/nonexistent/cuzk.toml", true, &err), CUZK_ERR_USAGE);
    assert_non_null(strstr(err.text, "/nonexistent/cuzk.toml"));
    assert_int_equal(config_read_file(c, "/", false, &err), CUZK_ERR_USAGE); // there, and no file
    assert_int_equal(config_read_file(c, "/dev/zero", true, &err), CUZK_ERR_USAGE);
    config_destroy(&c);
}

// --- the table and what is made of it ---

// Reads a whole stream from its beginning and closes it; free() the text.
static char *slurp(FILE *f, size_t *len) {
    assert_non_null(f);
    char *text = malloc(1 << 20);
    assert_non_null(text);
    rewind(f);
    *len = fread(text, 1, (1 << 20) - 1, f);
    text[*len] = 0;
    fclose(f);
    return text;
}

static void assert_is_committed(void (*print)(FILE *), const char *path) {
    FILE *f = tmpfile();
    assert_non_null(f);
    print(f);
    size_t made_len, there_len;
    char *made = slurp(f, &made_len), *there = slurp(fopen(path, "r"), &there_len);
    if (made_len != there_len || memcmp(made, there, made_len) != 0)
        fail_msg("%s is not what the table makes; make it again", path);
    free(made);
    free(there);
}

static void test_documents_are_those_of_the_repository(void **state) {
    (void)state;
    assert_is_committed(config_print_example, "../packaging/cuzk.example.toml");
    assert_is_committed(config_print_manual, "../packaging/man/cuzk.toml.5");
}

// The example with every # taken away in front of a key says the defaults, and says all of them.
static void test_example_is_the_defaults(void **state) {
    (void)state;
    FILE *f = tmpfile();
    assert_non_null(f);
    config_print_example(f);
    size_t len;
    char *text = slurp(f, &len);
    for (char *p = text; (p = strstr(p, "\n#")) != NULL; p++) {
        size_t word = strspn(p + 2, "abcdefghijklmnopqrstuvwxyz_0123456789");
        if (word > 0 && strncmp(p + 2 + word, " = ", 3) == 0) p[1] = ' ';
    }
    config *c = fresh(), *d = fresh();
    cuzk_error err = {0};
    if (read_text(c, text, &err) != CUZK_OK) fail_msg("%s", err.text);
    for (int i = 0; i < CONFIG_KEYS; i++) {
        char a[256], b[256];
        assert_int_equal(c->values[i].source, CONFIG_FROM_FILE);
        config_format(a, sizeof a, &CONFIG_TABLE[i], &c->values[i]);
        config_format(b, sizeof b, &CONFIG_TABLE[i], &d->values[i]);
        assert_string_equal(a, b);
    }
    config_destroy(&c);
    config_destroy(&d);
    free(text);
}

static void test_table_is_whole(void **state) {
    (void)state;
    for (int i = 0; i < CONFIG_KEYS; i++) {
        const config_key *k = &CONFIG_TABLE[i];
        if (k->name == NULL || k->help == NULL) fail_msg("key %d is not in the table", i);
        assert_true(strlen(k->help) > 20);
        assert_true(k->help[strlen(k->help) - 1] == '.');
        assert_true(strlen(k->section) + strlen(k->name) < 60); // for names in the environment
        bool section = false;
        for (size_t s = 0; s < CONFIG_N_SECTIONS; s++) section |= strcmp(CONFIG_SECTIONS[s].name, k->section) == 0;
        assert_true(section);
        for (int j = 0; j < i; j++)
            assert_false(strcmp(CONFIG_TABLE[j].section, k->section) == 0 &&
                         strcmp(CONFIG_TABLE[j].name, k->name) == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_hostile_shapes),
        cmocka_unit_test(test_bad_environment),
        cmocka_unit_test(test_bad_words_of_set),
        cmocka_unit_test(test_public_configuration),
        cmocka_unit_test(test_sizes_and_times),
        cmocka_unit_test(test_the_later_wins),
        cmocka_unit_test(test_words_with_commas),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_documents_are_those_of_the_repository),
        cmocka_unit_test(test_example_is_the_defaults),
        cmocka_unit_test(test_table_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
