#include "tared/tree/rendezvous.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

#include "tared/own_file.h"
#include "tared/tree/packet.h"

namespace tare::tared {

namespace {
constexpr const char* taken_prefix = "taken-";

std::string path_of(const std::string& directory, std::uint32_t node) {
  return directory + "/node-" + std::to_string(node);
}
}  // namespace

std::string this_machine() {
  std::string id;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::getline(file, id);
  return id.empty() ? "unknown" : id;
}

std::string this_name_space() {
  std::array<char, 64> name{};
  const ssize_t length = readlink("/proc/self/ns/net", name.data(), name.size());
  return length <= 0 ? "unknown" : std::string(name.data(), static_cast<std::size_t>(length));
}

bool make_meeting_place(const std::string& directory) {
  struct stat status {};
  return (mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) && lstat(directory.c_str(), &status) == 0 &&
         S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

std::uint32_t taken_numbers(const std::string& directory) {
  std::uint32_t count = 0;
  if (DIR* entries = opendir(directory.c_str())) {
    while (const dirent* entry = readdir(entries)) count += std::string_view(entry->d_name).starts_with(taken_prefix);
    closedir(entries);
  }
  return count;
}

std::optional<std::uint32_t> take_number(const std::string& directory) {
  // Begins at the count of nodes, so that a thousand nodes do not try each number.
  std::uint32_t number = taken_numbers(directory) + 1;
  for (number = std::max(number / 2, 1U); number < max_nodes; ++number) {
    const std::string path = directory + "/" + taken_prefix + std::to_string(number);
    if (write_new_file(path, "")) return number;
    if (errno != EEXIST) break;
  }
  return {};
}

bool publish(const std::string& directory, std::uint32_t node, const NodeAddress& address) {
  const std::string path = path_of(directory, node);
  const std::string part = path + ".part";
  const std::string text = address.machine + "\n" + address.name_space + "\n" + address.network + "\n";
  unlink(part.c_str());
  return write_new_file(part, text) && rename(part.c_str(), path.c_str()) == 0;
}

std::optional<NodeAddress> find_node(const std::string& directory, std::uint32_t node) {
  std::istringstream lines(read_own_file(path_of(directory, node), 1024));
  NodeAddress address;
  if (!std::getline(lines, address.machine) || !std::getline(lines, address.name_space) ||
      !std::getline(lines, address.network))
    return {};
  return address;
}

SocketDirectory::SocketDirectory(const std::string& directory)
    : directory_(open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {}

std::string SocketDirectory::endpoint(std::uint32_t node) const {
  return "ipc:///proc/self/fd/" + std::to_string(directory_.fd()) + "/socket-" + std::to_string(node);
}

}  // namespace tare::tared
