// The I/O records of calls on files: handles, operations and seeks, of POSIX, of the streams of C, and of MPI-IO.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exporters/otf2/communicator_numbers.h"
#include "exporters/otf2/mpi_records.h"
#include "format/file_table.h"
#include "format/function_meaning.h"
#include "reader/events/event_stream.h"
#include "reader/run/run.h"
#include "reader/run/used_file_names.h"

namespace tare::exporters::otf2 {

// A file or directory, as an IoFile.
struct IoFile {
  std::string name;
  std::uint64_t inode = 0;  // 0: not known, as of MPI-IO
  bool is_directory = false;
  std::optional<std::string> host;  // the host of the processes that have used it; nothing: they are on several
};

// An IoHandle: what a call that opens a file has returned. Descriptors of one number are one handle, one after the
// other, as long as they are of one file.
struct IoHandle {
  std::string name;
  OTF2_IoFileRef file = OTF2_UNDEFINED_IO_FILE;
  format::FileInterface interface = format::FileInterface::posix;
  bool is_pre_created = false;  // the trace does not have the call that opened it
  OTF2_CommRef communicator = OTF2_UNDEFINED_COMM;
};

// A handle is inactive before it is opened, and once it is closed. If it is used nevertheless, because the trace does
// not have what happened to it, it is another handle, which was there from the beginning.
class IoRecords {
 public:
  // Both must outlive it.
  IoRecords(const reader::Run& run, const CommunicatorNumbers& communicators);

  // Writes the records after the enter of a call, and those before its leave.
  void begin(const reader::EventRow& row, std::uint64_t time, Sink& sink);
  void end(const reader::EventRow& row, std::uint64_t time, Sink& sink);

  // By their numbers in the archive.
  const std::vector<IoFile>& files() const { return files_; }
  const std::vector<IoHandle>& handles() const { return handles_; }

 private:
  // Process, entry of the file, interface and descriptor; of MPI-IO 0 in place of the entry, and the index of the file
  // in Run::scopes() in place of the descriptor.
  using Key = std::tuple<std::uint32_t, std::uint32_t, format::FileInterface, std::uint64_t>;
  struct Handle {
    OTF2_IoHandleRef number = 0;
    bool is_active = false;
  };
  // An operation that goes on after its call.
  struct UnderWay {
    OTF2_IoHandleRef handle;
    std::uint64_t id, bytes;
  };

  std::optional<Key> key_of(const reader::EventRow& row) const;
  bool has_failed(const reader::EventRow& row) const;
  OTF2_IoFileRef file_of(IoFile file);
  std::string path_of_mpi(std::uint32_t process, const std::string& given);
  OTF2_IoHandleRef add_handle(const Key& key, std::uint16_t function, bool is_pre_created);
  OTF2_IoHandleRef active(const Key& key, std::uint16_t function);
  void open(const Key& key, const reader::EventRow& row, std::uint64_t time, Sink& sink);
  void close(const Key& key, const reader::EventRow& row, std::uint64_t time, Sink& sink);
  void seek(const Key& key, const reader::EventRow& row, std::uint64_t time, Sink& sink);
  void complete(const UnderWay& of, std::uint64_t time, Sink& sink);

  const reader::Run& run_;
  const CommunicatorNumbers& communicators_;
  std::vector<IoFile> files_;
  std::vector<IoHandle> handles_;
  std::map<std::string, std::vector<OTF2_IoFileRef>> files_of_;  // by name
  std::map<Key, Handle> handle_of_;
  // Of files of MPI, by their index and is_pre_created: all ranks of a communicator share a handle.
  std::map<std::pair<std::uint64_t, bool>, OTF2_IoHandleRef> shared_;
  reader::UsedFileNames used_;
  std::optional<std::string> only_host_;                                    // nothing: the processes are on several
  std::map<std::uint32_t, std::set<std::string>> mpi_file_names_;           // with directories, by process
  std::map<std::pair<std::uint32_t, std::uint64_t>, UnderWay> by_request_;  // by process, and thread and request
  std::map<Key, UnderWay> split_;              // a split collective operation of each handle
  std::map<OTF2_EvtWriter*, UnderWay> calls_;  // the operation of the call that a location is in
  std::uint64_t last_id_ = 0;
};

}  // namespace tare::exporters::otf2
