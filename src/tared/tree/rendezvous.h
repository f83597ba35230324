// The meeting place of a run: how its nodes find one another, and prove that they belong to the run.
//
// Each node writes its address to a file in a directory that all can see, such as one in the run directory on a shared
// file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <zmq.hpp>

#include "format/descriptor.h"

namespace tare::tared {

struct NodeAddress {
  std::string machine;     // the kernel that it runs on: nodes of one kernel share a clock
  std::string name_space;  // its network namespace: within one, nodes can use unix sockets
  std::string network;     // of a TCP socket; empty: it has a unix socket (SocketDirectory)
};

// Names the running kernel (its boot id), and the network namespace of this process.
std::string this_machine();
std::string this_name_space();

// Makes the directory. False if that fails, or if anyone but its owner can access it.
bool make_meeting_place(const std::string& directory);
// A number that no other node has, from 1 on. 0 is the root, whose starter assigns it. Nothing if the directory is not
// writable.
std::optional<std::uint32_t> take_number(const std::string& directory);

// How many numbers are used.
std::uint32_t taken_numbers(const std::string& directory);

// The file is complete when it appears. False if it cannot be written.
bool publish(const std::string& directory, std::uint32_t node, const NodeAddress& address);
// Nothing if the node has not written it yet, or it is not a file of this user.
std::optional<NodeAddress> find_node(const std::string& directory, std::uint32_t node);

// The unix socket of a node: a file in the directory in which nodes meet. Only the owner of the run can look into that
// directory, so no other user can connect. (Anyone can connect to a name in the abstract namespace. If a process has no
// descriptor left for such a connection, libzmq ends it.)
// Finds sockets in a directory, however long its path is: an address has room for 107 bytes. Connections may be made
// as long as it lives.
class SocketDirectory {
 public:
  explicit SocketDirectory(const std::string& directory);

  // For libzmq.
  std::string endpoint(std::uint32_t node) const;

 private:
  format::Descriptor directory_;
};

// The key of a run: one CURVE key pair, which only the run's nodes have.
//
// It lies in the directory in which nodes meet, readable only by its owner. A node proves with it that it belongs to
// the run (ZAP admits no other key), and encrypts what it sends.
struct RunKey {
  std::string public_key;  // Z85, 40 characters
  std::string secret_key;
};

// Makes the key and its file, unless the file exists. Nothing if that fails, with the reason in `error`.
std::optional<RunKey> make_run_key(const std::string& directory, std::string& error);
std::optional<RunKey> read_run_key(const std::string& directory, std::string& error);

// For sockets that bind, and for sockets that connect.
void secure_server(zmq::socket_t& socket, const RunKey& key);
void secure_client(zmq::socket_t& socket, const RunKey& key);

// Answers libzmq's requests (ZAP, RFC 27) whether to admit a peer: only with the run's key. One for each context.
class Gate {
 public:
  Gate(zmq::context_t& context, const RunKey& key);
  // Answers pending requests. To be called when `socket` is readable.
  void answer();
  zmq::socket_t& socket() { return socket_; }
  std::uint64_t refused() const { return refused_; }

 private:
  zmq::socket_t socket_;
  std::string public_key_;  // 32 bytes
  std::uint64_t refused_ = 0;
};

}  // namespace tare::tared
