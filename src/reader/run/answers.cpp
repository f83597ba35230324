#include "reader/run/answers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "format/segment_name.h"
#include "reader/store/chunk_file.h"

namespace tare::reader {
namespace {

// More than that many bytes of questions at a time are not those of people.
constexpr std::uint64_t most_bytes = 4096;

// The size of an open file; 0 if it is not known.
std::uint64_t size_of(const format::Descriptor& file) {
  struct stat status {};
  return ::fstat(file.fd(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

Respondent::Respondent(const RunPaths& paths, std::string who, Collecting how)
    : paths_(paths), who_(std::move(who)), how_(std::move(how)) {
  how_.copies = true;
  auto directory = RunDirectory::open(paths_.run_dir);
  if (!directory) return;
  directory_.emplace(std::move(*directory));
  if (const auto file = directory_->open_file(questions_file)) read_ = size_of(*file);
}

bool Respondent::answer() {
  const std::vector<std::string> questions = new_questions();
  for (const std::string& question : questions) answer(question);
  return !questions.empty();
}

std::vector<std::string> Respondent::new_questions() {
  std::vector<std::string> questions;
  if (!directory_) return questions;
  const auto file = directory_->open_file(questions_file);
  is_forgotten_ = !file;
  if (!file) {
    read_ = 0;  // the next one is another file
    return questions;
  }
  const std::uint64_t size = size_of(*file);
  const std::uint64_t begun = read_ <= size ? read_ : 0;  // else it is another file
  const std::uint64_t from = std::max(begun, size - std::min(size, most_bytes));
  std::string text(size - from, '\0');
  const ssize_t got = ::pread(file->fd(), text.data(), text.size(), static_cast<off_t>(from));
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (std::string line = text.substr(begin, end - begin); format::is_run_id(line))
      questions.push_back(std::move(line));
  read_ = from + begin;
  return questions;
}

void Respondent::answer(const std::string& question) {
  how_.file = ".seen-" + question + (who_.empty() ? "" : "-" + who_);
  if (!directory_->open_file(how_.file, O_WRONLY)) return;  // nobody waits for it any more
  if (collect_left(paths_, how_).kept != 0) return;
  ChunkFile file(paths_.run_dir, how_.file);
  file.append(end_of_answer);
}

}  // namespace tare::reader
