#include "library/run_source.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <vector>

#include "reader/store/archive.h"
#include "reader/store/mapped_file.h"
#include "reader/store/run_directory.h"

namespace tare::library {
namespace {

using reader::Failure;
using reader::Result;
using reader::RunPaths;

constexpr const char* shared_memory = "/dev/shm";
constexpr const char* meta_file = "meta.json";
constexpr std::size_t names_listed = 8;

// The members of an archive that are runs.
std::vector<std::string> runs_of(const reader::ArchiveIndex& archive) {
  std::vector<std::string> runs;
  for (const reader::ArchivedFile& file : archive.files)
    if (file.kind == format::MemberKind::run && std::find(runs.begin(), runs.end(), file.member) == runs.end())
      runs.push_back(file.member);
  return runs;
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t i = 0; i < std::min(names.size(), names_listed); ++i) all += (i > 0 ? ", " : "") + names[i];
  if (names.size() > names_listed) all += " and " + std::to_string(names.size() - names_listed) + " more";
  return all;
}

Result<RunPaths> in_archive(const std::string& path, const std::string& member) {
  auto archive = reader::ArchiveIndex::open(path);
  if (!archive) return archive.failure();
  const std::vector<std::string> runs = runs_of(*archive);
  RunPaths paths;
  paths.run_dir = path;
  paths.member = member;
  if (runs.empty()) return Failure{path + " is an archive that holds no run"};
  if (member.empty() && runs.size() > 1) return Failure{path + " is an archive: name one of its runs: " + listed(runs)};
  if (member.empty()) paths.member = runs.front();
  if (std::find(runs.begin(), runs.end(), paths.member) == runs.end())
    return Failure{path + " holds no run " + member + "; it holds " + listed(runs)};
  return paths;
}

// The end of a text in quotes that begins at `at`; npos if it has none.
std::size_t end_of_text(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return at < json.size() ? at + 1 : std::string_view::npos;
}

}  // namespace

std::string text_of_member(std::string_view json, std::string_view name) {
  int depth = 0;
  bool is_wanted = false;  // the text before was the name, followed by a colon
  std::string_view last;   // text
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == '"') {
      const std::size_t end = end_of_text(json, at);
      if (end == std::string_view::npos) return {};
      last = json.substr(at + 1, end - at - 2);
      at = end;
      if (is_wanted) return last.find('\\') == std::string_view::npos ? std::string(last) : std::string();
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ':')
      is_wanted = depth == 1 && last == name;
    else if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
      is_wanted = false;
    ++at;
  }
  return {};
}

Result<RunPaths> find_run(const std::string& path, const std::string& member) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind == std::filesystem::file_type::regular && reader::is_archive_file(path)) return in_archive(path, member);
  if (!member.empty()) return Failure{path + " is not an archive: name no run of it"};
  if (kind != std::filesystem::file_type::directory)
    return Failure{path + (kind == std::filesystem::file_type::not_found
                               ? ": no such run directory"
                               : " is neither a run directory nor an archive")};
  const auto directory = reader::RunDirectory::open(path);
  if (!directory) return directory.failure();
  const std::string meta_name = path + "/" + meta_file;
  const auto file = reader::MappedFile::open(*directory, meta_file);
  if (!file && errno == ENOENT) return Failure{path + " is not a run directory: it has no meta.json"};
  if (!file) return file.failure();
  const std::string meta(file->bytes());
  RunPaths paths;
  paths.run_dir = path;
  paths.run_id = text_of_member(meta, "run_id");
  if (paths.run_id.empty()) return Failure{meta_name + " is damaged: it has no run_id"};
  paths.run_key = text_of_member(meta, "run_key");
  // The name cannot lead to another directory.
  paths.segment_dir = text_of_member(meta, "segment_dir") == shared_memory ? shared_memory : path;
  return paths;
}

}  // namespace tare::library
