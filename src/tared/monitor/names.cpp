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

void EventTypes::read(const char* log, std::uint64_t published) {
  while (!broken_ && published > read_ && published - read_ >= sizeof(DefinitionHead)) {
    DefinitionHead head;
    std::memcpy(&head, log + read_, sizeof head);
    broken_ = head.bytes < sizeof head || head.bytes % 8 != 0 || head.bytes > published - read_;
    if (broken_) return;
    if (head.kind == DefinitionKind::event_type) take(log + read_, head.bytes);
    read_ += head.bytes;
  }
}

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
