// make_seeds RUN_DIR SEEDS: seeds for the fuzzers into SEEDS/reader, SEEDS/archive, SEEDS/segment and SEEDS/import,
// from the files of a run directory, and from files and segments made by hand.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "reader/store/archive.h"
#include "reader/store/calls_chunk.h"
#include "reader/testing/synthetic.h"
#ifdef TARE_OTF2
#  include "otf2_seeds.h"
#endif

using namespace tare;
using namespace tare::reader::synthetic;

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t gap = 64;  // so many zeros end a piece

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As segment_fuzz takes it.
std::string in_pieces(const std::string& segment) {
  std::string input = bytes_of(static_cast<std::uint32_t>((segment.size() + page - 1) / page));
  for (std::size_t at = segment.find_first_not_of('\0'); at != std::string::npos;) {
    std::size_t end = segment.find(std::string(gap, '\0'), at);
    end = std::min({end, segment.size(), at + 0xffff});
    input += bytes_of(static_cast<std::uint32_t>(at)) + bytes_of(static_cast<std::uint16_t>(end - at));
    input += segment.substr(at, end - at);
    at = segment.find_first_not_of('\0', end);
  }
  return input;
}

// Of every kind but Python frames.
std::string all_definitions() {
  format::CommunicatorDefinition inter{};
  inter.communicator = 2;
  inter.size = 1;
  inter.remote_size = 3;
  inter.key = 0x1234567890;
  inter.group = 1;
  inter.remote_group = 2;
  inter.parent = 1;
  return module_definition(1, "/bin/app", "build id", format::of_program) + frame_definition(2, 1, 0x1234) +
         frame_definition(3, format::no_module, 0x7f0000001234) +
         path_definition(2, {3, 1, 2}, format::path_cut | format::frames_left_out) +
         communicator_definition(1, 2, "MPI_COMM_WORLD") + group_definition(1, {{0, 0, 1}}) +
         group_definition(2, {{1, 2, 2}, {-1, 0, 1}}) + communicator_definition(inter, "inter") +
         communicator_name(2, "renamed") + window_definition(3, 1, 77) + window_name(3, "halo") +
         file_definition(4, 2, 78, "out.dat") + thread_definition(0, "app") + thread_definition(1, "worker") +
         event_type_definition(1, format::EventClass::regular, "step",
                               {format::ParameterType::i32, format::ParameterType::f64}) +
         event_type_definition(2, format::EventClass::raw, "note") +
         event_type_definition(3, format::EventClass::counter, "load", {format::ParameterType::f64}, "W") +
         event_type_definition(4, format::EventClass::phase, "solve", {format::ParameterType::u8});
}

// One in MPI_Wait, and the request that it waits for.
format::RequestEntry pending_request() {
  format::RequestEntry request{};
  request.handle = 0x10;
  request.communicator = 1;
  request.tag = 3;
  request.site = 1;
  request.waiter = 1;
  request.function = function_number("MPI_Irecv");
  request.kind = format::receive_request;
  return request;
}

// Two requests, started and completed together.
std::string started_together() {
  std::string records = bytes_of(call_record("MPI_Startall", 1, 3630, 3640));
  for (const std::uint32_t request : {7U, 8U})
    records += bytes_of(format::StartRecord{{format::start, 4}, request, 8, 1, 2, 1, 0});
  records += bytes_of(call_record("MPI_Waitall", 1, 3650, 3660));
  for (const std::uint32_t request : {8U, 7U})
    records += bytes_of(format::CompletionRecord{{format::completion, 3}, request, 8, 1, 2});
  return records;
}

std::string file_of_a_killed_process() {
  const auto record = process_record(1, format::ProcessState::running);
  format::ThreadCall call{};
  call.enter = 3500;
  call.function = function_number("MPI_Wait");
  call.site = 2;
  call.requests = 1;
  format::ChunkHeader identity{};
  identity.type = format::ChunkType::calls;
  identity.process = record.process;
  return functions_chunk() + process_chunk(record) + definitions_chunk(record, all_definitions()) +
         chunk(identity, reader::calls_payload({call}, {pending_request()})) +
         events_chunk(record, 0, 0, started_together());
}

