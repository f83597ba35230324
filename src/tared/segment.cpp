#include "tared/segment.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "recorder/clock.h"
#include "recorder/drain.h"

namespace tare::tared {

using namespace format;

Watched::Watched(pid_t pid) : pid_(pid), fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}

Watched::~Watched() {
  if (fd_ >= 0) close(fd_);
}

bool Watched::is_there() const {
  if (fd_ < 0) return kill(pid_, 0) == 0 || errno == EPERM;
  pollfd ended{fd_, POLLIN, 0};
  return poll(&ended, 1, 0) == 0;
}

Mapping::Mapping(int fd, std::uint64_t offset, std::uint64_t bytes) : bytes_(bytes), memory_(nullptr) {
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (bytes == 0 || offset > size || bytes > size - offset) return;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (memory != MAP_FAILED) memory_ = memory;
}

Mapping::~Mapping() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

Segment::Segment(const std::string& path, pid_t pid)
    : process_(pid),
      fd_(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)),
      head_(std::make_unique<Mapping>(fd_, 0, segment_header_bytes)) {}

Segment::~Segment() {
  if (fd_ >= 0) close(fd_);
}

bool Segment::is_ready() const {
  return *head_ && head().magic == segment_magic && head().layout == segment_layout &&
         head().process.clock == recorder::clock_kind();
}

void Segment::map_new_locations() {
  const std::uint32_t count = head().locations.load(std::memory_order_acquire);
  while (locations_.size() < count) {
    const std::uint64_t at = head().locations_at + locations_.size() * head().location_stride;
    auto location = std::make_unique<Mapping>(fd_, at, head().location_stride);
    if (!*location) return;
    locations_.push_back(std::move(location));
  }
}

Segment::Drained Segment::drain() {
  const RingShape& ring = head().ring;
  if (ring.count == 0 || ring.policy == Policy::overwrite) return Drained::nothing;
  if (head().location_stride < buffer_at(head().row_capacity) + ring.total()) return Drained::nothing;
  map_new_locations();
  copy_.resize(ring.bytes / sizeof(std::uint64_t));
  auto result = Drained::nothing;
  for (const auto& location : locations_) {
    const auto handled = recorder::drain_one_full(head(), *location->as<LocationHeader>(), copy_.data());
    if (handled == recorder::Handled::failed) return Drained::failed;
    if (handled == recorder::Handled::one) result = Drained::some;
  }
  return result;
}

}  // namespace tare::tared
