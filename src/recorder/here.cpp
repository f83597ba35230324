#include "recorder/here.h"

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "recorder/errno_guard.h"
#include "recorder/event_cost.h"
#include "recorder/event_types.h"
#include "recorder/inside.h"
#include "recorder/process.h"
#include "recorder/segment.h"
#include "recorder/warning.h"

namespace tare::recorder {
namespace {

// The attempt to record (process.h) in which this thread failed to get a location. It does not try again at every call.
constinit thread_local std::uint32_t without_location [[gnu::tls_model("initial-exec")]] = 0;

}  // namespace

Location* start_location() noexcept {
  const OwnCode own;
  const std::uint32_t attempt = attempts() + 1;
  if (without_location == attempt) return nullptr;
  const ErrnoGuard guard;
  // A forked child also arrives here without a segment, and gets one of its own.
  Location* location = nullptr;
  if (attach()) {
    errno = 0;
    location = take_location(*segment());
    if (location == nullptr && std::atomic_ref(segment()->process.unmeasured_threads).fetch_add(1) == 0)
      warn(errno == EFBIG ? "the limit of the size of files (ulimit -f) leaves no room for another thread's buffer: "
                            "this thread is not measured"
                          : "no memory for another thread's buffer: this thread is not measured");
  }
  if (location == nullptr) {
    without_location = attempt;
    return nullptr;
  }
  begin_thread(*location);
  if (any_event_type()) measure_event_cost(*location);
  return location;
}

}  // namespace tare::recorder
