#include "reader/matching/call_role.h"

namespace tare::reader {
namespace {

using namespace tare::format;

CallRole role_of_rest(Waits waits) {
  switch (waits) {
    case Waits::nobody:
      return CallRole::local;
    case Waits::all:
    case Waits::usually_all:
    case Waits::contributors:  // assumes that no count is zero
      return CallRole::to_all;
    case Waits::root:
      return CallRole::from_root;
    case Waits::at_root:
      return CallRole::to_root;
    case Waits::lower:
      return CallRole::scan;
    default:
      return CallRole::unknown;
  }
}

}  // namespace

CallRole role_of_call(const FunctionMeaning& function) {
  if (function.form == CallForm::persistent) return CallRole::local;  // MPI_Start begins the operation
  switch (function.kind) {
    case CallClass::send:
      return function.waits == Waits::receiver ? CallRole::synchronous_send : CallRole::send;
    case CallClass::receive:
      return CallRole::receive;
    case CallClass::exchange:
      return CallRole::exchange;
    case CallClass::probe:
      return CallRole::local;  // the receive of the matched message waits
    case CallClass::start:
      return CallRole::starts;
    case CallClass::completion:
      return CallRole::completes;
    case CallClass::collective:
      if (function.waits == Waits::unknown && !function.makes_communicator) return CallRole::may_wait;
      return role_of_rest(function.waits);
    default:
      return role_of_rest(function.waits);
  }
}

std::vector<CallRole> roles_of_calls(const FunctionNames& functions) {
  std::vector<CallRole> found;
  for (unsigned number = 0; number < functions.names().size(); ++number)
    found.push_back(role_of_call(meaning_of(number)));
  return found;
}

}  // namespace tare::reader
