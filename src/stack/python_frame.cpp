#include "stack/python_frame.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <string_view>

#include "recorder/system.h"
#include "stack/modules.h"

namespace tare::stack {
namespace {

// Offsets in bytes, from the headers of CPython (Include/cpython/pystate.h, Include/cpython/code.h,
// Include/internal/pycore_frame.h, Include/cpython/unicodeobject.h). They are the same in all releases of a version.
struct Layout {
  unsigned version;               // as the upper half of Py_Version
  std::size_t thread_frame;       // PyThreadState.current_frame, or .cframe
  std::size_t cframe_frame;       // _PyCFrame.current_frame; `direct` if there is none
  std::size_t frame_code;         // _PyInterpreterFrame.f_code, .f_executable
  std::size_t frame_previous;     // _PyInterpreterFrame.previous
  std::size_t frame_instruction;  // _PyInterpreterFrame.prev_instr, .instr_ptr
  std::size_t frame_owner;        // _PyInterpreterFrame.owner
  std::size_t code_first_line;    // PyCodeObject.co_firstlineno
  std::size_t code_instructions;  // PyCodeObject.co_code_adaptive
  std::size_t ascii_data;         // sizeof(PyASCIIObject)
  std::size_t compact_data;       // sizeof(PyCompactUnicodeObject)
};
constexpr std::size_t direct = ~std::size_t{0};
constexpr Layout layouts[] = {
    {0x030b, 56, 8, 32, 48, 56, 69, 72, 184, 48, 72},
    {0x030c, 56, 0, 0, 8, 56, 70, 68, 192, 40, 56},
    {0x030d, 72, direct, 0, 8, 56, 70, 68, 200, 40, 56},
    {0x030e, 72, direct, 0, 8, 56, 74, 68, 208, 40, 56},
};

// What is the same in all of these versions.
constexpr std::size_t object_type = 8;            // PyObject.ob_type
constexpr std::size_t object_size = 16;           // PyVarObject.ob_size
constexpr std::size_t code_file = 112;            // PyCodeObject.co_filename
constexpr std::size_t code_qualified_name = 128;  // PyCodeObject.co_qualname
constexpr std::size_t code_lines = 136;           // PyCodeObject.co_linetable
constexpr std::size_t bytes_data = 32;            // PyBytesObject.ob_sval
constexpr std::size_t cframe_previous = 8;        // _PyCFrame.previous, behind current_frame
constexpr std::size_t unit_bytes = 2;             // sizeof(_Py_CODEUNIT)
constexpr std::size_t text_length = 16;           // PyASCIIObject.length
constexpr std::size_t text_state = 32;            // PyASCIIObject.state
constexpr std::uint32_t state_kind = 2;           // lowest of three bits: the bytes of a character
constexpr std::uint32_t state_compact = 0x20;     // the text follows the object
constexpr std::uint32_t state_ascii = 0x40;
// The first value of _PyInterpreterFrame.owner that says that the interpreter made the frame for itself: such a frame
// has no code of the program.
constexpr unsigned char owned_by_interpreter = 3;
constexpr std::uintptr_t reference_tags = 3;  // bits of a reference to an object that are not of its address
// From this version on, the outermost frame is one that the interpreter made for itself.
constexpr unsigned first_with_entry_frames = 0x030c;
// More bytes of a path or name, and of a table of lines, are not believed where a signal has interrupted Python.
constexpr std::size_t max_text = 4096;
constexpr std::size_t max_table = std::size_t{1} << 20;

// Since 3.13, the interpreter begins its state with words for debuggers (_Py_DebugOffsets).
constexpr unsigned first_with_words = 0x030d;
constexpr std::string_view cookie = "xdebugpy";
constexpr std::size_t words_free_threaded = 16;  // whether it was built without the GIL

using ThreadState = void* (*)();  // PyGILState_GetThisThreadState: needs no GIL

// All are null if the process has no CPython whose layout is known.
struct Interpreter {
  const Layout* layout;
  ThreadState thread_state;
  const void* code_type;   // PyCode_Type
  const void* text_type;   // PyUnicode_Type
  const void* bytes_type;  // PyBytes_Type
};

// Memory of the interpreter in a call that it has made: all is there.
struct Settled {
  static constexpr bool is_settled = true;
  static bool holds(const void*, std::size_t) noexcept { return true; }
};

// Memory of the interpreter where a signal has interrupted it, perhaps between two stores that belong together: an
// address may be any. Each page is asked for once.
class Unsettled {
 public:
  static constexpr bool is_settled = false;
  bool holds(const void* object, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(object);
    if (bytes == 0 || begin + bytes < begin) return false;
    for (std::uintptr_t at = begin / page; at <= (begin + bytes - 1) / page; ++at) {
      std::uintptr_t& known = known_[at % pages];
      if (known == at) continue;
      if (!recorder::is_readable(at * page)) return false;
      known = at;
    }
    return true;
  }

