// Columns about calls that the tables of messages, collectives, requests and waits have in common.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/events/row_table.h"
#include "reader/matching/message.h"

namespace tare::reader {

inline std::optional<std::int64_t> bytes_if_known(std::uint64_t bytes) {
  return bytes == format::no_bytes ? std::nullopt : std::optional(static_cast<std::int64_t>(bytes));
}

inline rows::Ends ends_of(const PartCall& call) { return {call.enter_ns, call.leave_ns}; }
inline rows::TracedCall traced_call(const PartCall& call, const RunTexts& texts) {
  return {if_known(static_cast<std::int32_t>(call.thread)), texts.call(call.function, call.site).function,
          texts.line(call.site), ends_of(call)};
}
inline rows::Completion completion_of(const PartCall& call) {
  return {if_known(static_cast<std::int32_t>(call.thread)), if_known(call.site), call.enter_ns, call.leave_ns};
}

}  // namespace tare::reader
