// What the functions of MPI mean: the table mpi/functions.toml, where the words are explained.
#pragma once

#include <cstdint>

namespace tare::format {

enum class CallClass : std::uint8_t {
  local,
  lookup,
  lifecycle,
  send,
  receive,
  exchange,
  probe,
  start,
  completion,
  request,
  collective,
  one_sided,
  epoch,
  file,
  other,
};

// Whether the call itself does it, or the request that it makes.
enum class CallForm : std::uint8_t { blocking, nonblocking, persistent };

enum class Waits : std::uint8_t {
  nobody,
  receiver,
  buffer,
  sender,
  arrival,
  partners,
  requests,
  all,
  usually_all,
  contributors,
  some,
  root,
  at_root,
  lower,
  neighbours,
  locks,
  storage,
  unknown,
};

struct FunctionMeaning {
  CallClass kind = CallClass::other;
  CallForm form = CallForm::blocking;
  Waits waits = Waits::unknown;
  bool is_rooted = false;        // it has a root, which stands for a peer in records
  bool is_poll = false;          // it does not wait, and may find nothing
  bool bounds_net_time = false;  // net time is from the end of such a call to the start of another one
  bool calls_others = false;     // libraries make it of other functions, which they call by their names
};

// The meaning of a function by its number. For numbers outside of 1 .. function_count, nothing is known.
const FunctionMeaning& meaning_of(unsigned number) noexcept;

}  // namespace tare::format
