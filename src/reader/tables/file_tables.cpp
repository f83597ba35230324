// The table of files that processes used, as the tables of their segments have it (format/file_table.h).
#include <algorithm>
#include <map>
#include <utility>

#include "reader/events/row_table.h"
#include "reader/store/file_table.h"

namespace tare::reader {
namespace {

using format::FileInterface;
using format::FileTransfers;
using format::FileUse;

const char* name_of(format::FileKind kind) {
  constexpr const char* names[] = {"unknown", "file", "directory", "device", "terminal", "pipe", "socket", "other"};
  const auto number = static_cast<std::size_t>(kind);
  return number < std::size(names) ? names[number] : "other";
}

const char* name_of(FileInterface interface) {
  constexpr const char* names[] = {"POSIX", "stdio", "MPI-IO"};
  return names[static_cast<std::size_t>(interface)];  // the reader has checked it
}

const char* naming_of(const format::FileEntry& entry) {
  if ((entry.flags & format::other_files) != 0) return "others";
  if ((entry.flags & format::name_unknown) != 0) return "unknown";
  return (entry.flags & format::name_cut) != 0 ? "cut" : "whole";
}

// `to` is the sum of all of a file's rows that have an interface.
void add(FileTransfers& to, const FileTransfers& from) {
  to.calls += from.calls;
  to.bytes += from.bytes;
  to.ticks += from.ticks;
  to.ticks_max = std::max(to.ticks_max, from.ticks_max);
  to.located += from.located;
  to.consecutive += from.consecutive;
  to.sequential += from.sequential;
  to.strided += from.strided;
  to.end = std::max(to.end, from.end);
  to.failed += from.failed;
  for (unsigned bin = 0; bin < format::file_size_bins; ++bin) to.sizes[bin] += from.sizes[bin];
}

void add(FileUse& to, const FileUse& from) {
  add(to.reads, from.reads);
  add(to.writes, from.writes);
  to.switches += from.switches;
  to.opens += from.opens;
  to.closes += from.closes;
  to.seeks += from.seeks;
  to.syncs += from.syncs;
  to.other_calls += from.other_calls;
  to.sync_ticks += from.sync_ticks;
  to.meta_ticks += from.meta_ticks;
  to.failed += from.failed;
}

bool is_empty(const FileUse& use) {
  return use.reads.calls + use.writes.calls + use.opens + use.closes + use.seeks + use.syncs + use.other_calls == 0;
}

rows::Files row_of(const Process& process, const FileUse& use) {
  const auto ns = [&](std::uint64_t ticks) { return process.clock.duration_ns(ticks); };
  rows::Files row{};
  row.world_rank = {process.world, process.record.rank};
  row.pid = static_cast<std::int64_t>(process.record.pid);
  row.closes = as_int64(use.closes);
  row.reads = as_int64(use.reads.calls);
  row.writes = as_int64(use.writes.calls);
  row.seeks = as_int64(use.seeks);
  row.syncs = as_int64(use.syncs);
  row.other_calls = as_int64(use.other_calls);
  row.read_bytes = as_int64(use.reads.bytes);
  row.written_bytes = as_int64(use.writes.bytes);
  row.read_ns = ns(use.reads.ticks);
  row.write_ns = ns(use.writes.ticks);
  row.sync_ns = ns(use.sync_ticks);
  row.meta_ns = ns(use.meta_ticks);
  row.longest_read_ns = ns(use.reads.ticks_max);
  row.longest_write_ns = ns(use.writes.ticks_max);
  return row;
}

void put_sizes(rows::Files& row, const FileUse& use) {
  const auto sizes = [](const FileTransfers& of, auto&... columns) {
    unsigned bin = 0;
    ((columns = as_int64(of.sizes[bin++])), ...);
  };
  sizes(use.reads, row.reads_to_100, row.reads_to_1k, row.reads_to_10k, row.reads_to_100k, row.reads_to_1m,
        row.reads_to_4m, row.reads_to_10m, row.reads_to_100m, row.reads_to_1g, row.reads_above_1g);
  sizes(use.writes, row.writes_to_100, row.writes_to_1k, row.writes_to_10k, row.writes_to_100k, row.writes_to_1m,
        row.writes_to_4m, row.writes_to_10m, row.writes_to_100m, row.writes_to_1g, row.writes_above_1g);
}

void put_places(rows::Files& row, const FileUse& use) {
  row.located_reads = as_int64(use.reads.located);
  row.located_writes = as_int64(use.writes.located);
  row.consecutive_reads = as_int64(use.reads.consecutive);
  row.consecutive_writes = as_int64(use.writes.consecutive);
  row.sequential_reads = as_int64(use.reads.sequential);
  row.sequential_writes = as_int64(use.writes.sequential);
  row.strided_reads = as_int64(use.reads.strided);
  row.strided_writes = as_int64(use.writes.strided);
  row.switches = as_int64(use.switches);
  row.read_end = as_int64(use.reads.end);
  row.written_end = as_int64(use.writes.end);
}

void add_rows(const Process& process, RunTexts& texts, std::vector<rows::Files>& to) {
  const UsedFiles used = read_files(process.files);
  struct Sum {
    FileUse use{};
    std::int32_t threads = 0;
  };
  std::map<std::pair<std::uint32_t, FileInterface>, Sum> sums;
  for (const FileUse& use : used.uses) {
    if (is_empty(use)) continue;
    Sum& sum = sums[{use.file, use.interface}];
    add(sum.use, use);
    ++sum.threads;
  }
  for (const auto& [key, sum] : sums) {
    const auto& [file, interface] = key;
    const auto& [entry, name] = used.files[file];
    const bool is_one_file = (entry.flags & format::other_files) == 0;
    rows::Files row = row_of(process, sum.use);
    row.file = name.empty() ? Text{} : Text(texts.of("file").number_of(name));
    const bool is_of_mpi = interface == FileInterface::mpi_io;
    row.naming = texts.of("naming").number_of(is_of_mpi && entry.flags == 0 ? "given" : naming_of(entry));
    row.interface = texts.of("interface").number_of(name_of(interface));
    if (!is_of_mpi && entry.kind != format::FileKind::unknown)
      row.kind = texts.of("kind").number_of(name_of(entry.kind));
    if (is_one_file) row.threads = sum.threads;
    row.opens = as_int64(sum.use.opens);
    row.failed = as_int64(sum.use.failed + sum.use.reads.failed + sum.use.writes.failed);
    put_sizes(row, sum.use);
    if (interface == FileInterface::posix) put_places(row, sum.use);
    to.push_back(row);
  }
}

}  // namespace

Result<TableStream> file_table(Run& run) {
  RunTexts texts(run, SiteTexts::none);
  std::vector<rows::Files> rows;
  for (const Process& process : run.processes()) {
    if (process.files.is_there()) add_rows(process, texts, rows);
  }
  return stored_table(std::move(rows), texts);
}

}  // namespace tare::reader
