// The payload of a calls chunk: the calls that the threads of a process were in, and its requests that had not
// completed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/current_call.h"
#include "format/request_table.h"

namespace tare::reader {

std::string calls_payload(const std::vector<format::ThreadCall>& calls,
                          const std::vector<format::RequestEntry>& requests);

// False if the payload is damaged; `calls` and `requests` are then unchanged.
bool parse_calls(std::string_view payload, std::vector<format::ThreadCall>& calls,
                 std::vector<format::RequestEntry>& requests);

}  // namespace tare::reader
