// Text that is safe in every format, from names of programs, files and events.
#pragma once

#include <string>
#include <string_view>

namespace tare::exporters {

// Valid UTF-8 without control characters. Other bytes are written as \xNN.
std::string plain_text(std::string_view bytes);

}  // namespace tare::exporters
