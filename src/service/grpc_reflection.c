// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Server reflection: what is in proto/, as protoc-c described it when this was built. The descriptions are small and
// are walked for each question; field numbers are those of google/protobuf/descriptor.proto.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reflection.pb-c.h"
#include "service/grpc_internal.h"

extern const char wire_descriptors[]; // a FileDescriptorSet
extern const size_t wire_descriptors_len;

typedef Grpc__Reflection__V1__ServerReflectionRequest question;
typedef Grpc__Reflection__V1__ServerReflectionResponse answer;
#define ASKED(name) GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_##name
#define ANSWERED(name) GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_##name

typedef struct view {
    const uint8_t *p;
    size_t n;
} view;

enum {
    SET_FILE = 1,
    FILE_NAME = 1,
    FILE_PACKAGE = 2,
    FILE_MESSAGE = 4,
    FILE_ENUM = 5,
    FILE_SERVICE = 6,
    MESSAGE_FIELD = 2,
    MESSAGE_NESTED = 3,
    MESSAGE_ENUM = 4,
    MESSAGE_ONEOF = 8,
    ENUM_VALUE = 2,
    SERVICE_METHOD = 2,
    ANY_NAME = 1, // of all declarations
};

struct rpc_reflection {
    view *files;
    size_t n_files;
    char **services; // full names
    size_t n_services;
};

// --- walking ---

