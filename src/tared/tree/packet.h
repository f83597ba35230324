// The packets of the tree. A packet is one message: a head, and a body that depends on its kind.
//
//   up:    hello (who I am, which ranks are below me), names, part (of a round), lost (a round), ping, bye
//   down:  begin (rounds may come), pong, taken (rounds that have left the parent), pace, filter, command, end
//
// Decoding treats bytes as hostile: every size is checked before memory is allocated for it, and a packet that is not
// completely valid is refused. Peers prove that they belong to the run before their first packet is read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tared/filters/snapshot.h"

namespace tare::tared {

constexpr std::size_t max_packet_bytes = std::size_t{256} << 20U;
constexpr std::size_t max_name_bytes = 4096;
constexpr std::uint32_t max_names = 1U << 20U;  // in a tree
constexpr std::uint32_t max_nodes = 1U << 24U;

struct Hello {
  std::uint32_t node = 0;
  std::uint64_t next_round = 0;  // it has nothing for earlier rounds
  RankSet ranks;                 // of all nodes below, and its own
  std::uint32_t world = 0;       // ranks of the program; 0: not known there
  std::string filter;            // must be the parent's, else the node is refused
};

struct Names {
  std::vector<EventName> names;
};

// A round, as far as it is complete. Offload times are of the reader's node.
struct Part {
  std::uint64_t round = 0;
  RankSet ranks;
  RankSet lost;
  std::int64_t first_offload_ns = 0;
  std::int64_t last_offload_ns = 0;
  std::int64_t clock_error_ns = 0;
  RoundCost cost;
  std::uint64_t dropped = 0;           // Round::dropped
  std::span<const std::byte> reduced;  // of the packet
};

struct Lost {
  std::uint64_t round = 0;
  RankSet ranks;
};

struct Ping {
  std::int64_t sent_ns = 0;  // CLOCK_REALTIME of the sender, as all times here
};

struct Pong {
  std::int64_t ping_sent_ns = 0;
  std::int64_t received_ns = 0;
  std::int64_t sent_ns = 0;
  std::uint32_t is_known = 0;  // 0: the child must say hello again
  std::uint32_t unused = 0;    // so that no byte between members is sent uninitialised
};

struct Taken {
  std::uint64_t until = 0;  // all rounds before this one
};

struct Command {
  std::span<const std::byte> bytes;  // of the packet
};

// The ranks of the program are there, so rounds may be passed up.
struct Begin {
  std::uint64_t first_round = 0;  // of this program; earlier programs of the run had the rounds before
};

// A filter, from a round on that no rank has reached. The decision is the same on all nodes.
struct FilterChange {
  std::uint64_t from_round = 0;
  std::string filter;
};

struct End {};  // pass on what is there, and end
struct Bye {};

using Packet = std::variant<Hello, Names, Part, Lost, Ping, Pong, Taken, Pace, Command, End, Bye, Begin, FilterChange>;

// Appends to `bytes`, which must be empty.
void encode(const Packet& packet, Bytes& bytes);
// False if the bytes are no packet. Spans in the packet refer to `bytes`.
bool decode(std::span<const std::byte> bytes, Packet& packet);

}  // namespace tare::tared
