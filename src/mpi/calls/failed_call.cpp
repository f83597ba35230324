#include "mpi/calls/failed_call.h"

#include <atomic>

#include "format/function_meaning.h"
#include "recorder/segment.h"

namespace tare::mpi {
namespace {

// Whether other ranks may wait for what such a call does. That a file is not there concerns nobody else.
bool others_wait_for(std::uint16_t function) noexcept {
  using format::CallClass;
  const format::FunctionMeaning& meaning = format::meaning_of(function);
  if (meaning.access != format::FileAccess::none) return false;
  switch (meaning.kind) {
    case CallClass::local:
    case CallClass::lookup:
    case CallClass::file:
      return false;
    default:
      return true;
  }
}

}  // namespace

void count_failed(const Thread& thread, std::uint16_t function) noexcept {
  auto* segment = recorder::segment();
  if (segment == nullptr || thread.mode == recorder::Mode::paused) return;
  std::atomic_ref(segment->process.failed_calls).fetch_add(1, std::memory_order_relaxed);
  if (others_wait_for(function))
    std::atomic_ref(segment->process.failed_communication).fetch_add(1, std::memory_order_relaxed);
}

}  // namespace tare::mpi
