// SPDX-License-Identifier: MIT OR Apache-2.0
//
// PoRep requests: what their fields must agree with, and in which forms an input may come. A request that is right is
// refused for the memory it needs, so that nothing is loaded or proven here (tests/api/test_runtime_porep.c does that).
// Parameters must be there all the same, in CUZK_PARAMS_DIR or .cache/params of the source tree, or it is skipped.
#include <unistd.h>

#include "testing.h"

#include "api/params.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "service/service_bed.h"

enum { LIMIT = 16 << 20 };
#define C1_PATH "vectors/cases/porep-2k-a/c1.json"

static const char *params_dir(void) {
    const char *env = getenv("CUZK_PARAMS_DIR");
    return env != NULL && env[0] != 0 ? env : "../.cache/params";
}

static bool have_params(void) {
    porep_shape shape;
    params_files files;
    return porep_shape_by_size(&shape, 2048, POREP_API_1_1, POREP_INTERACTIVE, NULL) == CUZK_OK &&
           params_locate(&files, params_dir(), &shape, NULL) == CUZK_OK && access(files.params, R_OK) == 0;
}

static uint8_t *C1;
static size_t C1_LEN;

// {"SectorNum":n,"Phase1Out":"...","SectorSize":bytes}, as Curio sends it.
static char *envelope(uint64_t number, uint64_t size) {
    const size_t cap = base64_encoded_max(C1_LEN) + 128;
    char *out = mem_alloc(MEM_MISC, cap, 1);
    const int head = snprintf(out, cap, "{\"SectorNum\":%llu,\"Phase1Out\":\"", (unsigned long long)number);
    base64_encode(out + head, C1, C1_LEN);
    const size_t at = strlen(out);
    snprintf(out + at, cap - at, "\",\"SectorSize\":%llu}", (unsigned long long)size);
    return out;
}

static service *start(const char *dir) {
    static const char *const DEVICE[] = {"sim"};
    service_options o = bed_options(DEVICE);
    o.params_dir = dir;
    o.engine.memory_budget = 64 << 20;
    return bed_start(&o);
}

static void expect(service *s, const service_request *r, service_code code, const char *begin) {
    service_submitted out;
    service_error err = {0};
    if (service_submit(s, &out, r, &err) != code) fail_msg("%s: %s", service_code_name(err.code), err.text);
    if (strncmp(err.text, begin, strlen(begin)) != 0) fail_msg("\"%s\" does not begin with %s", err.text, begin);
}

static void expect_right(service *s, const service_request *r) {
    expect(s, r, SERVICE_RESOURCE_EXHAUSTED, "the proof needs more than the whole memory budget");
}

static void plain_files(void **state) {
    (void)state;
    if (!have_params()) skip();
    service *s = start(params_dir());
    const service_request r = {.kind = SERVICE_POREP, .vanilla_proof = C1, .vanilla_proof_len = C1_LEN};
    const struct {
        uint64_t size, proof;
        service_code code;
        const char *field;
    } cases[] = {
        {8388608, 5, SERVICE_INVALID_ARGUMENT, "sector_size: 8388608"},
        {2047, 5, SERVICE_INVALID_ARGUMENT, "sector_size: 2047"},
        {2048, 8, SERVICE_INVALID_ARGUMENT, "registered_proof: 8 is StackedDrg32GiBV1_1"},
        {2048, 10, SERVICE_INVALID_ARGUMENT, "registered_proof: 10 is StackedDrg2KiBV1_1_Feat_SyntheticPoRep"},
        {2048, 15, SERVICE_INVALID_ARGUMENT, "registered_proof: 15 is StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"},
        {2048, 4, SERVICE_INVALID_ARGUMENT, "registered_proof: 4 is StackedDrg64GiBV1,"},
        {2048, 20, SERVICE_INVALID_ARGUMENT, "registered_proof: 20"},
    };
    expect_right(s, &r);
    service_request all = r;
    all.sector_size = 2048;
    all.registered_proof = 5;
    all.sector_number = 1234; // a bare file does not say which sector it is of
    expect_right(s, &all);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        service_request q = r;
        q.sector_size = cases[i].size;
        q.registered_proof = cases[i].proof;
        expect(s, &q, cases[i].code, cases[i].field);
    }
    service_request cut = r;
    cut.vanilla_proof_len = C1_LEN / 2;
    expect(s, &cut, SERVICE_INVALID_ARGUMENT, "vanilla_proof: ");
    // One node of one Merkle path is another: well-formed, and of no sector.
    uint8_t *bad = mem_alloc(MEM_MISC, C1_LEN, 1);
    memcpy(bad, C1, C1_LEN);
    char *digit = strstr((char *)bad, "\"root\":[19,");
    assert_non_null(digit);
    digit[9] = '8';
    cut = r;
    cut.vanilla_proof = bad;
    expect(s, &cut, SERVICE_INVALID_ARGUMENT, "vanilla_proof: ");
    mem_free(bad);
    service_destroy(&s);
}

