// The measured process as a whole: its segment, its definition log, and what happens at exit and fork.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/definition.h"
#include "format/sample.h"
#include "format/segment.h"
#include "recorder/own_run.h"

namespace tare::recorder {

struct Location;

// What the recorder's user adds to it.
struct Options {
  std::size_t location_bytes;    // size of the type derived from Location; zero-initialised memory
  std::uint32_t rows;            // of a location's profile table, at least 1
  bool requests;                 // whether the segment has a request table
  std::uint32_t sample_classes;  // room for classes of sampled messages; 0: messages are not sampled
  // Called in a thread that has got its location, which may have been another's; may be nullptr.
  void (*started)(Location& location) noexcept;
  // Called in a thread that pauses; may be nullptr.
  void (*pauses)(Location& location) noexcept;
  // Called in a thread that has a location: it ends, and so has left whatever it was in; the process exits, in this
  // thread. May be nullptr.
  void (*ended)(Location& location) noexcept;
  void (*exiting)(Location& location) noexcept;
  // Changes what messages are sampled; nullptr, or what is wrong with the text. May be nullptr.
  const char* (*change_sampling)(const char* spec) noexcept;
  // Called in a forked child, where what the parent recorded is forgotten; may be nullptr.
  void (*forked)() noexcept;
};

// What each library that the recorder is linked into defines: how it uses it.
Options default_options() noexcept;

// Creates the segment of this process, as the environment says (TARE_RUN_DIR and the like, docs/environment.md).
// False, with a line on stderr where the user should know, if there is nothing to record to. Idempotent.
bool attach() noexcept;

// Records to a run that this process has made for itself: traced, and written by the process when it exits.
bool attach_to(const OwnRun& run) noexcept;

// Whether there is a run to record to: of `tare run`, or one that this process or, before a fork, its parent began.
bool run_given() noexcept;

// The head of the segment; nullptr if not attached.
format::SegmentHeader* segment() noexcept;

// The request table of the segment; nullptr if there is none.
format::RequestTable* request_table() noexcept;

// What is kept of sampled messages, classes behind it; nullptr if they are not sampled.
format::SampleSummary* sample_summary() noexcept;

// A row of a block's table, of this process; nullptr if there is no such block. Takes a lock.
const format::ProfileRow* row_of(std::uint32_t block, std::uint32_t row) noexcept;

bool traced() noexcept;

// Whether this process has written all that it recorded, as the last thing that it does: what other threads still
// record goes nowhere. Where it is being written just now, waits for that.
bool wait_if_ended() noexcept;

// Appends an entry to the definition log: `head`, which begins with a DefinitionHead, and up to two strings.
// Entries that do not fit are counted as lost. Thread-safe.
struct Text {
  const char* data;
  std::size_t bytes;
};
void define(void* head, std::size_t head_bytes, Text first = {}, Text second = {}) noexcept;

// Writes a new clock pair into the segment.
void note_clock() noexcept;

// The program calls _exit, perhaps in a signal handler.
void note_exit(int status) noexcept;

// The program is about to abort: nothing of this library may run any more after this call.
void note_abort() noexcept;

}  // namespace tare::recorder
