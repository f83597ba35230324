#include "mpi/interposition/unseen.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpi/interposition/dispatch.h"
#include "mpi/interposition/dlsym.h"
#include "mpi/interposition/loaded_objects.h"
#include "mpi/interposition/real_dlsym.h"
#include "mpi/interposition/references.h"
#include "mpi/interposition/stubs.h"
#include "recorder/system.h"

namespace tare::mpi {
namespace {

// Finds an MPI library, wherever it is loaded, by a function that may be called at any time.
void* find_initialized() noexcept {
  if (void* address = real_dlsym(RTLD_DEFAULT, "PMPI_Initialized")) return address;
  return first_of_loaded([](const link_map& object) -> void* {
    // Shells and compilers end here too, so not each of their objects is opened.
    const char* slash = std::strrchr(object.l_name, '/');
    const bool may_be_mpi = slash != nullptr && std::strstr(slash, "mpi") != nullptr;
    return may_be_mpi ? symbol_of(object, "PMPI_Initialized", real_dlsym) : nullptr;
  });
}

// Finds one that was opened locally and that this library was asked for through dlsym.
void* find_passed_on() noexcept {
  Dl_info info{};
  void* object = nullptr;
  const void* function = passed_on();
  if (function == nullptr || dladdr1(function, &info, &object, RTLD_DL_LINKMAP) == 0) return nullptr;
  return real_dlsym(object, "PMPI_Initialized");  // for the C library, a handle is an object
}

bool is_in_own_namespace(link_map* object) noexcept {
  Lmid_t number = LM_ID_BASE;
  return dlinfo(object, RTLD_DI_LMID, &number) == 0 && number != LM_ID_BASE;
}

// MPI launchers set these variables for their processes.
bool is_started_as_rank() noexcept {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"})
    if (secure_getenv(name) != nullptr) return true;
  return false;
}

// Maps a file while it is read.
class Mapped {
 public:
  explicit Mapped(const char* path) noexcept {
    const recorder::OwnCode own;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      void* memory = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, fd, 0);
      data_ = memory == MAP_FAILED ? nullptr : static_cast<const char*>(memory);
    }
    if (fd >= 0) close(fd);
  }
  ~Mapped() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), bytes_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  // nullptr if the file is shorter.
  const char* at(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    return data_ != nullptr && offset <= bytes_ && bytes <= bytes_ - offset ? data_ + offset : nullptr;
  }

 private:
  const char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Whether the executable contains MPI, as far as its symbols have not been stripped.
bool is_mpi_linked_in() noexcept {
  const Mapped file("/proc/self/exe");
  const auto* head = reinterpret_cast<const ElfW(Ehdr)*>(file.at(0, sizeof(ElfW(Ehdr))));
  if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return false;
  const auto* sections =
      reinterpret_cast<const ElfW(Shdr)*>(file.at(head->e_shoff, std::uint64_t{head->e_shnum} * sizeof(ElfW(Shdr))));
  for (unsigned i = 0; sections != nullptr && i < head->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= head->e_shnum) continue;
    const ElfW(Shdr)& names = sections[sections[i].sh_link];
    const char* text = file.at(names.sh_offset, names.sh_size);
    constexpr char wanted[] = "\0PMPI_Initialized";
    if (text != nullptr && memmem(text, names.sh_size, wanted, sizeof wanted) != nullptr) return true;
  }
  return false;
}

void printable(char* text) noexcept {
  for (; *text != '\0'; ++text)
    if (static_cast<unsigned char>(*text) < ' ') *text = '?';
}

void leave_line(Unseen reason, const char* detail) noexcept {
  char executable[PATH_MAX] = "";
  const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
  if (length < 0) executable[0] = '\0';
  char about[PATH_MAX];
  std::snprintf(about, sizeof about, "%s", detail == nullptr ? "" : detail);
  printable(executable);
  printable(about);
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/%s%s", secure_getenv("TARE_RUN_DIR"), unseen_prefix, host);
  char line[2 * PATH_MAX + 64];
  const int bytes =
      std::snprintf(line, sizeof line, "%s\t%s\t%s\n", unseen_names[static_cast<int>(reason)], executable, about);
  recorder::create_file(path);
  recorder::append_file(path, line, static_cast<std::size_t>(bytes));
}

// The first object with a reference to an MPI function that does not lead to this library. References that were not
// bound yet lead into the object itself, and do not count.
void find_bypassing(const Reference& reference, void* context) noexcept {
  auto& path = *static_cast<char(*)[PATH_MAX]>(context);
  const auto target = *reinterpret_cast<const std::uintptr_t*>(reference.place);
  if (path[0] != '\0' || target == 0 || contains(reference.object, target)) return;
  if (is_stub(reference.function, target)) return;
  const char* name = reference.object.dlpi_name;
  std::snprintf(path, sizeof path, "%s", name[0] == '\0' ? "the executable" : name);
}

// Every process comes here at its end, so it must cost next to nothing without MPI.
[[gnu::destructor]] void say_if_unseen() noexcept {
  if (!recording() || is_attached()) return;
  const recorder::ErrnoGuard guard;
  void* address = find_initialized();
  if (address == nullptr) address = find_passed_on();
  if (address == nullptr) {
    if (is_started_as_rank() && is_mpi_linked_in()) leave_line(Unseen::linked_in, nullptr);
    return;
  }
  int flag = 0;
  reinterpret_cast<int (*)(int*)>(address)(&flag);
  if (flag == 0) return;  // the library was only loaded
  Dl_info info{};
  link_map* object = nullptr;
  const bool known = dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0;
  if (known && object->l_name[0] == '\0') return leave_line(Unseen::linked_in, nullptr);
  if (known && is_in_own_namespace(object)) return leave_line(Unseen::elsewhere, info.dli_fname);
  char bypassing[PATH_MAX] = "";
  visit_references(find_bypassing, &bypassing);
  if (bypassing[0] != '\0') return leave_line(Unseen::bypassed, bypassing);
  leave_line(Unseen::unknown, known ? info.dli_fname : "");
}

}  // namespace
}  // namespace tare::mpi
