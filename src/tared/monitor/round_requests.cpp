#include "tared/monitor/round_requests.h"

#include <sys/stat.h>

#include "monitor/cadence.h"

namespace tare::tared {

std::optional<Pace> RoundRequests::decide(std::int64_t now_ns) {
  if (is_under_way_ && now_ns - chosen_ns_ < patience_ns) return {};
  struct stat status {};
  if (lstat(path_.c_str(), &status) != 0) return {};
  const auto requested = static_cast<std::uint64_t>(status.st_size);
  if (requested == answered_ && !is_under_way_) return {};
  answered_ = requested;
  is_under_way_ = true;
  round_ = points_.point_after(now_ns + notice_ns);
  chosen_ns_ = points_.time_of(round_);
  return Pace{round_, 0, monitor::Cadence::once};
}

}  // namespace tare::tared
