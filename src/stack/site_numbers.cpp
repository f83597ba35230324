#include "stack/site_numbers.h"

#include "recorder/definition_log.h"
#include "stack/modules.h"
#include "stack/numbers.h"

namespace tare::stack {
namespace {

constinit Numbers<32768> sites;   // numbers of sites, by key of the path
constinit Numbers<32768> frames;  // numbers of frames, by return address or position in Python code

// What a path may take of the definition log, with new frames and a new module for each.
constexpr std::size_t bytes_of(std::size_t frames) { return sizeof(format::SiteDefinition) + frames * 256; }

}  // namespace

std::uint64_t key_of(std::span<const std::uint64_t> path, std::uint16_t flags) noexcept {
  std::uint64_t hash = flags | std::uint64_t{path.size()} << 32;
  for (const std::uint64_t frame : path) {
    hash = (hash ^ frame) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  return hash == 0 ? 1 : hash;
}

std::uint32_t number_of(std::span<const std::uint64_t> path, std::uint16_t flags, DefineFrame* define,
                        const void* context) noexcept {
  const std::uint64_t key = key_of(path, flags);
  if ((flags & format::of_stack) != 0 && !recorder::has_room_in_half(bytes_of(path.size()))) return sites.find(key);
  bool is_new = false;
  const std::uint32_t number = sites.number_of(key, is_new);
  if (!is_new) return number;
  std::uint32_t numbers[format::max_stack_frames];
  for (unsigned i = 0; i < path.size(); ++i) {
    numbers[i] = frames.number_of(path[i], is_new);
    if (is_new) define(context, numbers[i], i);
  }
  format::SiteDefinition definition{};
  definition.head.kind = format::DefinitionKind::site;
  definition.site = number;
  definition.head.flags = flags;
  definition.frames = static_cast<std::uint32_t>(path.size());
  recorder::define(&definition, sizeof definition,
                   {reinterpret_cast<const char*>(numbers), path.size() * sizeof numbers[0]});
  return number;
}

void define_native(std::uint32_t number, std::uint64_t address) noexcept {
  format::FrameDefinition definition{};
  definition.head.kind = format::DefinitionKind::frame;
  definition.frame = number;
  const std::uint32_t owner = module_of(address);
  definition.module = owner == unknown_module ? format::no_module : owner;
  definition.address = owner == unknown_module ? address : address - module(owner).bias;
  if (owner != unknown_module) define_module(owner);
  recorder::define(&definition, sizeof definition);
}

void define_python(std::uint32_t number, const PythonFrame& frame) noexcept {
  TextRoom room;
  const PythonSource source = source_of(frame, room);
  format::PythonFrameDefinition definition{};
  definition.head.kind = format::DefinitionKind::python_frame;
  definition.head.flags = in_program(source) ? format::of_program : 0;
  definition.frame = number;
  definition.line = source.line;
  definition.file_bytes = static_cast<std::uint32_t>(source.file_bytes);
  definition.function_bytes = static_cast<std::uint32_t>(source.function_bytes);
  recorder::define(&definition, sizeof definition, {source.file, source.file_bytes},
                   {source.function, source.function_bytes});
}

void reset_site_numbers() noexcept {
  sites.clear();
  frames.clear();
}

}  // namespace tare::stack
