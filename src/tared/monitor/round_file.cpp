#include "tared/monitor/round_file.h"

#include <vector>

#include "format/chunk_writer.h"
#include "format/node_file_name.h"
#include "format/process_record.h"
#include "recorder/system.h"

namespace tare::tared {

namespace {

constexpr std::size_t enough_bytes = std::size_t{256} << 10U;  // of rounds, so that a chunk is written
constexpr std::size_t max_text = 4096;

}  // namespace

RoundFile::RoundFile(const std::string& run_directory, const char* host) {
  char name[sizeof(format::ProcessRecord::host) + 8];
  format::node_file_name(name, sizeof name, host);
  path_ = run_directory + "/monitor-" + name;
}

void RoundFile::add(format::RoundRecord kind, const std::function<void(Writer&)>& put) {
  format::add_record(payload_, kind, put);
  ++records_;
}

void RoundFile::name(EventKey key, std::string_view text) {
  if (!named_.insert(key).second) return;
  add(format::RoundRecord::name, [&](Writer& out) {
    out.put(key);
    out.put_all(std::span<const char>(text.substr(0, max_text)));
  });
}

void RoundFile::round(const Round& round) {
  add(format::RoundRecord::round, [&](Writer& out) { round.write(out); });
  if (payload_.size() >= (has_failed_ ? max_bytes : enough_bytes)) write();
}

void RoundFile::lost_round(std::uint64_t round, const RankSet& lost) {
  add(format::RoundRecord::lost_round, [&](Writer& out) { format::Round::write_lost(out, round, lost); });
}

void RoundFile::pace(const format::PaceRecord& pace) {
  add(format::RoundRecord::pace, [&](Writer& out) { out.put(pace); });
}

void RoundFile::write_due(std::uint64_t now_ns) {
  if (payload_.empty()) return;
  if (oldest_ns_ == 0) oldest_ns_ = now_ns;
  if (now_ns - oldest_ns_ >= (has_failed_ ? try_every_ns : write_every_ns)) write();
}

void RoundFile::write() {
  oldest_ns_ = 0;
  if (payload_.empty()) return;
  format::ChunkHeader header{};
  header.type = format::ChunkType::rounds;
  header.sequence = chunks_++;
  header.records = records_;
  std::vector<char> chunk(sizeof header + format::chunk_bound(payload_.size()));
  std::vector<std::uint64_t> context(format::chunk_context_bytes() / sizeof(std::uint64_t) + 1);
  const std::size_t bytes = format::make_chunk(header, payload_.data(), payload_.size(), chunk.data(), context.data());
  recorder::create_file(path_.c_str());
  has_failed_ = !recorder::append_file(path_.c_str(), chunk.data(), bytes);
  if (has_failed_) {
    if (payload_.size() < max_bytes) return;
    has_lost_ = true;
    named_.clear();  // names that the lost chunk contained must be written again
  }
  payload_.clear();
  records_ = 0;
}

bool RoundFile::write_all() {
  write();
  return payload_.empty() && !has_lost_;
}

}  // namespace tare::tared
