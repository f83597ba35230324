#include "reader/site_index.h"

#include <algorithm>

namespace tare::reader {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32);
}

}  // namespace

std::size_t SiteIndex::Hash::operator()(const Place& place) const {
  return mixed(static_cast<std::uint32_t>(place.module), place.address);
}

std::size_t SiteIndex::Hash::operator()(const Path& path) const {
  std::uint64_t hash = path.flags;
  for (const std::int32_t frame : path.frames) hash = mixed(hash, static_cast<std::uint32_t>(frame));
  return hash;
}

void SiteIndex::add(Process& process) {
  add_modules(process);
  add_frames(process);
  const Definitions& defined = process.definitions;
  for (const Site& site : defined.sites) {
    path_.flags = site.flags;
    path_.frames.clear();
    for (std::uint32_t i = site.first; i < site.first + site.frames; ++i)
      if (const std::int32_t frame = frame_of_.find(defined.paths[i]); frame >= 0) path_.frames.push_back(frame);
    if (path_.frames.empty()) continue;  // the definitions of its frames are lost
    auto found = site_index_.find(path_);
    if (found == site_index_.end()) {
      found = site_index_.try_emplace(path_, static_cast<std::int32_t>(sites_.size())).first;
      sites_.push_back(described(path_));
    }
    process.sites.set(site.number, found->second);
  }
}

void SiteIndex::add_modules(const Process& process) {
  module_of_ = {};
  memory_ = -1;
  for (const auto& [number, module] : process.definitions.modules) {
    const auto next = static_cast<std::int32_t>(modules_.size());
    const auto [entry, is_new] = module_index_.try_emplace(module.build_id + '\0' + module.path, next);
    if (is_new) modules_.push_back(module);
    module_of_.set(number, entry->second);
  }
}

void SiteIndex::add_frames(const Process& process) {
  frame_of_ = {};
  for (const NativeFrame& frame : process.definitions.native_frames) add_native(frame);
  for (const PythonFrame& frame : process.definitions.python_frames) add_python(frame);
}

void SiteIndex::add_native(const NativeFrame& frame) {
  std::int32_t module = module_of_.find(frame.module);
  if (module < 0) {  // an address of memory, which means something in this process only
    if (memory_ < 0) {
      memory_ = static_cast<std::int32_t>(modules_.size());
      modules_.emplace_back();
    }
    module = memory_;
  }
  const auto next = static_cast<std::int32_t>(frames_.size());
  const auto [entry, is_new] = native_index_.try_emplace({module, frame.address}, next);
  frame_of_.set(frame.number, entry->second);
  if (!is_new) return;
  const Module& of = modules_[static_cast<std::size_t>(module)];
  frames_.push_back({{of.path, of.build_id, frame.address}, {}, of.of_program});
}

void SiteIndex::add_python(const PythonFrame& frame) {
  const auto next = static_cast<std::int32_t>(frames_.size());
  std::string key = std::to_string(frame.line) + '\0' + frame.file + '\0' + frame.function;
  const auto [entry, is_new] = python_index_.try_emplace(std::move(key), next);
  frame_of_.set(frame.number, entry->second);
  if (is_new) frames_.push_back({{"python", {}, 0}, {frame.function, frame.file, frame.line}, frame.of_program});
}

SiteInfo SiteIndex::described(const Path& path) const {
  SiteInfo info;
  info.path = path.frames;
  info.flags = path.flags;
  const auto shown = std::find_if(path.frames.begin(), path.frames.end(), [&](std::int32_t frame) {
    return frames_[static_cast<std::size_t>(frame)].of_program;
  });
  if (shown != path.frames.end()) info.shown = static_cast<std::size_t>(shown - path.frames.begin());
  return info;
}

}  // namespace tare::reader
