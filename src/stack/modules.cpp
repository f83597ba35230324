#include "stack/modules.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstring>

#include "format/definition.h"
#include "recorder/definition_log.h"
#include "recorder/permanent_memory.h"
#include "recorder/system.h"

namespace tare::stack {
namespace {

struct Description {
  std::uint8_t build_id[20];
  std::uint32_t build_id_bytes;
  const char* path;  // "" if it is not known
};

constinit Module modules[max_modules] = {};
constinit Description descriptions[max_modules] = {};
constinit std::atomic<std::uint32_t> count{0};
constinit recorder::SpinLock modules_lock;
// Of new modules and of what follows.
constinit recorder::SpinLock growing;
constinit recorder::PermanentMemory<max_modules * std::size_t{PATH_MAX}> path_memory;
constinit char path[2 * PATH_MAX] = "";  // of the object that is being added; too large for the stacks of some threads

constexpr std::uintptr_t page_bytes = 4096;  // the smallest page

bool begins(const char* text, const char* start) noexcept { return std::strncmp(text, start, std::strlen(start)) == 0; }

// Recognised by file name: the Fortran libraries of Open MPI, of MPICH and its descendants; mpi4py's extension; the
// OpenMP runtimes of GNU, LLVM and Intel.
Binding binding_of(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash == nullptr ? path : slash + 1;
  for (const char* start :
       {"libmpi_mpifh", "libmpi_usempi", "libmpi_usempif08", "libmpichf", "libmpifort", "libfmpich", "libmpi_abi_fort"})
    if (begins(name, start)) return Binding::fortran;
  for (const char* start : {"libmpi_cxx", "libmpichcxx", "libmpicxx"})  // MPI-2's C++ bindings
    if (begins(name, start)) return Binding::cxx;
  for (const char* start : {"libgomp", "libomp.", "libomp-", "libomp5", "libiomp5", "libtare."})
    if (begins(name, start)) return Binding::threads;
  if (begins(name, "MPI.") && std::strstr(path, "/mpi4py/") != nullptr) return Binding::python;
  return Binding::none;
}

// Recognised by file name, except for the program itself, which comes first in the loader's list. If the program is an
// interpreter, it counts as one.
ModuleKind kind_of(const char* path, bool is_first) noexcept {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash == nullptr ? path : slash + 1;
  if (begins(name, "libpython")) return ModuleKind::interpreter;
  if (is_first) return begins(name, "python") ? ModuleKind::interpreter : ModuleKind::program;
  for (const char* start : {"libc.so", "libc-2", "libpthread"})
    if (begins(name, start)) return ModuleKind::system;
  return ModuleKind::elsewhere;
}

void read_build_id(const dl_phdr_info& object, const ElfW(Phdr) & segment, Description& out) noexcept {
  const char* note = reinterpret_cast<const char*>(object.dlpi_addr + segment.p_vaddr);
  const char* end = note + segment.p_memsz;
  while (end - note >= static_cast<long>(sizeof(ElfW(Nhdr)))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, note, sizeof head);
    const char* name = note + sizeof head;
    const char* data = name + (head.n_namesz + 3) / 4 * 4;
    note = data + (head.n_descsz + 3) / 4 * 4;
    if (note > end) return;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      out.build_id_bytes = head.n_descsz < sizeof out.build_id ? head.n_descsz : sizeof out.build_id;
      std::memcpy(out.build_id, data, out.build_id_bytes);
      return;
    }
  }
}

// Sets `path` to that of an object, cut if it is longer than the system allows. An object may have been found relative
// to the working directory, by LD_LIBRARY_PATH=. or dlopen("./plugin.so"). The program may change that directory, so
// the full path is stored. (The kernel's object, linux-vdso.so.1, has no file.)
void find_path(const char* name) noexcept {
  if (name[0] == '\0') {  // the program has no name here
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    return;
  }
  const bool is_relative = name[0] != '/' && std::strchr(name, '/') != nullptr;
  std::size_t length = 0;
  if (is_relative && syscall(SYS_getcwd, path, PATH_MAX) > 0 && path[0] == '/') {
    length = std::strlen(path);
    path[length++] = '/';
  }
  std::strncpy(path + length, name, sizeof path - 1 - length);
}

// Under `growing`, as the next two. A copy of `path` that is kept.
const char* kept_path() noexcept {
  const std::size_t bytes = std::strlen(path) + 1;
  char* copy = path_memory.allocate(bytes);
  return copy == nullptr ? "" : static_cast<const char*>(std::memcpy(copy, path, bytes));
}

bool known(std::uintptr_t low) noexcept {
  const std::uint32_t n = count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < n; ++i)
    if (modules[i].low == low) return true;
  return false;
}

