#include "tared/boi/spot_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

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
  const int fd =
      open((directory + found_name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return;
  // An incomplete line is ignored.
  [[maybe_unused]] const ssize_t written = write(fd, line.data(), static_cast<std::size_t>(length));
  close(fd);
}

}  // namespace tare::tared
