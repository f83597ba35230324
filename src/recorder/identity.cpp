#include "recorder/identity.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>

#include "recorder/clock.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

// The finaliser of splitmix64.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}
constexpr std::uint64_t with(std::uint64_t name, std::uint64_t word) noexcept {
  return mix(name + 0x9e3779b97f4a7c15U + word);
}
std::uint64_t with(std::uint64_t name, const char* bytes, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, count - i < 8 ? count - i : 8);
    name = with(name, word);
  }
  return with(name, count);
}
constexpr std::uint64_t named(std::uint64_t name) noexcept { return name == 0 ? 1 : name; }

constinit std::atomic<std::uint64_t> names_given{0};

}  // namespace

std::uint64_t node_name() noexcept {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  char boot[64] = "";
  const long bytes = read_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
  const std::uint64_t name = with(0, host, std::strlen(host));
  return named(bytes > 0 ? with(name, boot, static_cast<std::size_t>(bytes)) : name);
}

std::uint64_t shared_memory_name(const char* directory) noexcept {
  struct stat status {};
  if (stat(directory, &status) != 0) return 0;
  char boot[64] = "";
  const long bytes = read_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
  const std::uint64_t system = bytes > 0 ? with(0, boot, static_cast<std::size_t>(bytes)) : node_name();
  return named(with(with(system, status.st_dev), status.st_ino));
}

std::uint64_t new_process_name() noexcept {
  std::uint64_t name = with(node_name(), static_cast<std::uint64_t>(getpid()));
  // The kernel gives each program that it starts 16 random bytes.
  if (const auto* random = reinterpret_cast<const char*>(getauxval(AT_RANDOM))) name = with(name, random, 16);
  name = with(name, read_ns(CLOCK_REALTIME));
  return named(with(name, names_given.fetch_add(1, std::memory_order_relaxed)));
}

}  // namespace tare::recorder
