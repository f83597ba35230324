/* tare's reader, for programs of your own: the tables of a run as Arrow C streams.
 *
 * Link with -ltare-reader (CMake: find_package(tare-reader), tare::reader; pkg-config: tare-reader).
 * examples/read_run.cpp is a program that uses it; docs/tables.md says what the tables and their columns mean.
 *
 * Errors: a function that fails returns NULL or -1, and tare_reader_error() says why, in one line. The library writes
 * to no stream, ends no process and throws nothing. What is damaged in a run is left out, and tare_reader_warnings()
 * names it.
 *
 * Threads: runs are independent of each other. Functions of one run, and the streams of its tables, may be called by
 * several threads: they wait for one another.
 */
#ifndef TARE_READER_H
#define TARE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "tare/arrow.h"

#if defined(__GNUC__)
#  define TARE_READER_API __attribute__((visibility("default")))
#else
#  define TARE_READER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A run that was opened: a picture of one moment. One that goes on has to be opened again to see more of it. */
typedef struct tare_reader_run tare_reader_run;

/* A table that a run may have rows of. All texts are static, UTF-8. */
typedef struct tare_reader_table {
  const char* name; /* "ranks" */
  const char* row;  /* what a row of it is: "a process" */
} tare_reader_table;

/* The version of the library, as "1.2.3". */
TARE_READER_API const char* tare_reader_version(void);

/* Why the last function that failed in this thread did so. Valid until another one fails in this thread. */
TARE_READER_API const char* tare_reader_error(void);

/* The tables that tare_reader_open_table() opens: the same for all runs. Static; `count` gets how many there are. */
TARE_READER_API const tare_reader_table* tare_reader_tables(size_t* count);

/* Opens a run directory, or a run of an archive (`tare merge`): the one called `member`, or, if that is NULL, the only
 * one that it holds. Paths are bytes as the system takes them. The result belongs to the caller, who gives it back
 * with tare_reader_close(). NULL on failure. */
TARE_READER_API tare_reader_run* tare_reader_open(const char* path, const char* member);

/* Streams that are still open keep what they need of the run. NULL is allowed. */
TARE_READER_API void tare_reader_close(tare_reader_run* run);

/* What a reader of the run has to know of damage: one line each, separated by '\n'; "" if there is nothing. It may grow
 * as tables are read, and is complete for a table when its stream has ended. Valid until the next call for this run. */
TARE_READER_API const char* tare_reader_warnings(tare_reader_run* run);

/* Reads a table anew: `stream`, which need not be initialised, becomes a stream of record batches. It belongs to the
 * caller, who calls its `release` when it is done with it; so do the schema and the arrays that it gives out, which
 * may outlive it. Batches have at most 8,193 rows. An array without `release` ends the stream. Where get_schema() or
 * get_next() return an errno value, get_last_error() says what happened.
 *
 * Columns that end in _ns are nanoseconds, times of day since 1970 (UTC); sizes are bytes. Texts are dictionaries of
 * UTF-8, as which bytes that are none are written like "\xff".
 *
 * Opening a table takes as long as the run requires: profiles are read now, traces as get_next() asks for them.
 * Returns 0; -1 on failure, and `stream` is released then. */
TARE_READER_API int tare_reader_open_table(tare_reader_run* run, const char* table, struct ArrowArrayStream* stream);

#ifdef __cplusplus
}
#endif

#endif