// Two threads, of which one completes what the other has started.
std::string file_of_threads() {
  auto record = process_record(1, format::ProcessState::exited);
  record.thread_level = 3;
  std::string started, completed;
  for (std::uint32_t i = 0; i < 4; ++i) {
    auto call = call_record("MPI_Irecv", 1, 3000 + i * 100, 3010 + i * 100);
    call.request = 7 + i / 3;
    started += bytes_of(call);
    completed += bytes_of(call_record("MPI_Wait", 1, 3020 + i * 100, 3090 + i * 100)) +
                 bytes_of(format::CompletionRecord{{format::foreign_completion, 3}, call.request, 8, 1, 2});
  }
  return functions_chunk() + process_chunk(record) + events_chunk(record, 0, 0, started) +
         events_chunk(record, 1, 0, completed);
}

std::string segment_of_a_killed_process() {
  const TempDir dir;
  auto record = process_record(1, format::ProcessState::running);
  Segment segment(dir, record);
  segment.define(python_site_definition(1, "solve.py", "solve", 12) + all_definitions());
  segment.add_location();
  segment.add_row(0, profile_row("MPI_Send", 1, 3, 300, 192));
  segment.add_peer(0, {1, 1, 3, 192, 2, 128});
  segment.add_phase(0, {4, 0, 1, 500, 100, 1, 64});
  for (std::uint64_t call = 0; call < 3; ++call)
    segment.add_record(0, bytes_of(call_record("MPI_Send", 1, 3000 + call * 200, 3100 + call * 200)));
  format::ExchangeRecord exchange{call_record("MPI_Sendrecv", 1, 3610, 3620), 80, 1, 2};
  exchange.call.head.words = sizeof exchange / 8;
  segment.add_record(0, bytes_of(exchange) + started_together());
  segment.location(0).current.function = function_number("MPI_Wait");
  segment.location(0).current.enter = 3900;
  segment.add_request(pending_request());
  segment.add_record(0, event_record(1, 3700, {1, 2}) + event_record(3, 3800, {0}) + raw_event_record(2, 3900, "text"));
  return dir.read(segment.name());
}

std::string archive_of(const std::string& run_dir, const std::vector<std::string>& names) {
  const TempDir dir;
  auto writer = reader::ArchiveWriter::create(dir.path("archive"));
  const auto ignore = [](std::uint64_t) {};
  for (const std::string& name : names) {
    writer->add("run", format::MemberKind::run, name, {run_dir + "/" + name, 0, {}, {}}, ignore);
    writer->add(name, format::MemberKind::file, "", {run_dir + "/" + name, 0, 5000, {}}, ignore);
  }
  writer->finish();
  return dir.read("archive");
}

#ifdef TARE_OTF2
void write_otf2_seeds(const std::string& seeds, const std::vector<std::string>& files) {
  std::filesystem::create_directories(seeds);
  for (std::size_t i = 0; i < files.size(); ++i)
    if (const std::string input = fuzz::archive_of_run(files[i]); !input.empty())
      write_file(seeds + "/" + std::to_string(i), input);
}
#endif

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const std::string run_dir = words[1];
  const std::string seeds = words[2];
  for (const char* folder : {"reader", "archive", "segment"}) std::filesystem::create_directories(seeds + "/" + folder);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(run_dir)) names.push_back(entry.path().filename());
  for (const std::string& name : names) write_file(seeds + "/reader/" + name, read_file(run_dir + "/" + name));
  write_file(seeds + "/reader/killed", file_of_a_killed_process());
  write_file(seeds + "/reader/threads", file_of_threads());
  format::SampleClass sampled{};
  sampled.count = 1;
  const auto process = process_record(0, format::ProcessState::exited);
  write_file(seeds + "/reader/samples", functions_chunk() + process_chunk(process) + samples_chunk(process, {sampled}));
  write_file(seeds + "/archive/run", archive_of(run_dir, names));
  write_file(seeds + "/segment/killed", in_pieces(segment_of_a_killed_process()));
#ifdef TARE_OTF2
  std::vector<std::string> files{file_of_a_killed_process(), file_of_threads()};
  for (const std::string& name : names)
    if (name.ends_with(".tare")) files.push_back(read_file(run_dir + "/" + name));
  write_otf2_seeds(seeds + "/import", files);
#endif
  return 0;
}