 private:
  static constexpr std::uintptr_t page = 4096;  // the smallest
  static constexpr std::size_t pages = 64;
  std::uintptr_t known_[pages] = {~std::uintptr_t{0}};  // by number; 0, which is of the first slot alone: none
};

template <class T>
T field(const void* object, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}

template <class Memory, class T>
bool get(Memory& memory, const void* object, std::size_t offset, T& out) noexcept {
  const void* at = reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(object) + offset);
  if (!memory.holds(at, sizeof out)) return false;
  out = field<T>(at, 0);
  return true;
}

template <class Memory>
bool is_of_type(Memory& memory, const void* object, const void* type) noexcept {
  const void* found = nullptr;
  return get(memory, object, object_type, found) && found == type;
}

// Builds without the GIL have longer objects.
bool has_gil(unsigned version) noexcept {
  if (version < first_with_words) return true;
  const void* words = dlsym(RTLD_DEFAULT, "_PyRuntime");
  return words != nullptr && std::memcmp(words, cookie.data(), cookie.size()) == 0 &&
         field<std::uint64_t>(words, words_free_threaded) == 0;
}

const Layout* find_layout() noexcept {
  const auto* release = static_cast<const unsigned long*>(dlsym(RTLD_DEFAULT, "Py_Version"));
  if (release == nullptr) return nullptr;
  for (const Layout& layout : layouts)
    if (layout.version == *release >> 16) return has_gil(layout.version) ? &layout : nullptr;
  return nullptr;
}

constinit std::atomic<const Layout*> found_layout{nullptr};  // written last
constinit std::atomic<ThreadState> found_thread_state{nullptr};
constinit std::atomic<const void*> found_code_type{nullptr};
constinit std::atomic<const void*> found_text_type{nullptr};
constinit std::atomic<const void*> found_bytes_type{nullptr};

Interpreter found_interpreter() noexcept {
  const Layout* const layout = found_layout.load(std::memory_order_acquire);
  return {layout, found_thread_state.load(std::memory_order_relaxed), found_code_type.load(std::memory_order_relaxed),
          found_text_type.load(std::memory_order_relaxed), found_bytes_type.load(std::memory_order_relaxed)};
}

// In a signal handler, only what was found before: dlsym() takes locks, and allocates when it finds nothing.
Interpreter find_interpreter() noexcept {
  static constinit std::atomic<bool> looked{false};
  if (!looked.load(std::memory_order_acquire) && !loader_may_be_busy) {
    look_for_python();
    looked.store(true, std::memory_order_release);
  }
  return found_interpreter();
}

// The interpreter frame that this thread executes; nullptr outside Python. `caller`: the one that has called the
// innermost evaluation of the interpreter, where the version tells.
struct Current {
  const void* frame = nullptr;
  const void* caller = nullptr;
};

template <class Memory>
bool find_current(Memory& memory, const Interpreter& python, Current& out) noexcept {
  const Layout& layout = *python.layout;
  const void* thread = python.thread_state();
  if (thread == nullptr || !get(memory, thread, layout.thread_frame, out.frame)) return false;
  if (out.frame == nullptr || layout.cframe_frame == direct) return true;
  const void* const cframe = out.frame;
  if (!get(memory, cframe, layout.cframe_frame, out.frame)) return false;
  if constexpr (Memory::is_settled) return true;
  // The outermost one has no other before it.
  const void* before = nullptr;
  return get(memory, cframe, layout.cframe_frame + cframe_previous, before) &&
         (before == nullptr || get(memory, before, layout.cframe_frame, out.caller));
}

template <class Memory>
bool find_code(Memory& memory, const Layout& layout, const void* frame, const void*& code) noexcept {
  std::uintptr_t reference = 0;
  if (!get(memory, frame, layout.frame_code, reference)) return false;
  code = reinterpret_cast<const void*>(reference & ~reference_tags);
  return true;
}

// Whether the instruction lies in the code of the frame. (Until 3.12, it is the one before the next, if there is one.)
bool is_in_code(Unsettled& memory, const Interpreter& python, const void* frame, std::uint64_t instruction) noexcept {
  const void* code = nullptr;
  std::int64_t units = 0;
  if (!find_code(memory, *python.layout, frame, code) || !is_of_type(memory, code, python.code_type) ||
      !get(memory, code, object_size, units))
    return false;
  const std::uint64_t first = reinterpret_cast<std::uintptr_t>(code) + python.layout->code_instructions - unit_bytes;
  return units > 0 && instruction >= first && (instruction - first) / unit_bytes <= static_cast<std::uint64_t>(units);
}

template <class Memory>
unsigned stack_in(Memory memory, const Interpreter& python, std::span<PythonFrame> out) noexcept {
  const Layout& layout = *python.layout;
  Current current;
  if (!find_current(memory, python, current)) return 0;
  unsigned depth = 0;
  [[maybe_unused]] unsigned steps = 0;
  [[maybe_unused]] bool has_caller = false;
  unsigned char owner = owned_by_interpreter;
  for (const void* frame = current.frame; frame != nullptr && depth < out.size();) {
    std::uint64_t instruction = 0;
    const void* previous = nullptr;
    if (!get(memory, frame, layout.frame_owner, owner) || !get(memory, frame, layout.frame_previous, previous))
      return 0;
    if constexpr (!Memory::is_settled) {
      // Between two frames with code is one of the interpreter's own at most.
      if (++steps > 2 * out.size() + 1) return 0;
      has_caller = has_caller || frame == current.caller;
    }
    if (owner < owned_by_interpreter) {
      if (!get(memory, frame, layout.frame_instruction, instruction)) return 0;
      if constexpr (!Memory::is_settled)
        if (!is_in_code(memory, python, frame, instruction)) return 0;
      out[depth++] = {frame, instruction | std::uint64_t{1} << 63};
    }
    frame = previous;
  }
  // A frame that is being entered or left may have no caller yet, or any more.
  if constexpr (!Memory::is_settled)
    if (depth < out.size() && ((current.caller != nullptr && !has_caller) ||
                               (layout.version >= first_with_entry_frames && owner < owned_by_interpreter)))
      return 0;
  return depth;
}

// Writes `length` characters of `kind` bytes each as UTF-8, as many as there is room for. Returns the number of bytes.
std::size_t encode(const char* characters, std::size_t length, unsigned kind, std::span<char> out) noexcept {
  constexpr std::uint32_t replacement = 0xfffd;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < length; ++i) {
    std::uint32_t c = 0;
    std::memcpy(&c, characters + i * kind, kind);
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = replacement;  // as of bytes of a path that are no UTF-8
    const unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    if (out.size() - bytes <= more) break;
    constexpr unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    out[bytes++] = static_cast<char>(first[more] | c >> 6 * more);
    for (unsigned left = more; left-- > 0;) out[bytes++] = static_cast<char>(0x80 | (c >> 6 * left & 0x3f));
  }
  return bytes;
}

