#include "mpi/sampled_site.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "format/definition.h"
#include "recorder/process.h"

namespace tare::mpi {
namespace {

using namespace format;

std::string_view name_of(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

// The definition of a kind in this process's log for which wanted(const Definition&) holds, else nullptr.
template <class Definition, class Wanted>
const Definition* find(DefinitionKind kind, Wanted wanted) noexcept {
  const SegmentHeader* segment = recorder::segment();
  if (segment == nullptr) return nullptr;
  const char* at = reinterpret_cast<const char*>(segment) + segment->definitions_at;
  const char* end = at + segment->definitions_bytes.load(std::memory_order_acquire);
  while (at < end) {
    const auto& head = *reinterpret_cast<const DefinitionHead*>(at);
    const auto& definition = *reinterpret_cast<const Definition*>(at);
    if (head.kind == kind && wanted(definition)) return &definition;
    at += head.bytes;
  }
  return nullptr;
}

template <class Definition>
const char* behind(const Definition& definition) noexcept {
  return reinterpret_cast<const char*>(&definition + 1);
}

bool is_in(std::uint32_t module, std::string_view object) noexcept {
  const auto* known =
      find<ModuleDefinition>(DefinitionKind::module, [&](const ModuleDefinition& m) { return m.module == module; });
  return known != nullptr && name_of({behind(*known), known->path_bytes}) == object;
}

}  // namespace

bool is_at_site(std::uint64_t number, const SampleSpec::Site& place) noexcept {
  const auto* site =
      find<SiteDefinition>(DefinitionKind::site, [&](const SiteDefinition& s) { return s.site == number; });
  if (site == nullptr) return false;
  const auto* frames = reinterpret_cast<const std::uint32_t*>(behind(*site));
  const auto is_on_path = [&](std::uint32_t frame) {
    return std::find(frames, frames + site->frames, frame) != frames + site->frames;
  };
  if (place.python)
    return find<PythonFrameDefinition>(DefinitionKind::python_frame, [&](const PythonFrameDefinition& f) {
             return is_on_path(f.frame) && f.line == place.offset && name_of({behind(f), f.file_bytes}) == place.object;
           }) != nullptr;
  return find<FrameDefinition>(DefinitionKind::frame, [&](const FrameDefinition& f) {
           return is_on_path(f.frame) && f.address == place.offset && is_in(f.module, place.object);
         }) != nullptr;
}

}  // namespace tare::mpi
