// The measured process as a whole: when it begins to record, and what a fork does.
#pragma once

#include <cstdint>

#include "recorder/own_run.h"

namespace tare::recorder {

// Creates the segment of this process, as the environment says (TARE_RUN_DIR and others, docs/environment.md). False if
// there is no run to record to, with a line on stderr if that is a failure. Idempotent.
bool attach() noexcept;

// Records to a run that this process has made itself. The run is traced, and the process writes it when it exits.
bool attach_to(const OwnRun& run) noexcept;

// The program is about to change its root: finds out where the run lies, if the process does not record yet.
void note_run_directories() noexcept;

// Whether there is a run: one of `tare run`, or one that this process, or its parent before a fork, has begun.
bool run_given() noexcept;

// Whether the process is a shell, or starts those of a job, and so is no part of the program.
bool is_launcher() noexcept;

// Counts the reasons for a thread that found no run to record to, to look again: calls of attach_to(), and the fork
// that made this process.
std::uint32_t attempts() noexcept;

}  // namespace tare::recorder
