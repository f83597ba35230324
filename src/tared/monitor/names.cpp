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
  const std::uint32_t text_bytes = std::uint32_t{definition.name_bytes} + definition.unit_bytes;
  if (kind == nullptr || text_bytes > bytes - sizeof definition) return;
  const char* name = entry + sizeof definition;
  types_.try_emplace(definition.type, Type{definition.event_class, kind + std::string(name, definition.name_bytes),
                                           std::string(name + definition.name_bytes, definition.unit_bytes)});
}

const EventTypes::Type* EventTypes::find(std::uint32_t type) const {
  const auto found = types_.find(type);
  return found == types_.end() ? nullptr : &found->second;
}

std::string identity_of_function(unsigned function) {
  return function >= 1 && function <= function_count ? function_name(function) : "other";
}

}  // namespace tare::tared
