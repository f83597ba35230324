// Whatever an archive holds, its index lies inside it, no name leads out of a directory, and its runs are read.
#include <cstdlib>

#include "read_all.h"
#include "reader/store/archive.h"

using namespace tare;

static void check(bool truth) {
  if (!truth) std::abort();
}

static void check_name(const std::string& path) {
  const std::string inside = "/" + path + "/";
  check(inside.find("/../") == std::string::npos && inside.find("/./") == std::string::npos);
  check(inside.find("//") == std::string::npos && inside.find('\0') == std::string::npos);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  std::string archive(reinterpret_cast<const char*>(data), bytes);
  if (bytes % 2 == 0) fuzz::repair_checksums(archive);
  reader::is_archive(archive);
  const auto index = reader::ArchiveIndex::of_memory(archive, "archive");
  if (!index) return 0;
  for (const reader::ArchivedFile& file : index->files) {
    check(file.present <= file.size && file.offset <= bytes && file.present <= bytes - file.offset);
    check_name(file.kind == format::MemberKind::run ? file.member + "/" + file.name : file.member);
    check(file.kind != format::MemberKind::file || file.member.find('/') == std::string::npos);
    // On the heap, so that a read outside is seen.
    const std::string contents = archive.substr(file.offset, file.present);
    if (auto run = reader::Run::of_memory(contents)) fuzz::read_all(*run);
  }
  return 0;
}
