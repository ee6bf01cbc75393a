// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Whole files in, whole files out. A file is either there complete or not there at all.
#ifndef CUZK_BASE_FILE_H
#define CUZK_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

// Reads a whole file ("-" is standard input) into memory owned by the caller (mem_free). Refuses more than `limit`
// bytes, naming limit and size. A NUL that *len does not count follows the data. Directories, missing files and short
// reads are CUZK_ERR_IO with the path in the text.
CUZK_MUST_USE cuzk_status file_read_all(uint8_t **data, size_t *len, const char *path, size_t limit, cuzk_error *err);

// An output file that appears under its name only when complete: written to a temporary file beside it, fsynced,
// renamed, directory fsynced. Until then, or after a failure or an abort, the old content (or absence) stays; only
// when syncing the directory fails is the new, complete file already in place. A symbolic link is followed. A device or a pipe cannot be replaced and is written to directly.
typedef struct file_writer file_writer;
CUZK_MUST_USE cuzk_status file_writer_open(file_writer **out, const char *path, cuzk_error *err);
CUZK_MUST_USE cuzk_status file_writer_put(file_writer *w, const void *data, size_t len, cuzk_error *err);
// Publishes the file and closes the writer, also on failure; *w becomes NULL.
CUZK_MUST_USE cuzk_status file_writer_commit(file_writer **w, cuzk_error *err);
// Drops everything written. Accepts NULL and a writer already committed.
void file_writer_abort(file_writer **w);

// The three calls above for data already in memory. "-" writes to standard output.
CUZK_MUST_USE cuzk_status file_write_all(const char *path, const void *data, size_t len, cuzk_error *err);

// A file open for positioned reads. Never mapped: a file that shrinks under us gives an error, not a SIGBUS.
typedef struct file_reader file_reader;
CUZK_MUST_USE cuzk_status file_reader_open(file_reader **out, const char *path, cuzk_error *err);
uint64_t file_reader_size(const file_reader *r); // size at opening time
const char *file_reader_path(const file_reader *r);
// Reads exactly len bytes at offset; anything less is CUZK_ERR_IO ("truncated at byte N"). Safe from several threads.
CUZK_MUST_USE cuzk_status file_reader_at(file_reader *r, void *data, size_t len, uint64_t offset, cuzk_error *err);
void file_reader_close(file_reader **r);

// Which file this is, and in which state: as long as it is the same, nobody has written to the file. (A change of its
// content, even one that sets the time of change back, moves the time of its inode.) What the device or the machine
// does to the bytes by itself shows nowhere.
typedef struct file_identity {
    uint64_t device, inode, size;
    int64_t changed_ns, inode_changed_ns; // since 1970
} file_identity;
// As it is now, of the open file. False if it cannot be told.
CUZK_MUST_USE bool file_reader_identity(file_identity *out, const file_reader *r);

// Creates a directory and its parents if absent.
CUZK_MUST_USE cuzk_status file_make_dirs(const char *path, cuzk_error *err);

#endif
