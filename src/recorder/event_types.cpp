#include "recorder/event_types.h"

#include <cstdio>
#include <cstring>

#include "recorder/definition_log.h"
#include "recorder/event_cost.h"
#include "recorder/locations.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

struct Entry {
  EventType type;
  char name[96];
  char unit[24];
};

constexpr std::uint32_t capacity = 4096;
constinit Entry* entries = nullptr;  // an array of `capacity` entries, numbered from 1
constinit std::uint32_t count = 0;
constinit SpinLock types_lock;  // taken before the lock of the definition log

// The length of a text in a field of so many bytes, without a character of UTF-8 that found no room for all of its
// bytes.
std::uint16_t length_in(const char* text, std::size_t field) noexcept {
  const std::size_t length = std::strlen(text);
  if (length + 1 < field) return static_cast<std::uint16_t>(length);  // it was not cut
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t begin = length - 1;  // of the last character
  while (begin > 0 && length - begin < 4 && (byte(begin) & 0xc0U) == 0x80) --begin;
  const std::size_t bytes = byte(begin) >= 0xf0 ? 4 : byte(begin) >= 0xe0 ? 3 : byte(begin) >= 0xc0 ? 2 : 1;
  return static_cast<std::uint16_t>(begin + bytes > length ? begin : length);
}

void define_one(std::uint32_t number) noexcept {
  const Entry& entry = entries[number - 1];
  format::EventTypeDefinition definition{};
  definition.head.kind = format::DefinitionKind::event_type;
  definition.type = number;
  definition.event_class = entry.type.event_class;
  definition.parameters = entry.type.parameters;
  definition.name_bytes = length_in(entry.name, sizeof entry.name);
  definition.unit_bytes = length_in(entry.unit, sizeof entry.unit);
  std::memcpy(definition.parameter_types, entry.type.parameter_types, sizeof definition.parameter_types);
  define(&definition, sizeof definition, {entry.name, definition.name_bytes}, {entry.unit, definition.unit_bytes});
}

bool same(const EventType& a, const EventType& b) noexcept {
  return a.event_class == b.event_class && a.parameters == b.parameters &&
         std::memcmp(a.parameter_types, b.parameter_types, sizeof a.parameter_types) == 0;
}

// Returns 0 if the name is not registered with that type. The caller holds the lock.
std::uint32_t find(const EventType& type, const char* name) noexcept {
  for (std::uint32_t i = 0; i < count; ++i)
    if (same(entries[i].type, type) && std::strncmp(entries[i].name, name, sizeof entries[i].name - 1) == 0)
      return i + 1;
  return 0;
}

}  // namespace

std::uint32_t register_event_type(const EventType& type, const char* name, const char* unit) noexcept {
  if (name == nullptr) return 0;
  const ErrnoGuard guard;
  types_lock.lock();
  if (entries == nullptr) entries = static_cast<Entry*>(map_memory(capacity * sizeof(Entry)));
  const std::uint32_t known = entries == nullptr ? 0 : find(type, name);
  std::uint32_t number = known;
  if (known == 0 && entries != nullptr && count < capacity) {
    number = count + 1;
    Entry& entry = entries[number - 1];
    entry.type = type;
    std::snprintf(entry.name, sizeof entry.name, "%s", name);
    std::snprintf(entry.unit, sizeof entry.unit, "%s", unit == nullptr ? "" : unit);
    count = number;
    define_one(number);
  }
  types_lock.unlock();
  if (this_location != nullptr) measure_event_cost(*this_location);
  return number;
}

bool any_event_type() noexcept {
  types_lock.lock();
  const bool any = count != 0;
  types_lock.unlock();
  return any;
}

std::uint32_t find_phase(const char* name) noexcept {
  types_lock.lock();
  const std::uint32_t number = find({format::EventClass::phase, 1, {format::ParameterType::u8}}, name);
  types_lock.unlock();
  return number;
}

const char* name_of_phase(std::uint32_t number) noexcept {
  const Locked locked(types_lock);
  return number == 0 || number > count ? "" : entries[number - 1].name;
}

void define_event_types() noexcept {
  types_lock.lock();  // a name that is being registered now would be missed
  for (std::uint32_t number = 1; number <= count; ++number) define_one(number);
  types_lock.unlock();
}

void release_event_types() noexcept { types_lock.reset(); }

}  // namespace tare::recorder