static void envelopes(void **state) {
    (void)state;
    if (!have_params()) skip();
    service *s = start(params_dir());
    char *good = envelope(7, 2048), *at_odds = envelope(7, 8388608);
    service_request r = {.kind = SERVICE_POREP,
                         .sector_size = 2048,
                         .registered_proof = 5,
                         .vanilla_proof = (const uint8_t *)good,
                         .vanilla_proof_len = strlen(good)};
    expect_right(s, &r);
    r.sector_number = 7;
    expect_right(s, &r);
    r.sector_number = 8;
    expect(s, &r, SERVICE_INVALID_ARGUMENT, "sector_number: 8, but vanilla_proof is of sector 7");
    r.sector_number = 7;
    r.vanilla_proof = (const uint8_t *)at_odds;
    r.vanilla_proof_len = strlen(at_odds);
    expect(s, &r, SERVICE_INVALID_ARGUMENT, "vanilla_proof: ");
    good[strlen(good) / 2] = '*';
    r.vanilla_proof = (const uint8_t *)good;
    r.vanilla_proof_len = strlen(good);
    expect(s, &r, SERVICE_INVALID_ARGUMENT, "vanilla_proof: ");
    mem_free(good);
    mem_free(at_odds);
    service_destroy(&s);
}

static void no_parameters(void **state) {
    (void)state;
    service *s = start("vectors/vk"); // verifying keys alone
    const service_request r = {.kind = SERVICE_POREP, .vanilla_proof = C1, .vanilla_proof_len = C1_LEN};
    expect(s, &r, SERVICE_FAILED_PRECONDITION, "");
    bool there;
    uint64_t ms;
    service_error err;
    assert_int_equal(service_preload(s, "porep-2k", &there, &ms, &err), SERVICE_FAILED_PRECONDITION);
    assert_non_null(strstr(err.text, "vectors/vk"));
    assert_int_equal(service_preload(s, "porep-3k", &there, &ms, &err), SERVICE_INVALID_ARGUMENT);
    // Toys are none the worse for it.
    service_submitted out;
    assert_int_equal(bed_submit(s, &out, "toy", BED_LOG, 1, 1, NULL, NULL), SERVICE_OK);
    bed_expect_done(s, out.job, BED_LOG, 1, 1);
    service_destroy(&s);
}

static int read_c1(void **state) {
    (void)state;
    return file_read_all(&C1, &C1_LEN, C1_PATH, LIMIT, NULL) == CUZK_OK ? 0 : -1;
}

static int free_c1(void **state) {
    (void)state;
    mem_free(C1);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_files),
        cmocka_unit_test(envelopes),
        cmocka_unit_test(no_parameters),
    };
    return cmocka_run_group_tests(tests, read_c1, free_c1);
}
