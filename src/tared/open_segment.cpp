#include "tared/open_segment.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <type_traits>

#include "recorder/clock.h"

namespace tare::tared {

using namespace format;

namespace {
// More than a process can have (recorder/locations.cpp). The offset of the last one fits into off_t.
constexpr std::uint32_t max_locations = 1U << 20U;
}  // namespace

Watched::Watched(pid_t pid) : pid_(pid), process_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}

bool Watched::is_there() const {
  if (!process_) return kill(pid_, 0) == 0 || errno == EPERM;
  pollfd ended{process_.fd(), POLLIN, 0};
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

OpenSegment::OpenSegment(const std::string& path, pid_t pid)
    : name_(path.substr(path.rfind('/') + 1)),
      pid_(pid),
      file_(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)),
      shared_header_(std::make_unique<Mapping>(fd(), 0, segment_header_bytes)),
      header_(std::make_unique<SegmentHeader>()) {
  ready_ = *shared_header_ && take_header();
}

bool OpenSegment::take_header() {
  struct stat status {};
  if (fstat(fd(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) return false;
  const auto& now = shared();
  if (std::atomic_ref(const_cast<std::uint64_t&>(now.magic)).load(std::memory_order_acquire) != segment_magic)
    return false;
  static_assert(std::is_trivially_destructible_v<SegmentHeader>);
  std::memcpy(static_cast<void*>(header_.get()), &now, sizeof now);
  return header_->layout == segment_layout && header_->process.clock == recorder::clock_kind() &&
         header_->process.tick_shift < 64 &&
         fault_of(layout_of(*header_), static_cast<std::uint64_t>(status.st_size)) == nullptr;
}

Life OpenSegment::life() const { return life_of(fd(), name_, static_cast<unsigned>(pid_), header_->maker); }

std::uint32_t OpenSegment::locations() const {
  return std::min(shared().locations.load(std::memory_order_acquire), max_locations);
}

}  // namespace tare::tared
