#include "reader/model/definitions.h"

#include <algorithm>
#include <iterator>

#include "reader/store/payload.h"

namespace tare::reader {
namespace {

using namespace tare::format;

bool apply_module(std::string_view entry, Definitions& to) {
  ModuleDefinition in;
  Module module;
  if (!take_record(entry, in) || !take_text(entry, in.path_bytes, module.path)) return false;
  const auto bytes = std::min<std::size_t>(in.build_id_bytes, sizeof in.build_id);
  module.build_id.assign(reinterpret_cast<const char*>(in.build_id), bytes);
  module.of_program = (in.head.flags & of_program) != 0;
  to.modules[in.module] = std::move(module);
  return true;
}

bool apply_frame(std::string_view entry, Definitions& to) {
  FrameDefinition in;
  if (!take_record(entry, in)) return false;
  to.native_frames.push_back({in.frame, in.module, in.address});
  return true;
}

bool apply_python_frame(std::string_view entry, Definitions& to) {
  PythonFrameDefinition in;
  PythonFrame frame;
  if (!take_record(entry, in) || !take_text(entry, in.file_bytes, frame.file)) return false;
  if (!take_text(entry, in.function_bytes, frame.function)) return false;
  frame.number = in.frame;
  frame.line = in.line;
  frame.of_program = (in.head.flags & of_program) != 0;
  to.python_frames.push_back(std::move(frame));
  return true;
}

bool apply_site(std::string_view entry, Definitions& to) {
  SiteDefinition in;
  if (!take_record(entry, in) || in.frames == 0) return false;
  if (in.frames > ((in.head.flags & of_stack) != 0 ? max_stack_frames : max_frames)) return false;
  const auto first = to.paths.size();
  for (std::uint32_t i = 0; i < in.frames; ++i) {
    std::uint32_t frame;
    if (!take_record(entry, frame)) return false;
    to.paths.push_back(frame);
  }
  to.sites.push_back(
      {in.site, static_cast<std::uint32_t>(first), static_cast<std::uint16_t>(in.frames), in.head.flags});
  return true;
}

bool apply_group(std::string_view entry, Definitions& to) {
  GroupDefinition in;
  std::vector<MemberRun> runs;
  if (!take_record(entry, in) || !take_records(entry, in.runs, runs)) return false;
  Members members;
  if (!members.assign(std::move(runs), in.size)) return false;
  if ((in.head.flags & of_epoch) != 0) to.epoch_groups[in.group] = members;
  to.groups[in.group] = std::move(members);
  return true;
}

bool apply_communicator(std::string_view entry, Definitions& to) {
  CommunicatorDefinition in;
  Communicator communicator;
  if (!take_record(entry, in) || !take_text(entry, in.name_bytes, communicator.name)) return false;
  communicator.size = in.size;
  communicator.remote_size = in.remote_size;
  communicator.key = in.key;
  communicator.group = in.group;
  communicator.remote_group = in.remote_group;
  to.communicators[in.communicator] = std::move(communicator);
  return true;
}

bool apply_scope(std::string_view entry, bool is_file, Definitions& to) {
  ScopeDefinition in;
  Scope scope;
  if (!take_record(entry, in) || !take_text(entry, in.name_bytes, scope.name)) return false;
  scope.is_file = is_file;
  scope.flavour = is_file || in.flavour > WindowFlavour::dynamic ? WindowFlavour::none : in.flavour;
  scope.communicator = in.communicator;
  scope.key = in.key;
  to.scopes[in.scope] = std::move(scope);
  return true;
}

// Replaces the name of an entry of `named`.
template <class Named>
bool apply_name(std::string_view entry, Named& named) {
  NameDefinition in;
  std::string name;
  if (!take_record(entry, in) || !take_text(entry, in.name_bytes, name)) return false;
  named[in.number].name = std::move(name);
  return true;
}

bool apply_thread(std::string_view entry, Definitions& to) {
  ThreadDefinition in;
  return take_record(entry, in) && take_text(entry, in.name_bytes, to.threads[in.thread]);
}

bool apply_executable(std::string_view entry, Definitions& to) {
  ExecutableDefinition in;
  return take_record(entry, in) && take_text(entry, in.path_bytes, to.executable);
}

bool apply_event_type(std::string_view entry, Definitions& to) {
  EventTypeDefinition in;
  EventType type;
  if (!take_record(entry, in) || in.parameters > std::size(in.parameter_types)) return false;
  if (in.event_class > EventClass::phase) return false;
  for (const ParameterType parameter : in.parameter_types)
    if (parameter > ParameterType::f64) return false;
  if (!take_text(entry, in.name_bytes, type.name) || !take_text(entry, in.unit_bytes, type.unit)) return false;
  type.event_class = in.event_class;
  type.parameters.assign(in.parameter_types, in.parameter_types + in.parameters);
  to.event_types[in.type] = std::move(type);
  return true;
}

bool apply_spell(std::string_view entry, Definitions& to) {
  SpellDefinition in{};
  const bool is_short = entry.size() < sizeof in;
  if (is_short ? !take_record(entry, in, short_spell_bytes) : !take_record(entry, in)) return false;
  to.spells[in.spell] = {(in.head.flags & unmeasured_spell) == 0,
                         (in.head.flags & traced_spell) != 0,
                         (in.head.flags & cut_spell) != 0,
                         (in.head.flags & control_spell) != 0,
                         (in.head.flags & spell_with_requests) != 0,
                         (in.head.flags & spell_completes_unknown) != 0,
                         (in.head.flags & timed_spell) != 0,
                         (in.head.flags & unfinished_spell) == 0,
                         in.sync_points,
                         in.first_site,
                         in.last_site,
                         in.begin,
                         in.ticks,
                         in.flush_ticks,
                         in.measured_calls,
                         in.counted_calls,
                         in.counted_polls,
                         is_short ? std::nullopt : std::optional(in.counted_ticks)};
  return true;
}

bool apply_entry(DefinitionKind kind, std::string_view bytes, Definitions& to) {
  switch (kind) {
    case DefinitionKind::module:
      return apply_module(bytes, to);
    case DefinitionKind::frame:
      return apply_frame(bytes, to);
    case DefinitionKind::python_frame:
      return apply_python_frame(bytes, to);
    case DefinitionKind::site:
      return apply_site(bytes, to);
    case DefinitionKind::communicator:
      return apply_communicator(bytes, to);
    case DefinitionKind::communicator_name:
      return apply_name(bytes, to.communicators);
    case DefinitionKind::window:
      return apply_scope(bytes, false, to);
    case DefinitionKind::window_name:
      return apply_name(bytes, to.scopes);
    case DefinitionKind::file:
      return apply_scope(bytes, true, to);
    case DefinitionKind::thread:
      return apply_thread(bytes, to);
    case DefinitionKind::executable:
      return apply_executable(bytes, to);
    case DefinitionKind::group:
      return apply_group(bytes, to);
    case DefinitionKind::event_type:
      return apply_event_type(bytes, to);
    case DefinitionKind::spell:
      return apply_spell(bytes, to);
  }
  return true;
}

}  // namespace

bool Members::assign(std::vector<MemberRun> runs, std::int32_t size) {
  std::vector<std::int64_t> begins;
  std::int64_t begin = 0;
  for (const MemberRun& run : runs) {
    if (run.count == 0) return false;
    begins.push_back(begin);
    begin += run.count;
  }
  if (begin != size) return false;
  runs_ = std::move(runs);
  begins_ = std::move(begins);
  size_ = size;
  return true;
}

std::int32_t Members::world_rank(std::int32_t rank) const {
  if (rank < 0 || rank >= size_) return -1;
  const auto behind = std::upper_bound(begins_.begin(), begins_.end(), std::int64_t{rank});
  const auto run = static_cast<std::size_t>(behind - begins_.begin()) - 1;
  const std::int64_t found = runs_[run].first + runs_[run].stride * (rank - begins_[run]);
  return found < 0 || found > INT32_MAX ? -1 : static_cast<std::int32_t>(found);
}

std::int32_t Members::rank_of(std::int32_t world_rank) const {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const MemberRun& run = runs_[i];
    const std::int64_t distance = std::int64_t{world_rank} - run.first;
    if (run.stride == 0 ? distance != 0 : distance % run.stride != 0) continue;
    const std::int64_t place = run.stride == 0 ? 0 : distance / run.stride;
    if (place >= 0 && place < run.count) return static_cast<std::int32_t>(begins_[i] + place);
  }
  return -1;
}

void Definitions::clear() {
  modules.clear();
  native_frames.clear();
  python_frames.clear();
  sites.clear();
  paths.clear();
  communicators.clear();
  groups.clear();
  epoch_groups.clear();
  scopes.clear();
  executable.clear();
  threads.clear();
  event_types.clear();
  spells.clear();
}

const Members* Definitions::members(std::uint32_t group) const {
  const auto found = groups.find(group);
  return found == groups.end() ? nullptr : &found->second;
}

bool Definitions::apply(std::string_view log) {
  while (!log.empty()) {
    DefinitionHead head;
    std::string_view after = log;
    if (!take_record(after, head)) return false;
    if (head.bytes < sizeof head || head.bytes % 8 != 0 || head.bytes > log.size()) return false;
    if (!apply_entry(head.kind, log.substr(0, head.bytes), *this)) return false;
    log.remove_prefix(head.bytes);
  }
  return true;
}

}  // namespace tare::reader
