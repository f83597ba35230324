// Whatever a segment holds that a process left, reading and collecting it neither crashes nor hangs. Inputs are the
// segment's file without its zeros at the end, in pieces, because a real one has a few used bytes in megabytes of
// holes: u32 size of the file in units of 4 KiB, then pieces of u32 offset, u16 bytes, and the bytes.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "format/segment.h"
#include "read_all.h"
#include "reader/run/collect.h"

using namespace tare;

static constexpr std::uint64_t page = 4096;
static constexpr std::uint64_t max_pages = 4096;
static constexpr const char* run_id = "0123456789abcdef";

// Two directories in memory, for as long as the fuzzer runs.
struct Directories {
  Directories() {
    char name[] = "/dev/shm/tare-fuzz-XXXXXX";
    if (::mkdtemp(name) == nullptr) std::abort();
    root = name;
    std::filesystem::create_directory(run());
  }
  ~Directories() { std::filesystem::remove_all(root); }
  std::string run() const { return root + "/run"; }
  std::string root;
};

static void write_segment(const std::string& path, std::string_view input) {
  std::uint32_t pages = 0;
  if (input.size() < sizeof pages) return;
  std::memcpy(&pages, input.data(), sizeof pages);
  input.remove_prefix(sizeof pages);
  const std::uint64_t bytes = pages % max_pages * page;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) std::abort();
  while (input.size() >= 6) {
    std::uint32_t offset = 0;
    std::uint16_t size = 0;
    std::memcpy(&offset, input.data(), sizeof offset);
    std::memcpy(&size, input.data() + sizeof offset, sizeof size);
    input.remove_prefix(6);
    const std::string_view piece = input.substr(0, size);
    input.remove_prefix(piece.size());
    if (offset + piece.size() > bytes) continue;
    if (::pwrite(fd, piece.data(), piece.size(), offset) != static_cast<ssize_t>(piece.size())) std::abort();
  }
  ::close(fd);
}

// The layout is private to one build, and its number is checked: made right in half of the inputs.
static void repair_layout(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const auto put = [&](const auto& value, std::size_t at) {
    if (::lseek(fd, 0, SEEK_END) > static_cast<off_t>(at + sizeof value))
      (void)!::pwrite(fd, &value, sizeof value, static_cast<off_t>(at));
  };
  put(format::segment_magic, offsetof(format::SegmentHeader, magic));
  put(format::segment_layout, offsetof(format::SegmentHeader, layout));
  ::close(fd);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static const Directories directories;
  // Pids end below 2^22: this one is nobody's.
  const std::string segment = directories.root + "/tare-" + run_id + "-99999999-0";
  write_segment(segment, {reinterpret_cast<const char*>(data), bytes});
  if (bytes % 2 == 0) repair_layout(segment);
  const reader::RunPaths paths{directories.run(), directories.root, run_id};
  if (auto run = reader::Run::open(paths)) fuzz::read_all(*run);
  reader::collect(paths);
  if (auto run = reader::Run::open(paths)) fuzz::read_all(*run);
  for (const auto& entry : std::filesystem::directory_iterator(directories.run()))
    std::filesystem::remove(entry.path());
  ::unlink(segment.c_str());
  return 0;
}
