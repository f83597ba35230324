#include "reader/model/site_index.h"

#include <algorithm>

namespace tare::reader {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32);
}

// Identifies one build of an object.
void identify(const Module& module, std::string& key) {
  key.assign(module.build_id).append(1, '\0').append(module.path);
}

void identify(const PythonFrame& frame, std::string& key) {
  key.assign(std::to_string(frame.line)).append(1, '\0').append(frame.file).append(1, '\0').append(frame.function);
}

template <typename Index, typename Key>
std::int32_t number_in(const Index& index, const Key& key) {
  const auto found = index.find(key);
  return found == index.end() ? -1 : found->second;
}

}  // namespace

std::size_t SiteIndex::Hash::operator()(const Place& place) const {
  return mixed(static_cast<std::uint32_t>(place.module), place.address);
}

std::size_t SiteIndex::Hash::operator()(const std::vector<std::int32_t>& path) const {
  std::uint64_t hash = path.size();
  for (const std::int32_t part : path) hash = mixed(hash, static_cast<std::uint32_t>(part));
  return hash;
}

// Numbers of known objects; -1 for unknown ones.
class SiteIndex::Known {
 public:
  explicit Known(const SiteIndex& index) : index_(index) {}

  std::int32_t module(const Module&, const std::string& key) { return number_in(index_.module_index_, key); }
  std::int32_t frame(const NativeFrame& frame, std::int32_t module) {
    return module < 0 ? -1 : number_in(index_.native_index_, Place{module, frame.address});
  }
  std::int32_t frame(const PythonFrame&, const std::string& key) { return number_in(index_.python_index_, key); }
  std::int32_t site(const std::vector<std::int32_t>& path) { return number_in(index_.site_index_, path); }

 private:
  const SiteIndex& index_;
};

// Adds unknown ones.
class SiteIndex::Adding {
 public:
  explicit Adding(SiteIndex& index) : index_(index) {}

  std::int32_t module(const Module& module, const std::string& key) {
    const auto [entry, is_new] = index_.module_index_.try_emplace(key, next(index_.modules_));
    if (is_new) index_.modules_.push_back(module);
    return entry->second;
  }

  std::int32_t frame(const NativeFrame& frame, std::int32_t module) {
    if (module < 0) module = memory();
    const auto [entry, is_new] = index_.native_index_.try_emplace({module, frame.address}, next(index_.frames_));
    if (is_new) {
      const Module& of = index_.modules_[static_cast<std::size_t>(module)];
      index_.frames_.push_back({{of.path, of.build_id, frame.address}, {}, of.of_program});
    }
    return entry->second;
  }

  std::int32_t frame(const PythonFrame& frame, const std::string& key) {
    const auto [entry, is_new] = index_.python_index_.try_emplace(key, next(index_.frames_));
    if (is_new)
      // Frames of imported traces may have no file: what they are of is not known.
      index_.frames_.push_back(
          {{frame.file.empty() ? "" : "python", {}, 0}, {frame.function, frame.file, frame.line}, frame.of_program});
    return entry->second;
  }

  std::int32_t site(const std::vector<std::int32_t>& path) {
    const auto [entry, is_new] = index_.site_index_.try_emplace(path, next(index_.sites_));
    if (is_new)
      index_.sites_.push_back(
          index_.described({path.begin(), path.end() - 1}, static_cast<std::uint16_t>(path.back())));
    return entry->second;
  }

 private:
  template <typename T>
  static std::int32_t next(const std::vector<T>& of) {
    return static_cast<std::int32_t>(of.size());
  }
  // Memory outside of all modules, whose addresses are meaningful only in this process.
  std::int32_t memory() {
    if (memory_ < 0) {
      memory_ = next(index_.modules_);
      index_.modules_.emplace_back();
    }
    return memory_;
  }

  SiteIndex& index_;
  std::int32_t memory_ = -1;
};

// False as soon as something is not known.
template <typename Lookup>
bool SiteIndex::number(Process& process, Workspace& workspace, Lookup& lookup) {
  const Definitions& defined = process.definitions;
  const auto numbered = [](NumberMap& numbers, std::uint32_t number, std::int32_t of_run) {
    numbers.set(number, of_run);
    return of_run >= 0;
  };
  workspace.modules.clear();
  for (const auto& [number, module] : defined.modules) {
    identify(module, workspace.key);
    if (!numbered(workspace.modules, number, lookup.module(module, workspace.key))) return false;
  }
  workspace.frames.clear();
  for (const NativeFrame& frame : defined.native_frames) {
    const std::int32_t of_run = lookup.frame(frame, workspace.modules.find(frame.module));
    if (!numbered(workspace.frames, frame.number, of_run)) return false;
  }
  for (const PythonFrame& frame : defined.python_frames) {
    identify(frame, workspace.key);
    if (!numbered(workspace.frames, frame.number, lookup.frame(frame, workspace.key))) return false;
  }
  for (const Site& site : defined.sites) {
    workspace.path.clear();
    for (std::uint32_t i = site.first; i < site.first + site.frames; ++i)
      if (const std::int32_t frame = workspace.frames.find(defined.paths[i]); frame >= 0)
        workspace.path.push_back(frame);
    if (workspace.path.empty()) continue;  // the definitions of its frames are lost
    workspace.path.push_back(site.flags);
    if (!numbered(process.sites, site.number, lookup.site(workspace.path))) return false;
  }
  return true;
}

bool SiteIndex::find(Process& process, Workspace& workspace) const {
  Known known(*this);
  return number(process, workspace, known);
}

void SiteIndex::add(Process& process, Workspace& workspace) {
  Adding adding(*this);
  number(process, workspace, adding);
}

SiteInfo SiteIndex::described(const std::vector<std::int32_t>& path, std::uint16_t flags) const {
  SiteInfo info;
  info.path = path;
  info.flags = flags;
  const auto shown = std::find_if(path.begin(), path.end(), [&](std::int32_t frame) {
    return frames_[static_cast<std::size_t>(frame)].of_program;
  });
  if (shown != path.end()) info.shown = static_cast<std::size_t>(shown - path.begin());
  return info;
}

}  // namespace tare::reader
