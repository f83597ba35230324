#include "tared/tree/rendezvous.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace tare::tared {

namespace {
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

bool publish(const std::string& directory, std::uint32_t node, const NodeAddress& address) {
  const std::string path = path_of(directory, node);
  const std::string part = path + ".part";
  const std::string text =
      address.machine + "\n" + address.name_space + "\n" + address.local + "\n" + address.network + "\n";
  unlink(part.c_str());
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool is_written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return (close(fd) == 0) && is_written && rename(part.c_str(), path.c_str()) == 0;
}

std::optional<NodeAddress> find_node(const std::string& directory, std::uint32_t node) {
  const int fd = open(path_of(directory, node).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return {};
  struct stat status {};
  std::array<char, 1024> text{};
  const bool is_ours = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  const ssize_t bytes = is_ours ? read(fd, text.data(), text.size()) : -1;
  close(fd);
  if (bytes <= 0) return {};
  std::istringstream lines(std::string(text.data(), static_cast<std::size_t>(bytes)));
  NodeAddress address;
  if (!std::getline(lines, address.machine) || !std::getline(lines, address.name_space) ||
      !std::getline(lines, address.local) || !std::getline(lines, address.network))
    return {};
  return address;
}

}  // namespace tare::tared
