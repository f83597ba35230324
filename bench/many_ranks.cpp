// Makes the files of a profiled run of a size that nobody has at hand: `many_ranks DIR RANKS SITES`.
//
// A 2D code: every rank calls MPI from SITES places, on the world, its row and its column of the grid, each place with
// one size of message and a call path of four frames, out of a library or not. Ranks reach the places in different
// orders, so they number them differently; durations are lognormal, so that rows compress like those of real runs.
// Written by tare's own chunk writer, 100 ranks a file.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "reader/parallel.h"
#include "reader/store/chunk_file.h"
#include "reader/testing/synthetic.h"

namespace {

using namespace tare;
using namespace tare::reader::synthetic;

constexpr std::uint32_t ranks_a_node = 100;
constexpr double ticks_a_second = 1e9;
constexpr std::uint32_t modules = 3;  // the program, and two libraries
constexpr std::uint32_t depth = 4;    // frames of a call path

struct Place {
  const char* function;
  std::uint32_t communicator;
  std::uint64_t bytes;  // of one call
  double mean_ticks;
};

std::vector<Place> places(std::uint32_t count) {
  static constexpr const char* functions[] = {"MPI_Isend",     "MPI_Irecv",  "MPI_Waitall",   "MPI_Send",
                                              "MPI_Allreduce", "MPI_Bcast",  "MPI_Wait",      "MPI_Recv",
                                              "MPI_Alltoallv", "MPI_Reduce", "MPI_Allgather", "MPI_Barrier"};
  std::mt19937 random(1);
  std::vector<Place> made;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view function = functions[i % std::size(functions)];
    const bool moves = !function.starts_with("MPI_Wait") && function != "MPI_Barrier";
    const std::uint64_t bytes = moves ? std::uint64_t{8} << random() % 16 : 0;
    made.push_back({functions[i % std::size(functions)], 1 + i % 3, bytes, 1000.0 * std::pow(2.0, random() % 8)});
  }
  return made;
}

// The frames of a place, innermost first: 3 places are called from one line, 5 such lines from another, and so on.
std::uint64_t frame_address(std::uint32_t place, std::uint32_t level) {
  static constexpr std::uint32_t places_a_frame[depth] = {1, 3, 15, 150};
  return 0x1000 * (level + 1) * std::uint64_t{0x100} + 0x40 * std::uint64_t{place / places_a_frame[level]};
}

// Call paths, numbered in the order in which the rank comes to them, as their frames are.
std::string site_definitions(const std::vector<std::uint32_t>& order) {
  std::string log;
  std::unordered_map<std::uint64_t, std::uint32_t> frames;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    std::vector<std::uint32_t> path;
    for (std::uint32_t level = 0; level < depth; ++level) {
      const std::uint64_t address = frame_address(order[i], level);
      const std::uint32_t module = level == 0 ? order[i] % modules : 0;
      const auto [frame, is_new] = frames.try_emplace(address, static_cast<std::uint32_t>(frames.size() + 1));
      if (is_new) log += frame_definition(frame->second, module, address);
      path.push_back(frame->second);
    }
    log += path_definition(i + 1, path);
  }
  return log;
}

// Communicators: the world, the rank's row and its column of a grid.
std::string definitions(std::uint32_t rank, std::uint32_t ranks, const std::vector<std::uint32_t>& order) {
  const auto columns = static_cast<std::uint32_t>(std::max(1.0, std::sqrt(ranks)));
  const std::uint32_t row = rank / columns;
  const std::uint32_t column = rank % columns;
  std::string log;
  const auto communicator = [&](std::uint32_t number, const char* name, std::uint64_t key, format::MemberRun members) {
    format::CommunicatorDefinition made{};
    made.communicator = made.group = number;
    made.size = static_cast<std::int32_t>(members.count);
    made.key = key;
    log += group_definition(number, {members}) + communicator_definition(made, name);
  };
  const auto as_rank = [](std::uint32_t number) { return static_cast<std::int32_t>(number); };
  communicator(1, "MPI_COMM_WORLD", 1, {0, 1, ranks});
  communicator(2, "row", 2 + row, {as_rank(row * columns), 1, std::min(columns, ranks - row * columns)});
  communicator(3, "column", 1'000'000 + column,
               {as_rank(column), as_rank(columns), (ranks - column - 1) / columns + 1});
  for (std::uint32_t module = 0; module < modules; ++module) {
    const std::string name =
        module == 0 ? "/opt/solver/bin/solver" : "/opt/solver/lib/lib" + std::to_string(module) + ".so";
    log += module_definition(module, name, "build-id-of-20-bytes", module == 0 ? format::of_program : 0);
  }
  return log + site_definitions(order);
}