void add_object(const dl_phdr_info& object) noexcept {
  Module m{UINTPTR_MAX, 0, object.dlpi_addr, 0, Binding::none, ModuleKind::elsewhere, false};
  Description description{};
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const std::uintptr_t low = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && low < m.low) m.low = low;
    if (segment.p_type == PT_LOAD && low + segment.p_memsz > m.high) m.high = low + segment.p_memsz;
    if (segment.p_type == PT_GNU_EH_FRAME) m.unwind_tables = low;
    if (segment.p_type == PT_NOTE) read_build_id(object, segment, description);
  }
  const std::uint32_t n = count.load(std::memory_order_relaxed);
  if (m.high == 0 || n == max_modules || known(m.low)) return;
  find_path(object.dlpi_name);
  description.path = kept_path();
  m.binding = binding_of(path);
  m.kind = kind_of(path, n == 0);
  modules[n] = m;
  descriptions[n] = description;
  count.store(n + 1, std::memory_order_release);
}

int add_listed(dl_phdr_info* object, std::size_t, void*) noexcept {
  const recorder::Locked locked(growing);
  add_object(*object);
  return 0;
}

// struct dl_find_object, which older C libraries do not have.
struct FoundObject {
  unsigned long long flags;
  void* begin;
  void* end;
  link_map* map;
  void* eh_frame;
  unsigned long long reserved[8];
};
using FindObject = int(void*, FoundObject*);
// It takes no lock, so that signal handlers may call it; nullptr: there is none.
constinit FindObject* find_object = nullptr;
[[gnu::constructor]] void find_find_object() noexcept {
  find_object = reinterpret_cast<FindObject*>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

// Adds the object that contains an address in the code of this thread, so it is not unloaded meanwhile. It begins with
// the head of its file.
void add_object_of(std::uintptr_t address) noexcept {
  FoundObject found{};
  if (find_object == nullptr || find_object(reinterpret_cast<void*>(address), &found) != 0) return;
  const auto& head = *static_cast<const ElfW(Ehdr)*>(found.begin);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(ElfW(Phdr)) ||
      head.e_phoff + head.e_phnum * sizeof(ElfW(Phdr)) > page_bytes)
    return;
  if (!growing.try_lock()) return;
  dl_phdr_info object{};
  object.dlpi_addr = found.map->l_addr;
  object.dlpi_name = found.map->l_name;
  object.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(static_cast<const char*>(found.begin) + head.e_phoff);
  object.dlpi_phnum = head.e_phnum;
  add_object(object);
  growing.unlock();
}

std::uint32_t find(std::uintptr_t address) noexcept {
  // Newest first, because an object may lie where another was unloaded.
  for (std::uint32_t i = count.load(std::memory_order_acquire); i-- > 0;)
    if (address >= modules[i].low && address < modules[i].high) return i;
  return unknown_module;
}

}  // namespace

constinit thread_local bool loader_may_be_busy [[gnu::tls_model("initial-exec")]] = false;

const Module* known_module(std::uintptr_t address) noexcept {
  const std::uint32_t number = find(address);
  return number == unknown_module ? nullptr : &modules[number];
}

void read_modules() noexcept { dl_iterate_phdr(add_listed, nullptr); }

extern "C" int tare_known_object(std::uintptr_t address, std::uintptr_t* begin, std::uintptr_t* end,
                                 std::uintptr_t* tables) noexcept {
  if (!loader_may_be_busy) return 0;
  const Module* module = known_module(address);
  if (module == nullptr || module->unwind_tables == 0) return -1;
  // It may have been unloaded since it became known.
  unsigned char resident = 0;
  if (syscall(SYS_mincore, module->unwind_tables & -page_bytes, page_bytes, &resident) != 0) return -1;
  *begin = module->low;
  *end = module->high;
  *tables = module->unwind_tables;
  return 1;
}

std::uint32_t module_of(std::uintptr_t address) noexcept {
  const std::uint32_t number = find(address);
  if (number != unknown_module) return number;
  if (!loader_may_be_busy)
    read_modules();
  else if (module_count() != 0)
    add_object_of(address);
  return find(address);
}

const Module& module(std::uint32_t number) noexcept { return modules[number]; }

std::uint32_t module_count() noexcept { return count.load(std::memory_order_acquire); }

void define_module(std::uint32_t number) noexcept {
  modules_lock.lock();
  const bool first = !modules[number].defined;
  modules[number].defined = true;
  modules_lock.unlock();
  if (!first) return;
  const Description& description = descriptions[number];
  format::ModuleDefinition definition{};
  const std::size_t length = std::strlen(description.path);
  definition.head.kind = format::DefinitionKind::module;
  definition.head.flags = modules[number].kind == ModuleKind::program ? format::of_program : 0;
  definition.module = number;
  definition.path_bytes = static_cast<std::uint32_t>(length);
  definition.bias = modules[number].bias;
  definition.build_id_bytes = description.build_id_bytes;
  std::memcpy(definition.build_id, description.build_id, sizeof definition.build_id);
  recorder::define(&definition, sizeof definition, {description.path, length});
}

void reset_modules() noexcept {
  modules_lock.reset();
  growing.reset();
  for (Module& m : modules) m.defined = false;
}

}  // namespace tare::stack
