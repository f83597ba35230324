#include "mpi/site.h"

#include <cstring>

#include "format/definition.h"
#include "mpi/modules.h"
#include "mpi/python_frame.h"
#include "mpi/unwind.h"
#include "recorder/process.h"
#include "recorder/system.h"

namespace tare::mpi {

constinit BindingSpan binding_span{};

namespace {

// Sites by address: open addressing; the number of a site is its place plus one.
struct Site {
  std::uint64_t address;
  std::uint32_t number;  // 0: empty
};
constexpr std::uint32_t capacity = 16384;
constinit Site sites[capacity] = {};
constinit std::uint32_t last_number = 0;
constinit recorder::SpinLock sites_lock;

// Bindings call through one another (mpi_f08 through mpif.h's layer): this many at the most.
constexpr int most_binding_frames = 8;

Binding binding_at(std::uintptr_t address) noexcept {
  const std::uint32_t number = module_of(address);
  return number == unknown_module ? Binding::none : module(number).binding;
}

// The number of an address; `is_new` if this call has given it. 0 if the table is full.
std::uint32_t number_of(std::uint64_t address, bool& is_new) noexcept {
  sites_lock.lock();
  std::uint32_t slot = static_cast<std::uint32_t>((address * 0x9e3779b97f4a7c15U) >> 50) % capacity;
  while (sites[slot].number != 0 && sites[slot].address != address) slot = (slot + 1) % capacity;
  is_new = sites[slot].number == 0 && last_number < capacity * 3 / 4;
  if (is_new) sites[slot] = {address, ++last_number};
  const std::uint32_t number = sites[slot].number;
  sites_lock.unlock();
  return number;
}

void define_native(std::uint32_t number, std::uint64_t address) noexcept {
  format::SiteDefinition definition{};
  definition.head.kind = format::DefinitionKind::site;
  definition.site = number;
  const std::uint32_t owner = module_of(address);
  definition.module = owner == unknown_module ? format::no_module : owner;
  definition.address = owner == unknown_module ? address : address - module(owner).bias;
  if (owner != unknown_module) define_module(owner);
  recorder::define(&definition, sizeof definition);
}

void define_python(std::uint32_t number) noexcept {
  PythonSource source{};
  if (!python_source(source)) return;
  format::PythonSiteDefinition definition{};
  definition.head.kind = format::DefinitionKind::python_site;
  definition.site = number;
  definition.line = source.line;
  definition.file_bytes = static_cast<std::uint32_t>(source.file_bytes);
  definition.function_bytes = static_cast<std::uint32_t>(source.function_bytes);
  recorder::define(&definition, sizeof definition, {source.file, source.file_bytes},
                   {source.function, source.function_bytes});
}

}  // namespace

std::uint64_t see_through(std::uintptr_t address, void* frame) noexcept {
  const recorder::ErrnoGuard guard;
  Binding binding = binding_at(address);
  if (binding == Binding::python) {
    const std::uint64_t position = python_position();
    return position != 0 ? position : address;
  }
  Frame caller = caller_of(frame);
  for (int i = 0; i < most_binding_frames && (binding == Binding::fortran || binding == Binding::cxx); ++i) {
    if (!step(caller)) return address;
    binding = binding_at(caller.return_address);
  }
  return caller.return_address;
}

bool binding_calls_itself(Caller kind, std::uintptr_t address) noexcept {
  const Binding binding = binding_at(address);
  return binding == Binding::cxx || (binding == Binding::fortran && kind == Caller::converts);
}

std::uint32_t site_of(std::uint64_t address) noexcept {
  bool is_new = false;
  const std::uint32_t number = number_of(address, is_new);
  if (is_new && is_python_position(address)) define_python(number);
  if (is_new && !is_python_position(address)) define_native(number, address);
  return number;
}

void notice_modules() noexcept {
  read_modules();
  std::uintptr_t low = UINTPTR_MAX;
  std::uintptr_t high = 0;
  for (std::uint32_t i = 0; i < module_count(); ++i) {
    const Module& m = module(i);
    if (m.binding == Binding::none) continue;
    if (m.low < low) low = m.low;
    if (m.high > high) high = m.high;
  }
  if (high == 0) return;
  // A reader between the two stores sees a span too short, never one that is no span.
  binding_span.bytes = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  binding_span.low = low;
  binding_span.bytes = high - low;
}

void forget_sites() noexcept {
  sites_lock.reset();
  std::memset(sites, 0, sizeof sites);
  last_number = 0;
  forget_modules();
}

}  // namespace tare::mpi
