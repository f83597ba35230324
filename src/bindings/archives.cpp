#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "bindings/fields.h"
#include "bindings/parts.h"
#include "bindings/words.h"
#include "reader/store/archive.h"

namespace nanobind::detail {
template <>
struct type_caster<tare::format::MemberKind> : WordCaster<tare::format::MemberKind, "run", "file"> {};
}  // namespace nanobind::detail

namespace tare::bindings {
using namespace nb::literals;

namespace {

using PyProgress = std::function<void(std::uint64_t)>;

// Runs `work` without the interpreter lock, with a progress callback that takes the lock.
template <typename Work>
void copy_unlocked(const PyProgress& progress, const Work& work) {
  std::optional<reader::Failure> failure;
  {
    const nb::gil_scoped_release unlocked;
    failure = work([&](std::uint64_t bytes) {
      const nb::gil_scoped_acquire locked;
      progress(bytes);
    });
  }
  if (failure) throw Error(failure->message);
}

class PyArchive {
 public:
  explicit PyArchive(const std::filesystem::path& path) : path_(path), index_(open(path)) {}

  const std::vector<reader::ArchivedFile>& files() const { return index_.files; }
  const std::vector<std::string>& warnings() const { return index_.warnings; }

  // A wrong checksum is a failure only if `check` is set.
  void extract(std::size_t number, const std::filesystem::path& to, bool check, const PyProgress& progress) const {
    reader::Source from = source(number);
    if (!check) from.crc.reset();
    copy_unlocked(progress, [&](const reader::Progress& unlocked) { return reader::extract(from, to, unlocked); });
  }

  const reader::ArchivedFile& file(std::size_t number) const {
    if (number >= index_.files.size()) throw nb::index_error();
    return index_.files[number];
  }

  // For an incomplete file: the members that are there.
  reader::Source source(std::size_t number) const {
    const reader::ArchivedFile& from = file(number);
    if (from.present < from.size) return {path_, from.offset, from.present, std::nullopt};
    return {path_, from.offset, from.size, from.crc};
  }

 private:
  static reader::ArchiveIndex open(const std::string& path) {
    const nb::gil_scoped_release unlocked;
    return unwrap(reader::ArchiveIndex::open(path));
  }

  std::string path_;
  reader::ArchiveIndex index_;
};

class PyArchiveWriter {
 public:
  explicit PyArchiveWriter(const std::filesystem::path& path) : writer_(unwrap(reader::ArchiveWriter::create(path))) {}

  void add_file(const std::string& member, const std::filesystem::path& path, const PyProgress& progress) {
    add(member, format::MemberKind::file, "", {path, 0, std::nullopt, std::nullopt}, progress);
  }

  void add_run_file(const std::string& member, const std::filesystem::path& run_dir, const std::string& name,
                    const PyProgress& progress) {
    add(member, format::MemberKind::run, name, {name, 0, std::nullopt, std::nullopt, run_dir.string()}, progress);
  }

  void add_archived(const std::string& member, const PyArchive& archive, std::size_t number,
                    const PyProgress& progress) {
    const reader::ArchivedFile& file = archive.file(number);
    add(member, file.kind, file.name, archive.source(number), progress);
  }

  void finish() {
    copy_unlocked({}, [&](const reader::Progress&) { return writer_.finish(); });
  }

 private:
  void add(const std::string& member, format::MemberKind kind, const std::string& name, const reader::Source& source,
           const PyProgress& progress) {
    copy_unlocked(progress,
                  [&](const reader::Progress& unlocked) { return writer_.add(member, kind, name, source, unlocked); });
  }

  reader::ArchiveWriter writer_;
};

}  // namespace

void define_archives(nb::module_& module) {
  module.def(
      "is_archive", [](const std::filesystem::path& path) { return reader::is_archive_file(path); }, "path"_a,
      "Whether the file begins as an archive does.");

  using reader::ArchivedFile;
  Fields<ArchivedFile>(module, "ArchivedFile", "A file of an archive; so many of its bytes are `present`.")
      .members<&ArchivedFile::member, &ArchivedFile::kind, &ArchivedFile::name, &ArchivedFile::size,
               &ArchivedFile::offset, &ArchivedFile::present>();
  nb::class_<PyArchive>(module, "Archive", "What is in an archive of runs; opens it for as long as a call takes.")
      .def(nb::init<const std::filesystem::path&>(), "path"_a)
      .def("files", &PyArchive::files, nb::rv_policy::copy)
      .def("warnings", &PyArchive::warnings)
      .def("extract", &PyArchive::extract, "number"_a, "to"_a, "check"_a, "progress"_a);

  nb::class_<PyArchiveWriter>(module, "ArchiveWriter", "Makes a new archive; it is one only after finish().")
      .def(nb::init<const std::filesystem::path&>(), "path"_a)
      .def("add_file", &PyArchiveWriter::add_file, "member"_a, "path"_a, "progress"_a)
      .def("add_run_file", &PyArchiveWriter::add_run_file, "member"_a, "run_dir"_a, "name"_a, "progress"_a)
      .def("add_archived", &PyArchiveWriter::add_archived, "member"_a, "archive"_a, "number"_a, "progress"_a)
      .def("finish", &PyArchiveWriter::finish);
}

}  // namespace tare::bindings
