// The rounds of a run on disk: RUN/monitor-<host>.tare, a file of chunks of type "rounds" like the file of a node
// (format/chunk.h). It is complete up to its last chunk, whatever happens to the run and to tared.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>

#include "format/round.h"
#include "tared/filters/snapshot.h"

namespace tare::tared {

class RoundFile : public RoundSink {
 public:
  RoundFile(const std::string& run_directory, const char* host);

  void name(EventKey key, std::string_view text) override;
  void round(const Round& round) override;
  void lost_round(std::uint64_t round, const RankSet& lost) override;

  void pace(const format::PaceRecord& pace);

  // Rounds are collected for a while, so that a chunk has several. Writes those that are older than write_every_ns.
  // `now_ns` is of any monotonic clock.
  void write_due(std::uint64_t now_ns);
  void write();
  // At the end. False if any round could not be written.
  bool write_all();
  // If rounds cannot be written (the disk is full, no descriptor is left), so many bytes wait until they can.
  static constexpr std::size_t max_bytes = std::size_t{16} << 20U;
  static constexpr std::uint64_t write_every_ns = 100'000'000;
  static constexpr std::uint64_t try_every_ns = 1'000'000'000;  // if that failed

 private:
  void add(format::RoundRecord kind, const std::function<void(Writer&)>& put);

  std::string path_;
  Bytes payload_;
  std::unordered_set<EventKey> named_;
  std::uint32_t records_ = 0;
  std::uint32_t chunks_ = 0;
  std::uint64_t oldest_ns_ = 0;
  bool has_failed_ = false;  // the last time
  bool has_lost_ = false;
};

}  // namespace tare::tared
