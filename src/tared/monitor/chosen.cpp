#include "tared/monitor/chosen.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace tare::tared {

using namespace format;

namespace {

constexpr std::string_view key = "site=";

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string name_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// Copies an entry of `bytes` bytes. False if it is too short.
template <class Definition>
bool read(const char* entry, std::uint32_t bytes, Definition& definition) {
  if (bytes < sizeof definition) return false;
  std::memcpy(&definition, entry, sizeof definition);
  return true;
}

}  // namespace

ChosenSites::ChosenSites(const std::string& text) {
  std::string all = "none";
  for (const std::string_view word : parts_of(text, ',')) {
    if (word.starts_with("region=")) break;  // the last key, whose value may contain anything
    if (!word.starts_with(key)) continue;
    const auto parts = parts_of(word.substr(key.size()), '=');
    for (std::size_t i = parts.size() == 1 ? 0 : 1; i < parts.size(); ++i) {
      const std::string with = all + "," + std::string(key) + std::string(parts[i]);
      SampleSpec places;
      if (parse_sample_spec(with.c_str(), places) != nullptr) continue;
      all = with;
      places_ = places;
      labels_.emplace_back(parts.front());
    }
  }
}

// As in message sampling: a frame has a return address, so the call instruction ends before it.
const std::string* ChosenSites::label_of(const FrameDefinition& frame, const std::string& object) const {
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const SampleSpec::Site& place = places_.sites[i];
    if (!place.python && frame.address > place.low && frame.address <= place.high &&
        object == places_.site_files[place.file])
      return &labels_[i];
  }
  return nullptr;
}

const std::string* ChosenSites::label_of(const PythonFrameDefinition& frame, const std::string& file) const {
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const SampleSpec::Site& place = places_.sites[i];
    if (place.python && frame.line == place.low && file == places_.site_files[place.file]) return &labels_[i];
  }
  return nullptr;
}

void CallSites::take(const char* entry, std::uint32_t bytes, const ChosenSites& chosen) {
  DefinitionHead head;
  if (!read(entry, bytes, head)) return;
  if (head.kind == DefinitionKind::module) {
    ModuleDefinition module;
    if (read(entry, bytes, module) && module.path_bytes <= bytes - sizeof module)
      modules_[module.module] = name_of({entry + sizeof module, module.path_bytes});
  } else if (head.kind == DefinitionKind::frame) {
    FrameDefinition frame;
    if (!read(entry, bytes, frame)) return;
    const auto module = modules_.find(frame.module);
    if (module == modules_.end()) return;
    if (const std::string* label = chosen.label_of(frame, module->second)) frames_[frame.frame] = label;
  } else if (head.kind == DefinitionKind::python_frame) {
    PythonFrameDefinition frame;
    if (!read(entry, bytes, frame) || frame.file_bytes > bytes - sizeof frame) return;
    const std::string* label = chosen.label_of(frame, name_of({entry + sizeof frame, frame.file_bytes}));
    if (label != nullptr) frames_[frame.frame] = label;
  } else if (head.kind == DefinitionKind::site) {
    take_site(entry, bytes);
  }
}

// The innermost chosen frame; further ones do not matter.
void CallSites::take_site(const char* entry, std::uint32_t bytes) {
  SiteDefinition site;
  if (!read(entry, bytes, site) || site.frames > (bytes - sizeof site) / sizeof(std::uint32_t)) return;
  for (std::uint32_t i = 0; i < site.frames; ++i) {
    std::uint32_t frame = 0;
    std::memcpy(&frame, entry + sizeof site + i * sizeof frame, sizeof frame);
    const auto known = frames_.find(frame);
    if (known == frames_.end()) continue;
    sites_[site.site] = known->second;
    return;
  }
}

const std::string* CallSites::label_of(std::uint32_t site) const {
  const auto known = sites_.find(site);
  return known == sites_.end() ? nullptr : known->second;
}

}  // namespace tare::tared
