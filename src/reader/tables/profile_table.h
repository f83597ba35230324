// The profile, grouped by keys, as a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reader/events/table_stream.h"
#include "reader/tables/profile_rows.h"

namespace tare::reader {

enum class ProfileKey { site, line, function, size, communicator, rank };

// The key with that name ("site", "line", …); nothing for other names.
std::optional<ProfileKey> profile_key(const std::string& name);

ProfileKeys keys_of(const std::vector<ProfileKey>& by);

// The table `profile` is that by site, communicator and size. The columns are in the order of the keys. A column that
// several keys have is at the place of the first of them.
Result<TableStream> profile_table(Run& run, const std::vector<ProfileKey>& by, const ProfileChoice& choice);

}  // namespace tare::reader
