// Profiles of a run, added up, as rows for Python (SumsQuery, ProfileSum, PeerSum and PhaseSum in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/run/run.h"

namespace tare::bindings {

// For each query, its rows. Throws nanobind::value_error if there is no such query.
nanobind::list profile_sums(reader::Run& run, const std::vector<nanobind::dict>& wanted);

using Numbers = std::vector<std::int32_t>;
nanobind::list peer_sums(reader::Run& run, const std::vector<std::string>& by, std::optional<Numbers> worlds,
                         std::optional<Numbers> ranks, std::optional<Numbers> communicators);
nanobind::list phase_sums(reader::Run& run, const std::vector<std::string>& by, std::optional<Numbers> worlds,
                          std::optional<Numbers> ranks);

}  // namespace tare::bindings
