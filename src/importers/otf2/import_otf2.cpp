#include "importers/otf2/import_otf2.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "importers/otf2/archive_definitions.h"
#include "importers/otf2/numbers.h"
#include "importers/otf2/thread_import.h"
#include "importers/run_file.h"

namespace tare::importers::otf2 {
namespace {

using namespace tare::format;

// The errors that libotf2 reports. Keeps the first error while it lives, because it causes the others. libotf2 has one
// error handler, so only one of these may exist at a time.
class LibraryErrors {
 public:
  LibraryErrors() { OTF2_Error_RegisterCallback(take, this); }
  LibraryErrors(const LibraryErrors&) = delete;
  LibraryErrors& operator=(const LibraryErrors&) = delete;
  ~LibraryErrors() { OTF2_Error_RegisterCallback(nullptr, nullptr); }
  // Empty if there was none.
  const std::string& first() const { return first_; }

 private:
  static OTF2_ErrorCode take(void* self, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*,
                             std::va_list) {
    std::string& first = static_cast<LibraryErrors*>(self)->first_;
    if (code > OTF2_SUCCESS && first.empty()) first = OTF2_Error_GetDescription(code);
    return code;
  }
  std::string first_;
};

// The archive, process by process. Errors are texts, empty where there is none.
class Importer {
 public:
  Importer(OTF2_Reader* reader, const ArchiveDefinitions& definitions, RunFile& file, std::uint64_t start_ns)
      : reader_(reader),
        definitions_(definitions),
        functions_(definitions),
        communicators_(definitions),
        file_(file),
        start_ns_(start_ns) {}

  std::string read_events();
  const Imported& done() const { return done_; }

 private:
  void read_local_definitions();
  ProcessRecord describe(OTF2_LocationGroupRef group, const std::vector<const Location*>& threads,
                         std::uint64_t number);
  std::string read_process(OTF2_LocationGroupRef group, const std::vector<const Location*>& threads,
                           std::uint64_t number);
  std::string read_thread(ProcessWriter& process, const Location& location, std::uint32_t number,
                          RequestNumbers& requests);

