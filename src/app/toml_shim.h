// SPDX-License-Identifier: MIT OR Apache-2.0
//
// TOML without C++ at the caller: toml++ behind two functions. No exception leaves the shim.
#ifndef CUZK_APP_TOML_SHIM_H
#define CUZK_APP_TOML_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum toml_type {
    TOML_STRING,
    TOML_INTEGER,
    TOML_BOOL,
    TOML_LIST,  // elements: strings and integers as text; `other` if there is anything else
    TOML_TABLE, // of items: an empty section, or a table where a value belongs
    TOML_OTHER  // a float, a date, a time
} toml_type;

typedef struct toml_item {
    const char *section; // "" for a key in front of all sections
    const char *key;     // "" for the section itself (type TABLE, or the wrong type)
    toml_type type;
    const char *type_name; // for messages: "a string", "an integer", ...
    uint32_t line, column; // of the key, from 1
    const char *string;    // STRING; may hold NUL bytes
    size_t string_len;
    int64_t integer;
    bool boolean;
    const char *const *elements; // LIST
    size_t n_elements;
    const char *other; // LIST: type name of the first element that is neither string nor integer, or NULL
} toml_item;

typedef struct toml_document toml_document;

typedef struct toml_mistake {
    uint32_t line, column;
    char text[256];
} toml_mistake;

// Items in the order of the file; each section comes before its keys. NULL and *mistake when the text is not TOML or
// memory is refused (then line 0).
toml_document *toml_read(const char *text, size_t len, toml_mistake *mistake);
size_t toml_count(const toml_document *d);
const toml_item *toml_at(const toml_document *d, size_t i); // valid until toml_free
void toml_free(toml_document *d);                           // NULL is fine

#ifdef __cplusplus
}
#endif

#endif
