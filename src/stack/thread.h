// What every source of events keeps for a thread whose calls have call sites: its location, its stack, and the call
// paths that it remembers.
#pragma once

#include "recorder/location.h"
#include "stack/path_memo.h"
#include "stack/unwind.h"

namespace tare::stack {

struct Thread : recorder::Location {
  Stack stack;
  PathMemo paths;
  AddressMemo addresses;
};

}  // namespace tare::stack
