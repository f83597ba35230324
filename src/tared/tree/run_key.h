// The key of a run: one CURVE pair that its nodes share, and nobody else has.
//
// It lies in the run's rendezvous directory, readable by its owner alone. A node proves with it that it is of the run
// (ZAP admits no other key), and encrypts what it sends.
#pragma once

#include <optional>
#include <string>

#include <zmq.hpp>

namespace tare::tared {

struct RunKey {
  std::string public_key;  // Z85, 40 characters
  std::string secret_key;
};

// Makes the key and its file; the file stays if there is one. Nothing if that fails, with the reason in `error`.
std::optional<RunKey> make_run_key(const std::string& directory, std::string& error);
std::optional<RunKey> read_run_key(const std::string& directory, std::string& error);

// For a socket that binds, or one that connects.
void secure_server(zmq::socket_t& socket, const RunKey& key);
void secure_client(zmq::socket_t& socket, const RunKey& key);

// Answers libzmq's question (ZAP, RFC 27) whether a peer is admitted: only with the run's own key. One for each
// context.
class Gate {
 public:
  Gate(zmq::context_t& context, const RunKey& key);
  // Answers what has been asked; call it when `socket` is readable.
  void answer();
  zmq::socket_t& socket() { return socket_; }
  std::uint64_t refused() const { return refused_; }

 private:
  zmq::socket_t socket_;
  std::string public_key_;  // 32 bytes
  std::uint64_t refused_ = 0;
};

}  // namespace tare::tared
