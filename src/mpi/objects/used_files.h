// What calls of MPI do with files, in the table of files (recorder/used_files.h), if the process has one.
#pragma once

#include "mpi/calls/thread.h"
#include "recorder/call.h"
#include "recorder/segment.h"

namespace tare::mpi {

// Whether calls on files are to be counted.
inline bool counts_files() noexcept { return recorder::file_table() != nullptr; }

// MPI_File_open has opened a file, which calls know by the number of its scope (0: it has none), or has failed.
void count_open(const Thread& thread, const recorder::Call& call, std::uint32_t scope, const char* name,
                bool has_failed) noexcept;

// A call on a file has ended.
void count_file_call(const Thread& thread, const recorder::Call& call, bool has_failed) noexcept;

// For a forked child, which has another table.
void forget_used_files() noexcept;

}  // namespace tare::mpi
