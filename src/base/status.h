// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Status codes and error reports, shared by every layer.
//
// Conventions of the whole code base, stated once:
//  * Argument order: context, outputs, in/outs, inputs (a length right after its array), `cuzk_error *err` last.
//  * A function that can fail for a reason outside the program returns `cuzk_status` and fills `err`; `err` may be
//    NULL. A broken precondition is a bug of the caller and is caught by assert() in debug builds only.
//  * On failure outputs are left untouched or in their "empty" state; nothing leaks. Every destroy function accepts
//    NULL and half-built objects.
//  * Nothing here prints, exits or aborts.
#ifndef CUZK_BASE_STATUS_H
#define CUZK_BASE_STATUS_H

#if defined(__GNUC__)
#define CUZK_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define CUZK_MUST_USE __attribute__((warn_unused_result))
#else
#define CUZK_PRINTF(fmt, args)
#define CUZK_MUST_USE
#endif

typedef enum cuzk_status {
    CUZK_OK = 0,
    CUZK_ERR_USAGE,     // the call or the command line makes no sense
    CUZK_ERR_IO,        // a file cannot be opened, read or written
    CUZK_ERR_FORMAT,    // bytes do not follow the format: what, where, expected, found
    CUZK_ERR_INPUT,     // well-formed, but the content is wrong (a bad sector, a wrong commitment)
    CUZK_ERR_MISMATCH,  // two things that belong together do not (parameters of another circuit)
    CUZK_ERR_INVALID,   // a proof that does not verify
    CUZK_ERR_MEMORY,    // an allocation was refused
    CUZK_ERR_CANCELLED, // asked to stop
    CUZK_ERR_INTERNAL,  // a check of our own work failed
} cuzk_status;

enum { CUZK_ERROR_TEXT_MAX = 512 };

// A status with one line for people: what, where, expected, found. No trailing newline.
typedef struct cuzk_error {
    cuzk_status status;
    char text[CUZK_ERROR_TEXT_MAX];
} cuzk_error;

// Records `status` and the formatted text in `err` (if not NULL) and returns `status`, so that
// `return cuzk_fail(err, CUZK_ERR_FORMAT, "...")` reads as one statement. Control characters in the text are
// replaced by '?', so that hostile input cannot break a line of the log. Too long a text is cut.
cuzk_status cuzk_fail(cuzk_error *err, cuzk_status status, const char *fmt, ...) CUZK_PRINTF(3, 4);

// Puts "context: " in front of the text already in `err`, keeps the status, returns it. No effect if err is NULL
// (then returns `status`).
cuzk_status cuzk_fail_in(cuzk_error *err, cuzk_status status, const char *fmt, ...) CUZK_PRINTF(3, 4);

// Short stable name such as "FORMAT"; never NULL.
const char *cuzk_status_name(cuzk_status status);

#endif