  OTF2_Reader* reader_;
  const ArchiveDefinitions& definitions_;
  const MpiFunctions functions_;
  const Communicators communicators_;
  const ThreadImport::Archive archive_{definitions_, functions_, communicators_};
  RunFile& file_;
  std::uint64_t start_ns_;
  std::uint64_t first_ = UINT64_MAX, last_ = 0;  // ticks
  Imported done_;
};

std::string read_definitions(OTF2_Reader* from, ArchiveDefinitions& to) {
  std::uint64_t read = 0;
  OTF2_GlobalDefReader* reader = OTF2_Reader_GetGlobalDefReader(from);
  if (reader == nullptr) return "it has no definitions";
  OTF2_GlobalDefReaderCallbacks* callbacks = ArchiveDefinitions::make_callbacks();
  OTF2_Reader_RegisterGlobalDefCallbacks(from, reader, callbacks, &to);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  const OTF2_ErrorCode code = OTF2_Reader_ReadAllGlobalDefinitions(from, reader, &read);
  if (code != OTF2_SUCCESS) return std::string("its definitions are damaged: ") + OTF2_Error_GetDescription(code);
  return to.locations.empty() ? "it has no locations" : "";
}

// Reads the local definitions. With them, libotf2 maps numbers of one location to those of the archive. A location
// without local definitions needs no mapping.
void Importer::read_local_definitions() {
  if (OTF2_Reader_OpenDefFiles(reader_) != OTF2_SUCCESS) return;
  for (const Location& location : definitions_.locations) {
    OTF2_DefReader* reader = OTF2_Reader_GetDefReader(reader_, location.number);
    std::uint64_t read = 0;
    if (reader == nullptr) continue;
    OTF2_Reader_ReadAllLocalDefinitions(reader_, reader, &read);
    OTF2_Reader_CloseDefReader(reader_, reader);
  }
  OTF2_Reader_CloseDefFiles(reader_);
}

std::string Importer::read_events() {
  for (const Location& location : definitions_.locations) OTF2_Reader_SelectLocation(reader_, location.number);
  if (OTF2_Reader_OpenEvtFiles(reader_) != OTF2_SUCCESS) return "its events cannot be opened";
  read_local_definitions();
  // In the order of their first locations.
  std::vector<std::pair<OTF2_LocationGroupRef, std::vector<const Location*>>> processes;
  std::unordered_map<OTF2_LocationGroupRef, std::size_t> index;
  for (const Location& location : definitions_.locations) {
    const auto [at, is_new] = index.emplace(location.group, processes.size());
    if (is_new) processes.push_back({location.group, {}});
    processes[at->second].second.push_back(&location);
  }
  for (std::size_t i = 0; i < processes.size(); ++i)
    if (std::string error = read_process(processes[i].first, processes[i].second, i + 1); !error.empty()) return error;
  done_.processes = processes.size();
  done_.start_ns = start_ns_;
  if (first_ <= last_) {
    if (last_ - first_ > longest_ns) return "it is damaged: its events lie years apart";
    const std::uint64_t before_ns = first_ - first_ticks;
    if (before_ns > latest_ns || done_.start_ns > latest_ns - before_ns)
      return "it is damaged: its events lie in the far future";
    done_.start_ns += before_ns;
    done_.wall_ns = last_ - first_;
  }
  return {};
}

ProcessRecord Importer::describe(OTF2_LocationGroupRef group, const std::vector<const Location*>& threads,
                                 std::uint64_t number) {
  ProcessRecord record = new_process(number, threads.size(), start_ns_);
  record.size = static_cast<std::int32_t>(definitions_.comm_locations.size());
  record.thread_level = threads.size() > 1 ? 3 : 0;
  for (std::size_t i = 0; i < definitions_.comm_locations.size(); ++i)
    for (const Location* thread : threads)
      if (thread->number == definitions_.comm_locations[i]) record.rank = static_cast<std::int32_t>(i);
  const auto found = definitions_.location_groups.find(group);
  if (found == definitions_.location_groups.end()) return record;
  const auto node = definitions_.nodes.find(found->second.node);
  const std::string host = node == definitions_.nodes.end() ? "" : definitions_.text(node->second);
  std::snprintf(record.host, sizeof record.host, "%s", host.c_str());
  std::snprintf(record.executable, sizeof record.executable, "%s", definitions_.text(found->second.name).c_str());
  if (done_.host.empty()) done_.host = host;
  return record;
}

std::string Importer::read_process(OTF2_LocationGroupRef group, const std::vector<const Location*>& threads,
                                   std::uint64_t number) {
  ProcessWriter process(file_, describe(group, threads, number));
  communicators_.define(process);
  RequestNumbers requests;
  std::uint32_t thread = 0;
  for (const Location* location : threads)
    if (std::string error = read_thread(process, *location, thread++, requests); !error.empty()) return error;
  process.finish();
  first_ = std::min(first_, process.record().attach);
  last_ = std::max(last_, process.record().end);
  return {};
}

std::string Importer::read_thread(ProcessWriter& process, const Location& location, std::uint32_t number,
                                  RequestNumbers& requests) {
  process.name_thread(number, definitions_.text(location.name));
  OTF2_EvtReader* reader = OTF2_Reader_GetEvtReader(reader_, location.number);
  ++done_.threads;
  if (reader == nullptr) return {};  // it has no events
  ThreadImport thread(archive_, process, number, requests);
  OTF2_Reader_RegisterEvtCallbacks(reader_, reader, make_event_callbacks().get(), &thread);
  std::uint64_t read = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalEvents(reader_, reader, &read);
  OTF2_Reader_CloseEvtReader(reader_, reader);
  if (code != OTF2_SUCCESS)
    return "the events of location " + std::to_string(location.number) +
           " are damaged: " + OTF2_Error_GetDescription(code);
  done_.calls += thread.calls();
  done_.unfinished += thread.unfinished();
  thread.finish();
  return {};
}

}  // namespace

reader::Result<Imported> import_otf2(const std::string& anchor, const std::string& file,
                                     std::uint64_t fallback_start_ns) {
  const LibraryErrors errors;
  const auto failure = [&](const std::string& reason) {
    return reader::Failure{anchor + " cannot be imported: " + reason +
                           (errors.first().empty() ? "" : " (" + errors.first() + ")")};
  };
  const std::unique_ptr<OTF2_Reader, OTF2_ErrorCode (*)(OTF2_Reader*)> reader(OTF2_Reader_Open(anchor.c_str()),
                                                                              OTF2_Reader_Close);
  if (!reader) return failure("it is no OTF2 archive");
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
  ArchiveDefinitions definitions;
  if (const std::string error = read_definitions(reader.get(), definitions); !error.empty()) return failure(error);
  if (definitions.resolution == 0) return failure("it is damaged: its clock has no ticks in a second");
  const bool says_start = definitions.realtime_ns != OTF2_UNDEFINED_TIMESTAMP && definitions.realtime_ns < INT64_MAX;
  RunFile out(file);
  Importer importer(reader.get(), definitions, out, says_start ? definitions.realtime_ns : fallback_start_ns);
  if (const std::string error = importer.read_events(); !error.empty()) return failure(error);
  if (std::string error = out.finish(); !error.empty()) return reader::Failure{std::move(error)};
  return importer.done();
}

}  // namespace tare::importers::otf2
