#include "tared/monitor/names.h"

#include <cstring>

#include "format/functions.h"

namespace tare::tared {

using namespace format;

namespace {

const char* kind_of(EventClass event_class) {
  switch (event_class) {
    case EventClass::region:
      return "region ";
    case EventClass::phase:
      return "phase ";
    case EventClass::counter:
      return "counter ";
    default:
      return nullptr;
  }
}

}  // namespace

void EventTypes::take(const char* entry, std::uint32_t bytes) {
  EventTypeDefinition definition;
  if (bytes < sizeof definition) return;
  std::memcpy(&definition, entry, sizeof definition);
  const char* kind = kind_of(definition.event_class);
  if (kind == nullptr || definition.name_bytes > bytes - sizeof definition) return;
  types_.try_emplace(definition.type, Type{definition.event_class,
                                           kind + std::string(entry + sizeof definition, definition.name_bytes)});
}

const EventTypes::Type* EventTypes::find(std::uint32_t type) const {
  const auto found = types_.find(type);
  return found == types_.end() ? nullptr : &found->second;
}

std::string identity_of_function(unsigned function) {
  return function >= 1 && function <= function_count ? function_name(function) : "other";
}

}  // namespace tare::tared
