#include "recorder/thread_name.h"

#include <sys/prctl.h>

#include <atomic>
#include <cstring>
#include <iterator>

#include "recorder/definition_log.h"

namespace tare::recorder {
namespace {

// Thousands of names must leave room in the definition log.
constexpr std::uint32_t max_names = 1024;
constinit std::atomic<std::uint32_t> names_defined{0};

// Atomic words, because threads that start may read it at any time.
using Name = std::uint64_t[sizeof(ThreadName::text) / 8];
constinit std::atomic<std::uint64_t> first_name[sizeof(Name) / 8] = {};

void set_first_name(const Name& name) noexcept {
  for (std::size_t i = 0; i < std::size(first_name); ++i) first_name[i].store(name[i], std::memory_order_relaxed);
}

}  // namespace

void ThreadName::inherit() noexcept {
  Name words;
  for (std::size_t i = 0; i < std::size(first_name); ++i) words[i] = first_name[i].load(std::memory_order_relaxed);
  std::memcpy(text, words, sizeof text);
}

void ThreadName::note(std::uint32_t thread) noexcept {
  char current[sizeof text] = {};
  if (prctl(PR_GET_NAME, current) != 0 || std::memcmp(current, text, sizeof text) == 0) return;
  if (names_defined.fetch_add(1, std::memory_order_relaxed) >= max_names) return;
  std::memcpy(text, current, sizeof text);
  format::ThreadDefinition definition{};
  const std::size_t length = strnlen(current, sizeof current);
  definition.head.kind = format::DefinitionKind::thread;
  definition.thread = thread;
  definition.name_bytes = static_cast<std::uint32_t>(length);
  define(&definition, sizeof definition, {current, length});
  if (thread != 0) return;
  Name words;
  std::memcpy(words, current, sizeof words);
  set_first_name(words);
}

void reset_thread_names() noexcept {
  names_defined.store(0, std::memory_order_relaxed);
  set_first_name({});
}

}  // namespace tare::recorder
