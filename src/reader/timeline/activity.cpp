#include "reader/timeline/activity.h"

#include "format/function_meaning.h"
#include "format/functions.h"

namespace tare::reader {

Activity activity_of(std::uint16_t function) {
  using format::CallClass;
  if (format::is_of_source(function, "openmp")) return Activity::openmp;
  switch (format::meaning_of(function).kind) {
    case CallClass::send:
    case CallClass::start:
      return Activity::send;
    case CallClass::receive:
    case CallClass::probe:
      return Activity::receive;
    case CallClass::exchange:
      return Activity::exchange;
    case CallClass::completion:
    case CallClass::request:
      return Activity::wait;
    case CallClass::collective:
      return Activity::collective;
    case CallClass::one_sided:
    case CallClass::epoch:
      return Activity::one_sided;
    case CallClass::file:
      return Activity::file;
    case CallClass::local:
    case CallClass::lookup:
    case CallClass::lifecycle:
    case CallClass::other:
      break;
  }
  return Activity::other;
}

}  // namespace tare::reader