static bool next_varint(view *rest, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; rest->n > 0 && shift < 64; shift += 7) {
        const uint8_t byte = *rest->p;
        rest->p++;
        rest->n--;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

// Moves on to the next field that holds bytes; false at the end, and where the bytes make no sense.
static bool next_bytes(view *rest, uint32_t *field, view *value) {
    uint64_t key, n;
    while (next_varint(rest, &key)) {
        *field = (uint32_t)(key >> 3);
        switch (key & 7) {
        case 0:
            if (!next_varint(rest, &n)) return false;
            continue;
        case 2:
            if (!next_varint(rest, &n) || n > rest->n) return false;
            *value = (view){rest->p, (size_t)n};
            rest->p += n;
            rest->n -= (size_t)n;
            return true;
        default: return false; // descriptions have no fixed-width fields
        }
    }
    return false;
}

static view first_of(view message, uint32_t wanted) {
    uint32_t field;
    view value;
    while (next_bytes(&message, &field, &value)) {
        if (field == wanted) return value;
    }
    return (view){0};
}

static bool equal(view a, view b) { return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }
static view view_of(const char *text) { return (view){(const uint8_t *)text, strlen(text)}; }

// "a.b.c" behind "a" is "b.c".
static bool behind(view *rest, view name, view prefix) {
    if (name.n <= prefix.n || name.p[prefix.n] != '.' || memcmp(name.p, prefix.p, prefix.n) != 0) return false;
    *rest = (view){name.p + prefix.n + 1, name.n - prefix.n - 1};
    return true;
}

// --- symbols ---

static bool has_named(view message, uint32_t field_wanted, view name) {
    uint32_t field;
    view decl;
    while (next_bytes(&message, &field, &decl)) {
        if (field == field_wanted && equal(first_of(decl, ANY_NAME), name)) return true;
    }
    return false;
}

// Values of an enum belong to what the enum belongs to.
static bool enum_declares(view decl, view symbol) {
    return equal(first_of(decl, ANY_NAME), symbol) || has_named(decl, ENUM_VALUE, symbol);
}

static bool message_declares(view decl, view symbol) {
    const view own = first_of(decl, ANY_NAME);
    view inner;
    if (equal(own, symbol)) return true;
    if (!behind(&inner, symbol, own)) return false;
    if (has_named(decl, MESSAGE_FIELD, inner) || has_named(decl, MESSAGE_ONEOF, inner)) return true;
    uint32_t field;
    view nested;
    while (next_bytes(&decl, &field, &nested)) {
        if (field == MESSAGE_NESTED && message_declares(nested, inner)) return true;
        if (field == MESSAGE_ENUM && enum_declares(nested, inner)) return true;
    }
    return false;
}

static bool service_declares(view decl, view symbol) {
    view method;
    const view own = first_of(decl, ANY_NAME);
    return equal(own, symbol) || (behind(&method, symbol, own) && has_named(decl, SERVICE_METHOD, method));
}

static bool file_declares(view file, view symbol, bool messages_only) {
    view inner, decl, rest = file;
    if (!behind(&inner, symbol, first_of(file, FILE_PACKAGE))) return false;
    uint32_t field;
    while (next_bytes(&rest, &field, &decl)) {
        if (field == FILE_MESSAGE && message_declares(decl, inner)) return true;
        if (messages_only) continue;
        if (field == FILE_ENUM && enum_declares(decl, inner)) return true;
        if (field == FILE_SERVICE && service_declares(decl, inner)) return true;
    }
    return false;
}

// --- at the start ---

void rpc_reflection_destroy(rpc_reflection **reflection) {
    rpc_reflection *r = *reflection;
    if (r == NULL) return;
    for (size_t i = 0; i < r->n_services; i++) free(r->services[i]);
    free(r->services);
    free(r->files);
    free(r);
    *reflection = NULL;
}

static char *joined(view package, view name) {
    char *out = malloc(package.n + name.n + 2);
    if (out == NULL) return NULL;
    memcpy(out, package.p, package.n);
    out[package.n] = '.';
    memcpy(out + package.n + 1, name.p, name.n);
    out[package.n + name.n + 1] = 0;
    return out;
}

static bool list_services(rpc_reflection *r, view file) {
    const view package = first_of(file, FILE_PACKAGE);
    uint32_t field;
    view decl;
    while (next_bytes(&file, &field, &decl)) {
        if (field != FILE_SERVICE) continue;
        char **more = realloc(r->services, (r->n_services + 1) * sizeof *more);
        if (more == NULL) return false;
        r->services = more;
        r->services[r->n_services] = joined(package, first_of(decl, ANY_NAME));
        if (r->services[r->n_services] == NULL) return false;
        r->n_services++;
    }
    return true;
}

cuzk_status rpc_reflection_create(rpc_reflection **out, cuzk_error *err) {
    *out = NULL;
    rpc_reflection *r = calloc(1, sizeof *r);
    bool ok = r != NULL;
    view rest = {(const uint8_t *)wire_descriptors, wire_descriptors_len}, file;
    uint32_t field;
    while (ok && next_bytes(&rest, &field, &file)) {
        if (field != SET_FILE) continue;
        view *more = realloc(r->files, (r->n_files + 1) * sizeof *more);
        ok = more != NULL;
        if (!ok) break;
        r->files = more;
        r->files[r->n_files++] = file;
        ok = list_services(r, file);
    }
    if (!ok) {
        rpc_reflection_destroy(&r);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory");
    }
    *out = r;
    return CUZK_OK;
}

// --- answers ---

static view find_file(const rpc_reflection *r, const question *q) {
    for (size_t i = 0; i < r->n_files; i++) {
        if (q->message_request_case == ASKED(FILE_BY_FILENAME)
                ? equal(first_of(r->files[i], FILE_NAME), view_of(q->file_by_filename))
                : file_declares(r->files[i], view_of(q->file_containing_symbol), false))
            return r->files[i];
    }
    return (view){0};
}

static bool is_message(const rpc_reflection *r, const char *type) {
    for (size_t i = 0; i < r->n_files; i++) {
        if (file_declares(r->files[i], view_of(type), true)) return true;
    }
    return false;
}

static grpc_byte_buffer *fail(answer *a, service_code code, const char *what, const char *name) {
    char text[256];
    snprintf(text, sizeof text, "%s %.128s", what, name);
    Grpc__Reflection__V1__ErrorResponse e;
    grpc__reflection__v1__error_response__init(&e);
    e.error_code = (int32_t)code;
    e.error_message = text;
    a->message_response_case = ANSWERED(ERROR_RESPONSE);
    a->error_response = &e;
    return wire_pack(&a->base);
}

static grpc_byte_buffer *give_file(answer *a, const rpc_reflection *r, const question *q) {
    const view file = find_file(r, q);
    if (file.n == 0)
        return q->message_request_case == ASKED(FILE_BY_FILENAME)
                   ? fail(a, SERVICE_NOT_FOUND, "no file", q->file_by_filename)
                   : fail(a, SERVICE_NOT_FOUND, "no symbol", q->file_containing_symbol);
    ProtobufCBinaryData bytes = {file.n, (uint8_t *)(uintptr_t)file.p};
    Grpc__Reflection__V1__FileDescriptorResponse m;
    grpc__reflection__v1__file_descriptor_response__init(&m);
    m.file_descriptor_proto = &bytes;
    m.n_file_descriptor_proto = 1;
    a->message_response_case = ANSWERED(FILE_DESCRIPTOR_RESPONSE);
    a->file_descriptor_response = &m;
    return wire_pack(&a->base);
}

static grpc_byte_buffer *give_services(answer *a, const rpc_reflection *r) {
    enum { MAX = 16 };
    Grpc__Reflection__V1__ServiceResponse one[MAX], *list[MAX];
    Grpc__Reflection__V1__ListServiceResponse m;
    grpc__reflection__v1__list_service_response__init(&m);
    for (size_t i = 0; i < r->n_services && i < MAX; i++) {
        grpc__reflection__v1__service_response__init(&one[i]);
        one[i].name = r->services[i];
        list[m.n_service++] = &one[i];
    }
    m.service = list;
    a->message_response_case = ANSWERED(LIST_SERVICES_RESPONSE);
    a->list_services_response = &m;
    return wire_pack(&a->base);
}

// Nothing here can be extended.
static grpc_byte_buffer *give_no_extensions(answer *a, const rpc_reflection *r, const char *type) {
    if (!is_message(r, type)) return fail(a, SERVICE_NOT_FOUND, "no message", type);
    Grpc__Reflection__V1__ExtensionNumberResponse m;
    grpc__reflection__v1__extension_number_response__init(&m);
    m.base_type_name = (char *)(uintptr_t)type;
    a->message_response_case = ANSWERED(ALL_EXTENSION_NUMBERS_RESPONSE);
    a->all_extension_numbers_response = &m;
    return wire_pack(&a->base);
}

void rpc_reflect(rpc_call *call) {
    question *q = rpc_unpack(call, &grpc__reflection__v1__server_reflection_request__descriptor);
    if (q == NULL) return;
    const rpc_reflection *r = call->server->reflection;
    answer a;
    grpc__reflection__v1__server_reflection_response__init(&a);
    a.valid_host = q->host;
    a.original_request = q;
    grpc_byte_buffer *out;
    switch (q->message_request_case) {
    case ASKED(FILE_BY_FILENAME):
    case ASKED(FILE_CONTAINING_SYMBOL): out = give_file(&a, r, q); break;
    case ASKED(LIST_SERVICES): out = give_services(&a, r); break;
    case ASKED(ALL_EXTENSION_NUMBERS_OF_TYPE): out = give_no_extensions(&a, r, q->all_extension_numbers_of_type); break;
    case ASKED(FILE_CONTAINING_EXTENSION):
        out = fail(&a, SERVICE_NOT_FOUND, "no extension of", q->file_containing_extension->containing_type);
        break;
    default: out = fail(&a, SERVICE_INVALID_ARGUMENT, "an empty question", ""); break;
    }
    protobuf_c_message_free_unpacked(&q->base, NULL);
    rpc_send(call, out);
}
