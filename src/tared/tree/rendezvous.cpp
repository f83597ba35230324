#include "tared/tree/rendezvous.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

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

namespace {

constexpr std::size_t z85_bytes = 40;
constexpr const char* zap_domain = "tare";

std::string path_in(const std::string& directory) { return directory + "/key"; }

}  // namespace

std::optional<RunKey> make_run_key(const std::string& directory, std::string& error) {
  const std::string path = path_in(directory);
  if (access(path.c_str(), F_OK) == 0) return read_run_key(directory, error);
  // The file is complete when it gets its name, and only the first one gets it.
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint64_t>(getpid());
  const std::string part = path + "." + std::to_string(number);
  std::array<char, z85_bytes + 1> public_key{};
  std::array<char, z85_bytes + 1> secret_key{};
  zmq_curve_keypair(public_key.data(), secret_key.data());
  RunKey key{public_key.data(), secret_key.data()};
  const std::string text = key.public_key + "\n" + key.secret_key + "\n";
  const bool is_written = write_new_file(part, text);
  const bool is_first = is_written && link(part.c_str(), path.c_str()) == 0;
  const int fault = errno;
  unlink(part.c_str());
  if (is_first) return key;
  if (is_written && fault == EEXIST) return read_run_key(directory, error);
  error = "cannot write " + path + ": " + std::strerror(fault);
  return {};
}

std::optional<RunKey> read_run_key(const std::string& directory, std::string& error) {
  const std::string path = path_in(directory);
  const std::string text = read_own_file(path, 2 * (z85_bytes + 1), 0, /*is_private=*/true);
  if (text.size() != 2 * (z85_bytes + 1)) {
    error = path + " is not the key of a run of this user";
    return {};
  }
  return RunKey{{text.data(), z85_bytes}, {text.data() + z85_bytes + 1, z85_bytes}};
}

void secure_server(zmq::socket_t& socket, const RunKey& key) {
  socket.set(zmq::sockopt::zap_domain, zap_domain);
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_publickey, key.public_key);
  socket.set(zmq::sockopt::curve_secretkey, key.secret_key);
}

void secure_client(zmq::socket_t& socket, const RunKey& key) {
  socket.set(zmq::sockopt::curve_serverkey, key.public_key);
  socket.set(zmq::sockopt::curve_publickey, key.public_key);
  socket.set(zmq::sockopt::curve_secretkey, key.secret_key);
}

Gate::Gate(zmq::context_t& context, const RunKey& key) : socket_(context, zmq::socket_type::rep) {
  std::array<std::uint8_t, 32> bytes{};
  zmq_z85_decode(bytes.data(), key.public_key.c_str());
  public_key_.assign(bytes.begin(), bytes.end());
  socket_.set(zmq::sockopt::linger, 0);
  socket_.bind("inproc://zeromq.zap.01");
}

void Gate::answer() {
  // Frames: version, request, domain, address, identity, mechanism, then the key.
  constexpr std::size_t mechanism = 5;
  constexpr std::size_t credentials = 6;
  for (;;) {
    std::vector<std::string> frames;
    zmq::message_t frame;
    do {
      if (!socket_.recv(frame, zmq::recv_flags::dontwait)) return;
      frames.push_back(frame.to_string());
    } while (frame.more());
    const bool is_of_the_run =
        frames.size() == credentials + 1 && frames[mechanism] == "CURVE" && frames[credentials] == public_key_;
    if (!is_of_the_run) ++refused_;
    const std::string request = frames.size() > 1 ? frames[1] : "";
    const std::array<std::string, 6> answer{"1.0", request, is_of_the_run ? "200" : "400", "", "", ""};
    for (std::size_t i = 0; i < answer.size(); ++i)
      socket_.send(zmq::buffer(answer[i]), zmq::send_flags::dontwait | (i + 1 < answer.size() ? zmq::send_flags::sndmore
                                                                                              : zmq::send_flags::none));
  }
}

}  // namespace tare::tared
