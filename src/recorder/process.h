// The measured process as a whole: when it begins to record, and what a fork changes.
#pragma once

#include <cstdint>

#include "recorder/own_run.h"

namespace tare::recorder {

// Creates the segment of this process, as the environment says (TARE_RUN_DIR and the like, docs/environment.md).
// False, with a line on stderr where the user should know, if there is nothing to record to. Idempotent.
bool attach() noexcept;

// Records to a run that this process has made for itself: traced, and written by the process when it exits.
bool attach_to(const OwnRun& run) noexcept;

// Whether there is a run to record to: of `tare run`, or one that this process or, before a fork, its parent began.
bool run_given() noexcept;

// How often the program itself has asked to record, with attach_to(): a thread that found nothing to record to looks
// again after that.
std::uint32_t attempts() noexcept;

}  // namespace tare::recorder
