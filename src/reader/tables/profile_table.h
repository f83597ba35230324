// The profile by some keys as a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reader/events/table_stream.h"
#include "reader/tables/profile_rows.h"

namespace tare::reader {

enum class ProfileKey { site, line, function, size, communicator, rank };

// "site", …; none for other words.
std::optional<ProfileKey> profile_key(const std::string& name);

// The columns of a key stand where the first key that has them does.
Result<TableStream> profile_table(Run& run, const std::vector<ProfileKey>& by, const Wanted& ranks);
// By site, communicator and size.
Result<TableStream> profile_table(Run& run);

}  // namespace tare::reader