std::string profile(std::mt19937& random, const std::vector<Place>& all, const std::vector<std::uint32_t>& order) {
  format::LocationSummary summary{};
  summary.rows = static_cast<std::uint32_t>(order.size());
  std::string payload = bytes_of(summary);
  std::lognormal_distribution<double> spread(0, 0.5);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const Place& place = all[order[i]];
    const std::uint64_t calls = 1000 + random() % 1000;
    const double mean = place.mean_ticks * spread(random);
    format::ProfileRow row =
        profile_row(place.function, i + 1, calls, static_cast<std::uint64_t>(mean * static_cast<double>(calls)),
                    calls * place.bytes, place.communicator);
    row.size_class = place.bytes == 0 ? format::no_size : static_cast<std::uint8_t>(std::bit_width(place.bytes));
    row.ticks_min = static_cast<std::uint64_t>(mean * 0.3 * spread(random));
    row.ticks_max = static_cast<std::uint64_t>(mean * 20 * spread(random));
    row.ticks_squared = static_cast<double>(calls) * mean * mean * 1.3;
    const auto middle = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(mean))) - 4;
    for (unsigned bin = middle - 2; bin < middle + 3; ++bin)
      row.histogram[bin] = static_cast<std::uint32_t>(random() % (calls / 4));
    payload += bytes_of(row);
  }
  return payload;
}

void write_node(const std::string& dir, std::uint32_t node, std::uint32_t ranks, const std::vector<Place>& all) {
  const std::string host = "node" + std::to_string(100'000 + node);
  reader::ChunkFile file(dir, reader::chunk_file_name(host));
  const std::uint32_t end = std::min(ranks, (node + 1) * ranks_a_node);
  for (std::uint32_t rank = node * ranks_a_node; rank < end; ++rank) {
    std::mt19937 random(rank);
    std::vector<std::uint32_t> order;  // which place it calls from first
    for (std::uint32_t i = 0; i < all.size(); ++i) order.push_back(i);
    std::shuffle(order.begin(), order.end(), random);
    format::ProcessRecord record = process_record(rank, format::ProcessState::exited, rank + 1);
    record.size = static_cast<std::int32_t>(ranks);
    record.exit_code = 0;
    std::memset(record.host, 0, sizeof record.host);
    std::memcpy(record.host, host.data(), host.size());
    record.end = record.finalize_enter = record.clock_last.ticks = static_cast<std::uint64_t>(600 * ticks_a_second);
    record.clock_last.monotonic_ns = record.clock_last.ticks;
    const auto append = [&](format::ChunkType type, std::string_view payload) {
      format::ChunkHeader identity{};
      identity.type = type;
      identity.process = record.process;
      file.append(identity, payload);
    };
    append(format::ChunkType::process, bytes_of(record));
    append(format::ChunkType::definitions, definitions(rank, ranks, order));
    append(format::ChunkType::profile, profile(random, all, order));
  }
  if (file.error() != 0) throw std::runtime_error(dir + ": " + std::strerror(file.error()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t ranks = argc == 4 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 0;
  const std::uint32_t sites = argc == 4 ? static_cast<std::uint32_t>(std::atoi(argv[3])) : 0;
  if (ranks == 0 || sites == 0) {
    std::cerr << "usage: many_ranks DIR RANKS SITES\n";
    return 2;
  }
  const std::vector<Place> all = places(sites);
  try {
    reader::parallel(
        (ranks - 1) / ranks_a_node + 1, std::thread::hardware_concurrency(),
        [&](unsigned, std::size_t node) { write_node(argv[1], static_cast<std::uint32_t>(node), ranks, all); });
  } catch (const std::exception& failure) {
    std::cerr << "many_ranks: " << failure.what() << '\n';
    return 1;
  }
}
