#include "reader/events/run_texts.h"

#include <array>
#include <cstdio>

#include "reader/events/event_filter.h"
#include "reader/events/path_text.h"

namespace tare::reader {
namespace {

// Of a communicator, window or file; absent if the key is not known.
Text key_number(arrow::Dictionary& keys, std::uint64_t key) {
  if (key == 0) return {};
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(key));
  return keys.number_of(text.data());
}

}  // namespace

Text number_unless_empty(arrow::Dictionary& texts, const std::string& text) {
  return text.empty() ? Text{} : Text(texts.number_of(text));
}

RunTexts::RunTexts(Run& run, SiteTexts sites) {
  arrow::Dictionary& functions = of("function");
  for (const std::string& name : run.functions().names()) functions_.emplace_back(functions.number_of(name));
  flush_ = functions.number_of(flush_name);
  drain_ = functions.number_of(drain_name);
  loss_ = functions.number_of(loss_name);
  if (sites == SiteTexts::paths) {
    no_path_ = of("path").number_of({});
    for (const SiteInfo& site : run.sites()) paths_.emplace_back(of("path").number_of(path_text(site, run.frames())));
  }
  if (sites != SiteTexts::none) {
    for (const SiteInfo& site : run.sites()) {
      const bool has_line = site.symbol.line != 0;
      sites_.push_back(
          {.frame = {.file = number_unless_empty(of("file"), site.symbol.file),
                     .line = has_line ? std::optional(static_cast<std::int32_t>(site.symbol.line)) : std::nullopt,
                     .caller = number_unless_empty(of("caller"), site.symbol.caller)},
           .object = number_unless_empty(of("object"), site.at.object),
           .offset = static_cast<std::int64_t>(site.at.address),
           .tail_call =
               site.tail_calls.empty() ? Text{} : number_unless_empty(of("tail_call"), site.tail_calls[site.shown])});
    }
  }
  for (const CommunicatorInfo& each : run.communicators())
    communicators_.push_back({of("communicator").number_of(each.name), key_number(of("key"), each.key)});
  for (const ScopeInfo& scope : run.scopes())
    scopes_.push_back({scope.is_file, of("scope").number_of(scope.name), key_number(of("key"), scope.key)});
  lost_type_ = {of("name").number_of(other_name), {}};
  for (const EventType& type : run.event_types()) {
    const bool is_counter = type.event_class == format::EventClass::counter;
    types_.push_back({of("name").number_of(type.name), is_counter ? of("unit").number_of(type.unit) : Text{}});
  }
  for (const Process& process : run.processes())
    for (const auto& [thread, name] : process.thread_names) of("thread_name").number_of(name);
}

rows::Line RunTexts::line(std::int32_t site) const {
  const rows::Frame& frame = place(site).frame;
  return {if_known(site), frame.caller, frame.file, frame.line};
}

Text RunTexts::thread_name(const Process& process, std::uint32_t thread) const {
  const auto named = process.thread_names.find(thread);
  if (named == process.thread_names.end()) return {};
  return dictionaries_.find("thread_name")->second.find(named->second);
}

void RunTexts::add_used_files(const Run& run) {
  for (const Process& process : run.processes()) {
    if (!process.files.is_there()) continue;
    std::vector<Text>& names = used_files_[&process];
    for (const UsedFiles::File& file : read_files(process.files).files)
      names.push_back(number_unless_empty(of("used_file"), file.name));
  }
}

Text RunTexts::used_file(const Process& process, std::uint32_t entry) const {
  const auto found = used_files_.find(&process);
  return found == used_files_.end() || entry >= found->second.size() ? Text{} : found->second[entry];
}

arrow::Field RunTexts::field_of(const DeclaredColumn& column) const {
  arrow::Field field{column.name, column.type, column.nullable};
  if (column.type == arrow::Type::dictionary) {
    const auto found = dictionaries_.find(column.dictionary);
    field.dictionary = found == dictionaries_.end() ? arrow::Dictionary().array() : found->second.array();
  }
  return field;
}

}  // namespace tare::reader
