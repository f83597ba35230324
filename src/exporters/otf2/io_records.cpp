#include "exporters/otf2/io_records.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>

#include "exporters/texts.h"
#include "format/record.h"
#include "reader/store/file_table.h"

namespace tare::exporters::otf2 {
namespace {

using namespace tare::reader;
using format::CallClass;
using format::FileAccess;
using format::FileInterface;
using format::meaning_of;
using format::no_request;

bool is_transfer(FileAccess access) {
  return access == FileAccess::read || access == FileAccess::write || access == FileAccess::read_begin ||
         access == FileAccess::write_begin;
}
bool is_split(FileAccess access) { return access == FileAccess::read_begin || access == FileAccess::write_begin; }

OTF2_IoOperationMode mode_of(FileAccess access) {
  if (access == FileAccess::sync) return OTF2_IO_OPERATION_MODE_FLUSH;
  const bool reads = access == FileAccess::read || access == FileAccess::read_begin;
  return reads ? OTF2_IO_OPERATION_MODE_READ : OTF2_IO_OPERATION_MODE_WRITE;
}

OTF2_IoOperationFlag flags_of(const EventRow& row) {
  const format::FunctionMeaning& meaning = meaning_of(row.function);
  unsigned flags = OTF2_IO_OPERATION_FLAG_NONE;
  if (meaning.kind == CallClass::collective) flags |= OTF2_IO_OPERATION_FLAG_COLLECTIVE;
  if (row.request != no_request || is_split(meaning.access)) flags |= OTF2_IO_OPERATION_FLAG_NON_BLOCKING;
  return static_cast<OTF2_IoOperationFlag>(flags);
}

// Flags of open().
OTF2_IoAccessMode access_mode_of(std::uint64_t flags) {
  const std::uint64_t mode = flags & O_ACCMODE;
  return mode == O_RDONLY   ? OTF2_IO_ACCESS_MODE_READ_ONLY
         : mode == O_WRONLY ? OTF2_IO_ACCESS_MODE_WRITE_ONLY
                            : OTF2_IO_ACCESS_MODE_READ_WRITE;
}

struct FlagPair {
  std::uint64_t flag;
  unsigned otf2;
};
unsigned translated(std::uint64_t flags, std::initializer_list<FlagPair> pairs) {
  unsigned result = 0;
  for (const auto& [flag, otf2] : pairs)
    if ((flags & flag) == flag) result |= otf2;
  return result;
}
OTF2_IoCreationFlag creation_flags_of(std::uint64_t flags) {
  return static_cast<OTF2_IoCreationFlag>(translated(flags, {{O_CREAT, OTF2_IO_CREATION_FLAG_CREATE},
                                                             {O_TRUNC, OTF2_IO_CREATION_FLAG_TRUNCATE},
                                                             {O_DIRECTORY, OTF2_IO_CREATION_FLAG_DIRECTORY},
                                                             {O_EXCL, OTF2_IO_CREATION_FLAG_EXCLUSIVE},
                                                             {O_NOCTTY, OTF2_IO_CREATION_FLAG_NO_CONTROLLING_TERMINAL},
                                                             {O_NOFOLLOW, OTF2_IO_CREATION_FLAG_NO_FOLLOW},
                                                             {O_PATH, OTF2_IO_CREATION_FLAG_PATH},
                                                             {O_TMPFILE, OTF2_IO_CREATION_FLAG_TEMPORARY_FILE}}));
}
OTF2_IoStatusFlag status_flags_of(std::uint64_t flags) {
  return static_cast<OTF2_IoStatusFlag>(translated(flags, {{O_CLOEXEC, OTF2_IO_STATUS_FLAG_CLOSE_ON_EXEC},
                                                           {O_APPEND, OTF2_IO_STATUS_FLAG_APPEND},
                                                           {O_NONBLOCK, OTF2_IO_STATUS_FLAG_NON_BLOCKING},
                                                           {O_ASYNC, OTF2_IO_STATUS_FLAG_ASYNC},
                                                           {O_SYNC, OTF2_IO_STATUS_FLAG_SYNC},
                                                           {O_DSYNC, OTF2_IO_STATUS_FLAG_DATA_SYNC},
                                                           {O_DIRECT, OTF2_IO_STATUS_FLAG_AVOID_CACHING},
                                                           {O_NOATIME, OTF2_IO_STATUS_FLAG_NO_ACCESS_TIME}}));
}

}  // namespace

IoRecords::IoRecords(const Run& run, const CommunicatorNumbers& communicators)
    : run_(run), communicators_(communicators), used_(run) {
  std::set<std::string> hosts;
  for (const Process& process : run.processes()) hosts.insert(process.record.host);
  if (hosts.size() == 1) only_host_ = *hosts.begin();
}

bool IoRecords::has_failed(const EventRow& row) const {
  return EventStream::argument(run_, row, "error").value_or(0) != 0;
}

std::optional<IoRecords::Key> IoRecords::key_of(const EventRow& row) const {
  const format::FunctionMeaning& meaning = meaning_of(row.function);
  if (meaning.access == FileAccess::none) return std::nullopt;
  if (row.kind == EventKind::call) {
    if (row.scope < 0 || !run_.scopes()[static_cast<std::size_t>(row.scope)].is_file) return std::nullopt;
    return Key{row.process, 0, FileInterface::mpi_io, static_cast<std::uint64_t>(row.scope)};
  }
  const std::optional<std::uint64_t> descriptor = EventStream::argument(run_, row, "descriptor");
  const bool has_failed_without_file = row.object == format::unknown_file && has_failed(row);
  if (!descriptor || *descriptor > INT32_MAX || has_failed_without_file) return std::nullopt;
  return Key{row.process, row.object, meaning.is_stdio ? FileInterface::stdio : FileInterface::posix, *descriptor};
}

// Processes on different hosts use the same file if it has the same name and inode, or an inode is not known.
OTF2_IoFileRef IoRecords::file_of(IoFile file) {
  std::vector<OTF2_IoFileRef>& same_name = files_of_[file.name];
  for (const OTF2_IoFileRef number : same_name) {
    IoFile& known = files_[number];
    if (known.host == file.host) return number;
    if (known.inode != file.inode && known.inode != 0 && file.inode != 0) continue;
    known.inode = std::max(known.inode, file.inode);
    known.host.reset();
    return number;
  }
  same_name.push_back(static_cast<OTF2_IoFileRef>(files_.size()));
  files_.push_back(std::move(file));
  return same_name.back();
}

// The path of the file that a process has given to MPI_File_open: POSIX knows the file by it. As it was given if the
// table of files (--with files) does not have it, or has it in several directories.
std::string IoRecords::path_of_mpi(std::uint32_t process, const std::string& given) {
  const auto [names, is_new] = mpi_file_names_.try_emplace(process);
  if (is_new) {
    const UsedFiles used = read_files(run_.processes()[process].files);
    for (const format::FileUse& use : used.uses)
      if (use.interface == FileInterface::mpi_io) names->second.insert(used.files[use.file].name);
  }
  const std::string end = "/" + std::filesystem::path(given).lexically_normal().string();
  std::string found;
  for (const std::string& name : names->second)
    if (name.starts_with('/') && name.ends_with(end)) {
      std::string path = std::filesystem::path(name).lexically_normal().string();
      if (!found.empty() && found != path) return given;
      found = std::move(path);
    }
  return found.empty() ? given : found;
}

OTF2_IoHandleRef IoRecords::add_handle(const Key& key, std::uint16_t function, bool is_pre_created) {
  const auto& [process, entry, interface, number] = key;
  IoHandle handle;
  handle.interface = interface;
  handle.is_pre_created = is_pre_created;
  std::optional<std::string> host = std::string(run_.processes()[process].record.host);
  if (interface == FileInterface::mpi_io) {
    const ScopeInfo& scope = run_.scopes()[number];
    handle.name = plain_text(scope.name);
    handle.file = file_of({plain_text(path_of_mpi(process, scope.name)), 0, false, only_host_});
    handle.communicator = communicators_.of(scope.communicator);
    if (handle.communicator != OTF2_UNDEFINED_COMM) {
      const auto [shared, is_new] = shared_.try_emplace({number, is_pre_created}, handles_.size());
      if (!is_new) return shared->second;
    }
  } else if (const UsedFiles::File* file = used_.find(process, function, entry)) {
    handle.name = plain_text(file->name);
    const bool is_directory = file->entry.kind == format::FileKind::directory;
    // In earlier files, what MPI-IO opened first has no kind.
    const bool is_of_mpi = file->entry.kind == format::FileKind::unknown && file->name.starts_with('/');
    if (is_directory || is_of_mpi || file->entry.kind == format::FileKind::regular)
      handle.file = file_of({handle.name, file->entry.inode, is_directory, std::move(host)});
  } else {
    handle.name = "descriptor " + std::to_string(number);
  }
  handles_.push_back(std::move(handle));
  return static_cast<OTF2_IoHandleRef>(handles_.size() - 1);
}

OTF2_IoHandleRef IoRecords::active(const Key& key, std::uint16_t function) {
  const auto [found, is_new] = handle_of_.try_emplace(key);
  if (!found->second.is_active) found->second = {add_handle(key, function, true), true};
  return found->second.number;
}

void IoRecords::open(const Key& key, const EventRow& row, std::uint64_t time, Sink& sink) {
  const auto [found, is_new] = handle_of_.try_emplace(key);
  Handle& handle = found->second;
  if (handle.is_active) sink.write(OTF2_EvtWriter_IoDestroyHandle, time, handle.number);
  if (is_new || handles_[handle.number].is_pre_created) handle.number = add_handle(key, row.function, false);
  handle.is_active = true;
  // With what a file of MPI was opened is not recorded.
  const std::uint64_t flags = EventStream::argument(run_, row, "flags").value_or(O_RDWR);
  sink.write(OTF2_EvtWriter_IoCreateHandle, time, handle.number, access_mode_of(flags), creation_flags_of(flags),
             status_flags_of(flags));
}

void IoRecords::close(const Key& key, const EventRow& row, std::uint64_t time, Sink& sink) {
  sink.write(OTF2_EvtWriter_IoDestroyHandle, time, active(key, row.function));
  handle_of_[key].is_active = false;
}

// A seek of a stream says where it leads only if it begins at the start of the file.
void IoRecords::seek(const Key& key, const EventRow& row, std::uint64_t time, Sink& sink) {
  const std::optional<std::uint64_t> offset = EventStream::argument(run_, row, "offset"),
                                     whence = EventStream::argument(run_, row, "whence");
  std::optional<std::uint64_t> position = EventStream::argument(run_, row, "position");
  if (!position && whence == std::uint64_t{SEEK_SET}) position = offset;
  if (!offset || !position || *whence > OTF2_IO_SEEK_HOLE) return;
  sink.write(OTF2_EvtWriter_IoSeek, time, active(key, row.function), static_cast<std::int64_t>(*offset),
             static_cast<OTF2_IoSeekOption>(*whence), *position);
}

void IoRecords::begin(const EventRow& row, std::uint64_t time, Sink& sink) {
  const FileAccess access = meaning_of(row.function).access;
  if (!is_transfer(access) && access != FileAccess::sync) return;
  const std::optional<Key> key = key_of(row);
  if (!key) return;
  // How much a call of POSIX was asked for is not recorded, nor what a sync stores.
  const bool is_of_mpi = row.kind == EventKind::call && access != FileAccess::sync;
  const std::uint64_t asked = is_of_mpi ? or_none(row.bytes) : OTF2_UNDEFINED_UINT64;
  const std::uint64_t moved = access == FileAccess::sync ? OTF2_UNDEFINED_UINT64 : or_none(row.bytes);
  const UnderWay operation{active(*key, row.function), ++last_id_, moved};
  sink.write(OTF2_EvtWriter_IoOperationBegin, time, operation.handle, mode_of(access), flags_of(row), asked,
             operation.id);
  calls_[sink.writer] = operation;
}

void IoRecords::complete(const UnderWay& of, std::uint64_t time, Sink& sink) {
  sink.write(OTF2_EvtWriter_IoOperationComplete, time, of.handle, of.bytes, of.id);
}

void IoRecords::end(const EventRow& row, std::uint64_t time, Sink& sink) {
  if (!by_request_.empty())
    for (const EventRequest& request : row.requests) {
      const std::uint32_t starter = request.starter == UINT32_MAX ? row.thread : request.starter;
      if (const auto found = by_request_.extract({row.process, request_key(starter, request.request)}))
        complete(found.mapped(), time, sink);
    }
  const FileAccess access = meaning_of(row.function).access;
  if (access == FileAccess::none) return;
  const std::optional<Key> key = key_of(row);
  if (!key) return;
  if (access == FileAccess::read_end || access == FileAccess::write_end) {
    if (const auto found = split_.extract(*key)) complete(found.mapped(), time, sink);
    return;
  }
  if (const auto found = calls_.extract(sink.writer)) {
    const UnderWay& operation = found.mapped();
    const bool goes_on = row.request != no_request || is_split(access);
    if (!goes_on) return complete(operation, time, sink);
    sink.write(OTF2_EvtWriter_IoOperationIssued, time, operation.handle, operation.id);
    if (by_request_.size() >= max_under_way) by_request_.clear();
    if (is_split(access))
      split_.insert_or_assign(*key, operation);
    else
      by_request_.insert_or_assign({row.process, request_key(row.thread, row.request)}, operation);
    return;
  }
  if (has_failed(row)) return;
  if (access == FileAccess::open) open(*key, row, time, sink);
  if (access == FileAccess::close) close(*key, row, time, sink);
  if (access == FileAccess::seek && row.kind == EventKind::source_call) seek(*key, row, time, sink);
}

}  // namespace tare::exporters::otf2