// The text of a str object: in place if it is ASCII, else in the room.
template <class Memory>
void text_of(Memory& memory, const Interpreter& python, const void* code, std::size_t offset, std::span<char> room,
             const char*& data, std::size_t& bytes) noexcept {
  data = "";
  bytes = 0;
  const void* object = nullptr;
  if (!get(memory, code, offset, object) || object == nullptr) return;
  if constexpr (!Memory::is_settled)
    if (!is_of_type(memory, object, python.text_type)) return;
  std::uint32_t state = 0;
  std::size_t length = 0;
  if (!get(memory, object, text_state, state) || !get(memory, object, text_length, length)) return;
  const unsigned kind = state >> state_kind & 7U;
  if ((state & state_compact) == 0 || (kind != 1 && kind != 2 && kind != 4)) return;
  const bool is_ascii = (state & state_ascii) != 0;
  const char* const found =
      static_cast<const char*>(object) + (is_ascii ? python.layout->ascii_data : python.layout->compact_data);
  if constexpr (!Memory::is_settled)
    if (length > max_text || !memory.holds(found, length * kind)) return;
  data = is_ascii ? found : room.data();
  bytes = is_ascii ? length : encode(found, length, kind, room);
}

// A number in groups of 6 bits, the lowest first; bit 6 says that another one follows.
std::uint32_t read_number(const unsigned char* at, const unsigned char* end) noexcept {
  std::uint32_t number = 0;
  for (unsigned shift = 0; at < end && shift < 32; shift += 6) {
    number |= (*at & 63U) << shift;
    if ((*at++ & 64U) == 0) break;
  }
  return number;
}

