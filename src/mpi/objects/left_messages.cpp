#include "mpi/objects/left_messages.h"

#include "format/function_meaning.h"
#include "mpi/objects/communicators.h"
#include "mpi/sampling/sampler.h"

namespace tare::mpi {
namespace {

using sampling::sampler;

void lose_received(Thread& thread, const format::CurrentCall& current, const sampling::Pattern& pattern) noexcept {
  if (pattern.source == format::proc_null) return;
  const Communicator& known = known_communicator(thread, current.communicator);
  if (known.number == format::no_communicator) return;
  sampler.lose(sampler.post({known.number, known.key, known.peers}, pattern, false));
}

}  // namespace

void lose_messages(Thread& thread, Function function) noexcept {
  if (!sampler.active()) return;
  using format::CallClass;
  const format::CurrentCall& current = thread.shared().current;
  const format::FunctionMeaning& meaning = format::meaning_of(static_cast<unsigned>(function));
  if (meaning.form == format::CallForm::persistent) return;  // moves nothing yet
  const bool exchanges = meaning.kind == CallClass::exchange;
  const bool sends = exchanges || meaning.kind == CallClass::send;
  // (MPI_Mrecv takes the message of a matched probe, whose number is known.)
  const bool receives = exchanges || (meaning.kind == CallClass::receive && current.peer != format::no_peer) ||
                        (meaning.kind == CallClass::probe && meaning.is_matched);
  // If threads share the sampler, the receive was posted before the call, and only the call knew its place.
  if (meaning.kind == CallClass::start || (receives && sampler.shared())) return sampler.lose_numbers();
  if (sends) sampler.left_send(current.communicator_number, current.peer, current.tag);
  if (!receives) return;
  const sampling::Pattern pattern =
      exchanges ? sampling::Pattern{current.source, current.source_tag} : sampling::Pattern{current.peer, current.tag};
  lose_received(thread, current, pattern);
}

}  // namespace tare::mpi
