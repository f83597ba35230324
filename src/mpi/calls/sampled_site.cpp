#include "mpi/calls/sampled_site.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "format/definition.h"
#include "format/mix.h"
#include "recorder/segment.h"

namespace tare::mpi {
namespace {

using namespace format;

std::string_view name_of(std::string_view path) noexcept {
  path.remove_prefix(path.rfind('/') + 1);  // substr() could throw
  return path;
}

// Finds the definition of a kind in this process's log for which wanted(const Definition&) holds; nullptr if there is
// none.
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

// The name of an object, without its folder; "" if it is not known.
std::string_view object_of(std::uint32_t module) noexcept {
  const auto* known =
      find<ModuleDefinition>(DefinitionKind::module, [&](const ModuleDefinition& m) { return m.module == module; });
  return known == nullptr ? std::string_view() : name_of({behind(*known), known->path_bytes});
}
std::string_view file_of(const PythonFrameDefinition& frame) noexcept {
  return name_of({behind(frame), frame.file_bytes});
}

// The address of a frame is a return address, so the call instruction ends just before it.
bool is_at(const FrameDefinition& frame, const SampleSpec& spec, const SampleSpec::Site& place) noexcept {
  return !place.python && frame.address > place.low && frame.address <= place.high &&
         object_of(frame.module) == spec.site_files[place.file];
}

bool is_at(const PythonFrameDefinition& frame, const SampleSpec& spec, const SampleSpec::Site& place) noexcept {
  return place.python && frame.line == place.low && file_of(frame) == spec.site_files[place.file];
}

std::uint64_t with(std::uint64_t key, std::string_view name, std::uint64_t place) noexcept {
  for (const char letter : name) key = mix(key + static_cast<unsigned char>(letter));
  return mix(key ^ place);
}

const SiteDefinition* site_of(std::uint64_t number) noexcept {
  return find<SiteDefinition>(DefinitionKind::site, [&](const SiteDefinition& s) { return s.site == number; });
}

}  // namespace

bool is_at_site(std::uint64_t number, const SampleSpec& spec) noexcept {
  const SiteDefinition* site = site_of(number);
  if (site == nullptr) return false;
  const auto* frames = reinterpret_cast<const std::uint32_t*>(behind(*site));
  const auto is_wanted = [&](const auto& frame) {
    return std::find(frames, frames + site->frames, frame.frame) != frames + site->frames &&
           std::any_of(spec.sites, spec.sites + spec.site_count,
                       [&](const SampleSpec::Site& place) { return is_at(frame, spec, place); });
  };
  return find<FrameDefinition>(DefinitionKind::frame, is_wanted) != nullptr ||
         find<PythonFrameDefinition>(DefinitionKind::python_frame, is_wanted) != nullptr;
}

std::uint64_t key_of_site(std::uint64_t number) noexcept {
  const SiteDefinition* site = site_of(number);
  if (site == nullptr) return 0;
  const auto* frames = reinterpret_cast<const std::uint32_t*>(behind(*site));
  std::uint64_t key = golden_gamma;
  for (std::uint32_t i = 0; i < site->frames; ++i) {
    const auto is_it = [&](const auto& frame) { return frame.frame == frames[i]; };
    if (const auto* frame = find<FrameDefinition>(DefinitionKind::frame, is_it))
      key = with(key, object_of(frame->module), frame->address);
    else if (const auto* line = find<PythonFrameDefinition>(DefinitionKind::python_frame, is_it))
      key = with(key, file_of(*line), line->line);
  }
  return key;
}

}  // namespace tare::mpi