// The line of an offset in the code, by its table (Objects/locations.md, or Objects/location_table.md, of CPython);
// 0: none. It takes neither locks nor the GIL.
template <class Memory>
std::uint32_t line_of(Memory& memory, const Interpreter& python, const void* code, std::int64_t offset) noexcept {
  const void* table = nullptr;
  std::uint32_t line = 0;
  std::size_t bytes = 0;
  if (!get(memory, code, code_lines, table) || !get(memory, code, python.layout->code_first_line, line)) return 0;
  if constexpr (!Memory::is_settled)
    if (!is_of_type(memory, table, python.bytes_type)) return 0;
  if (!get(memory, table, object_size, bytes)) return 0;
  const unsigned char* at = static_cast<const unsigned char*>(table) + bytes_data;
  if constexpr (!Memory::is_settled)
    if (bytes > max_table || !memory.holds(at, bytes)) return 0;
  if (offset < 0) return line;
  // An entry: its kind and the number of its instructions, then bytes whose highest bit is not set.
  for (const unsigned char* const end = at + bytes; at < end;) {
    const unsigned kind = *at >> 3 & 15U;
    offset -= std::int64_t{(*at & 7) + 1} * std::int64_t{unit_bytes};
    ++at;
    if (kind == 13 || kind == 14) {
      const std::uint32_t number = read_number(at, end);
      line += (number & 1U) != 0 ? 0U - (number >> 1) : number >> 1;
    } else if (kind >= 10 && kind <= 12) {
      line += kind - 10;
    }
    if (offset < 0) return kind == 15 ? 0 : line;
    while (at < end && (*at & 0x80U) == 0) ++at;
  }
  return 0;
}

template <class Memory>
PythonSource source_in(Memory memory, const Interpreter& python, const void* frame, TextRoom& room) noexcept {
  PythonSource out{"", 0, "", 0, 0};
  const void* code = nullptr;
  std::uint64_t instruction = 0;
  if (!find_code(memory, *python.layout, frame, code) ||
      !get(memory, frame, python.layout->frame_instruction, instruction))
    return out;
  const auto offset = static_cast<std::int64_t>(instruction - reinterpret_cast<std::uintptr_t>(code) -
                                                python.layout->code_instructions);
  out.line = line_of(memory, python, code, offset);
  text_of(memory, python, code, code_file, room.file, out.file, out.file_bytes);
  text_of(memory, python, code, code_qualified_name, room.function, out.function, out.function_bytes);
  return out;
}

}  // namespace

// Threads may search at the same time. They find the same.
void look_for_python() noexcept {
  const Layout* const layout = find_layout();
  void* const state_symbol = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  const void* const code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
  const void* const text_type = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
  const void* const bytes_type = dlsym(RTLD_DEFAULT, "PyBytes_Type");
  if (layout == nullptr || state_symbol == nullptr || code_type == nullptr || text_type == nullptr ||
      bytes_type == nullptr)
    return;
  found_thread_state.store(reinterpret_cast<ThreadState>(state_symbol), std::memory_order_relaxed);
  found_code_type.store(code_type, std::memory_order_relaxed);
  found_text_type.store(text_type, std::memory_order_relaxed);
  found_bytes_type.store(bytes_type, std::memory_order_relaxed);
  found_layout.store(layout, std::memory_order_release);
}

unsigned python_stack(std::span<PythonFrame> out) noexcept {
  const Interpreter python = find_interpreter();
  if (python.layout == nullptr) return 0;
  return loader_may_be_busy ? stack_in(Unsettled{}, python, out) : stack_in(Settled{}, python, out);
}

bool in_program(const PythonSource& source) noexcept {
  const std::string_view file(source.file, source.file_bytes);
  for (const std::string_view part : {"/site-packages/", "/dist-packages/", "/lib/python3."})
    if (file.find(part) != std::string_view::npos) return false;
  return !file.starts_with("<frozen ");
}

CallPath choose_python_frames(const PythonFrame* stack, unsigned depth,
                              unsigned (&chosen)[format::max_frames]) noexcept {
  CallPath path{};
  bool program_seen = false;
  TextRoom room;
  for (unsigned i = 0; i < depth && path.count < format::max_frames; ++i) {
    const bool wanted = path.count < stack_frames;
    if (!wanted && (program_seen || stack_frames <= 1)) break;
    const bool of_program = !program_seen && in_program(source_of(stack[i], room));
    program_seen = program_seen || of_program;
    if (!wanted && !of_program) continue;
    if (path.count != 0 && chosen[path.count - 1] + 1 != i) path.flags |= format::frames_left_out;
    chosen[path.count] = i;
    path.add(stack[i].position);
  }
  return path;
}

PythonSource source_of(const PythonFrame& frame, TextRoom& room) noexcept {
  const Interpreter python = find_interpreter();
  if (python.layout == nullptr) return {};
  return loader_may_be_busy ? source_in(Unsettled{}, python, frame.frame, room)
                            : source_in(Settled{}, python, frame.frame, room);
}

}  // namespace tare::stack
