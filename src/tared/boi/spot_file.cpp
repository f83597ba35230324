#include "tared/boi/spot_file.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tared/own_file.h"

namespace tare::tared {

namespace {
constexpr const char* known_name = "/spots-known";
constexpr const char* found_name = "/spots-found";
constexpr std::size_t max_lines = 10'000;
}  // namespace

std::vector<format::SweetSpot> read_known_spots(const std::string& directory, TreeSize tree) {
  std::vector<format::SweetSpot> spots;
  std::ifstream file(directory + known_name);
  std::string line;
  for (std::size_t count = 0; count < max_lines && std::getline(file, line); ++count) {
    std::istringstream words(line);
    TreeSize of;
    format::SweetSpot spot;
    words >> of.ranks >> of.nodes >> spot.events >> spot.is_bound >> spot.boi_ns >> spot.boi_spread_ns >>
        spot.rest_ns >> spot.rest_deviation_ns >> spot.direct_ns;
    const bool makes_sense = !words.fail() && std::isfinite(spot.boi_ns) && spot.boi_ns > 0 && spot.events > 0;
    if (makes_sense && of == tree) spots.push_back(spot);
  }
  return spots;
}

void keep_found_spot(const std::string& directory, TreeSize tree, const format::SweetSpot& spot) {
  std::array<char, 256> line{};
  const int length = std::snprintf(line.data(), line.size(), "%u %u %u %u %.0f %.0f %.0f %.0f %.0f\n", tree.ranks,
                                   tree.nodes, spot.events, spot.is_bound, spot.boi_ns, spot.boi_spread_ns,
                                   spot.rest_ns, spot.rest_deviation_ns, spot.direct_ns);
  append_to_file(directory + found_name,
                 std::string_view(line.data(), static_cast<std::size_t>(length)));  // an incomplete line is ignored
}

}  // namespace tare::tared
