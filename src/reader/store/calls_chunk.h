// The payload of a calls chunk: what the threads of a process were in, and its requests under way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/current_call.h"
#include "format/request_table.h"

namespace tare::reader {

std::string calls_payload(const std::vector<format::ThreadCall>& calls,
                          const std::vector<format::RequestEntry>& requests);

// False if it is damaged; nothing is taken then.
bool parse_calls(std::string_view payload, std::vector<format::ThreadCall>& calls,
                 std::vector<format::RequestEntry>& requests);

}  // namespace tare::reader
