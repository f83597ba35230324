#include "mpi/sampling/message_event.h"

#include "format/time_arithmetic.h"
#include "recorder/commit.h"
#include "recorder/event_types.h"
#include "recorder/here.h"

namespace tare::mpi::sampling {

void MessageEvents::write(const Pair& pair, std::uint64_t number, const ReceiveChannel& channel) noexcept {
  recorder::Location* location = recorder::here();
  if (location == nullptr || !location->traced()) return;
  if (type_ == 0) {
    using Type = format::ParameterType;
    type_ = recorder::register_event_type({format::EventClass::regular,
                                           10,
                                           {Type::i32, Type::u32, Type::i32, Type::u64, Type::u64, Type::u32, Type::u32,
                                            Type::i64, Type::i64, Type::i64}},
                                          "tare.message", "");
    if (type_ == 0) return;
  }
  const auto since_start = [&](std::int64_t time) {
    return static_cast<std::uint64_t>(format::difference(time, pair.start));
  };
  const std::uint64_t parameters[] = {static_cast<std::uint32_t>(pair.source),
                                      channel.communicator,
                                      static_cast<std::uint32_t>(channel.tag),
                                      pair.bytes,
                                      number,
                                      pair.send_site,
                                      pair.receive_site,
                                      since_start(pair.posted),
                                      since_start(pair.waited),
                                      since_start(pair.ended)};
  recorder::commit_event(*location, type_, recorder::now(), parameters, 10);
}

}  // namespace tare::mpi::sampling
