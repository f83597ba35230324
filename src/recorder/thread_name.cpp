// Names of threads. A thread inherits the name of its creator and usually keeps it. So only the name of the first
// thread and names that differ from it are defined.

#include <sys/prctl.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "recorder/definition_log.h"
#include "recorder/location.h"

namespace tare::recorder {
namespace {

// Thousands of names must leave room in the definition log.
constexpr std::uint32_t most_names = 1024;
constinit std::atomic<std::uint32_t> names_defined{0};

// Atomic words, because threads that start may read it at any time.
using Name = std::uint64_t[sizeof(Location::name) / 8];
constinit std::atomic<std::uint64_t> first_name[sizeof(Name) / 8] = {};

void set_first_name(const Name& name) noexcept {
  for (std::size_t i = 0; i < std::size(first_name); ++i) first_name[i].store(name[i], std::memory_order_relaxed);
}

}  // namespace

void Location::inherit_name() noexcept {
  Name words;
  for (std::size_t i = 0; i < std::size(first_name); ++i) words[i] = first_name[i].load(std::memory_order_relaxed);
  std::memcpy(name, words, sizeof name);
}

void Location::note_name() noexcept {
  char current[sizeof name] = {};
  if (prctl(PR_GET_NAME, current) != 0 || std::memcmp(current, name, sizeof name) == 0) return;
  if (names_defined.fetch_add(1, std::memory_order_relaxed) >= most_names) return;
  std::memcpy(name, current, sizeof name);
  format::ThreadDefinition definition{};
  const std::size_t length = strnlen(current, sizeof current);
  definition.head.kind = format::DefinitionKind::thread;
  definition.thread = shared->summary.number;
  definition.name_bytes = static_cast<std::uint32_t>(length);
  define(&definition, sizeof definition, {current, length});
  if (definition.thread != 0) return;
  Name words;
  std::memcpy(words, current, sizeof words);
  set_first_name(words);
}

void forget_thread_names() noexcept {
  names_defined.store(0, std::memory_order_relaxed);
  set_first_name({});
}

}  // namespace tare::recorder
