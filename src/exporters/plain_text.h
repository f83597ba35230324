// Names of programs, files and events as text that no format stumbles over.
#pragma once

#include <string>
#include <string_view>

namespace tare::exporters {

// Valid UTF-8 without control characters: what is neither is written as \xNN, byte by byte.
std::string plain_text(std::string_view bytes);

}  // namespace tare::exporters
