#include "recorder/identity.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>

#include "format/machine.h"
#include "recorder/clock.h"

namespace tare::recorder {
namespace {

using format::hashed_with;

constinit std::atomic<std::uint64_t> names_given{0};

}  // namespace

std::uint64_t new_process_name() noexcept {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::uint64_t name = hashed_with(format::machine_name(), host, std::strlen(host));
  name = hashed_with(name, static_cast<std::uint64_t>(getpid()));
  // The kernel gives each program that it starts 16 random bytes.
  if (const auto* random = reinterpret_cast<const char*>(getauxval(AT_RANDOM))) name = hashed_with(name, random, 16);
  name = hashed_with(name, read_ns(CLOCK_REALTIME));
  name = hashed_with(name, names_given.fetch_add(1, std::memory_order_relaxed));
  return name == 0 ? 1 : name;
}

}  // namespace tare::recorder
