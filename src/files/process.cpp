#include "files/process.h"

#include "files/source.h"
#include "recorder/own_process.h"
#include "recorder/process.h"
#include "recorder/sources.h"

namespace tare::files {

constinit bool is_on = false;

namespace {

// Not at the first call, which may be in a signal handler.
[[gnu::constructor]] void choose() noexcept {
  if (!recorder::run_given() || !recorder::is_on(source) || recorder::is_launcher()) return;
  recorder::note_own_process();
  is_on = true;
}

}  // namespace

}  // namespace tare::files
