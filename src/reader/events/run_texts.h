// The texts of a run to which the rows of its tables refer by number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reader/events/arrow.h"
#include "reader/events/declared_tables.h"
#include "reader/run/run.h"

namespace tare::reader {

// What a table shows of call sites. Finding lines takes time, and making texts of whole paths as well.
enum class SiteTexts : std::uint8_t { none, lines, paths };

// The dictionaries of the columns of a table, and the numbers of the texts of functions, sites and so on in them. An
// index of -1 stands for none, of which all texts are absent.
class RunTexts {
 public:
  RunTexts(Run& run, SiteTexts sites);

  struct Scope {
    bool is_file = false;
    Text name{}, key{};
  };
  struct Type {  // of events
    Text name{}, unit{};
  };

  Text function(std::uint16_t number) const { return functions_[number]; }
  Text flush() const { return flush_; }
  Text drain() const { return drain_; }
  Text loss() const { return loss_; }
  // `site`: index in Run::sites()
  const rows::Place& place(std::int32_t site) const { return at(sites_, site, no_place_); }
  rows::Path path(std::int32_t site) const { return {at(paths_, site, no_path_)}; }
  rows::Line line(std::int32_t site) const;
  rows::Call call(std::uint16_t function, std::int32_t site) const { return {functions_[function], line(site)}; }
  // `number`: index in Run::communicators(), Run::scopes(), Run::event_types()
  const rows::Communicator& communicator(std::int32_t number) const {
    return at(communicators_, number, no_communicator_);
  }
  const Scope& scope(std::int32_t number) const { return at(scopes_, number, no_scope_); }
  const Type& type(std::int32_t number) const { return at(types_, number, lost_type_); }
  Text thread_name(const Process& process, std::uint32_t thread) const;

  // Reads the names of the files that processes used (Process::files), so that used_file() gives them.
  void add_used_files(const Run& run);
  Text used_file(const Process& process, std::uint32_t entry) const;

  // The dictionary of the columns whose DeclaredColumn names it. Texts can be added until the table is made.
  arrow::Dictionary& of(std::string_view name) { return dictionaries_[std::string(name)]; }
  // The column in the schema of a table. It copies the dictionary.
  arrow::Field field_of(const DeclaredColumn& column) const;

 private:
  template <class Of>
  static const Of& at(const std::vector<Of>& all, std::int32_t number, const Of& none) {
    return number < 0 || all.empty() ? none : all[static_cast<std::size_t>(number)];
  }

  std::map<std::string, arrow::Dictionary, std::less<>> dictionaries_;
  std::vector<Text> functions_, paths_;
  std::vector<rows::Place> sites_;
  std::vector<rows::Communicator> communicators_;
  std::vector<Scope> scopes_;
  std::vector<Type> types_;
  std::map<const Process*, std::vector<Text>> used_files_;
  rows::Place no_place_{};
  Text no_path_{};
  rows::Communicator no_communicator_{};
  Scope no_scope_{};
  Type lost_type_{};
  Text flush_{}, drain_{}, loss_{};
};

// The number of the text, added if it is new; absent if it is empty.
Text number_unless_empty(arrow::Dictionary& texts, const std::string& text);

// The number if it is not negative.
template <class Number>
std::optional<std::int32_t> if_known(Number number) {
  return number < 0 ? std::nullopt : std::optional(static_cast<std::int32_t>(number));
}

}  // namespace tare::reader
