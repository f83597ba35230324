#include "files/source.h"

#include "files/counting.h"
#include "files/open_files.h"
#include "recorder/clock.h"
#include "recorder/commit_call.h"
#include "recorder/location.h"
#include "recorder/sources.h"

namespace tare::files {
namespace {

// Records a call that was left, as far as it is known.
void record_left(recorder::Location& location) noexcept {
  format::OtherCall& current = location.shared().others.call;
  const std::uint32_t function = current.function.load(std::memory_order_relaxed);
  if (function == 0 || (function & format::returned) != 0) return;
  lose_position(descriptor_in_call);
  const std::uint64_t leave = current.leave = recorder::now();
  current.function.store(function | format::returned, std::memory_order_release);
  recorder::commit_call(location,
                        {static_cast<std::uint16_t>(function),
                         current.site,
                         current.object,
                         rows_of_all_files,
                         current.enter,
                         leave,
                         format::no_bytes,
                         {}},
                        location.any_rows);
}

bool counts_files() noexcept { return recorder::is_on(source); }

}  // namespace

constinit const recorder::Source source{
    .name = "files",
    .begins = begin_open_files,
    .left = record_left,
    .forked = forget_open_files,
    .counts_files = counts_files,
};

}  // namespace tare::files
