#include "stack/python_frame.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <string_view>

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
  std::size_t code_instructions;  // PyCodeObject.co_code_adaptive
  std::size_t ascii_data;         // sizeof(PyASCIIObject), which is where PyCompactUnicodeObject.utf8_length is
};
constexpr std::size_t direct = ~std::size_t{0};
constexpr Layout layouts[] = {
    {0x030b, 56, 8, 32, 48, 56, 69, 184, 48},
    {0x030c, 56, 0, 0, 8, 56, 70, 192, 40},
    {0x030d, 72, direct, 0, 8, 56, 70, 200, 40},
    {0x030e, 72, direct, 0, 8, 56, 74, 208, 40},
};

// What is the same in all of these versions.
constexpr std::size_t code_file = 112;               // PyCodeObject.co_filename
constexpr std::size_t code_qualified_name = 128;     // PyCodeObject.co_qualname
constexpr std::size_t text_length = 16;              // PyASCIIObject.length
constexpr std::size_t text_state = 32;               // PyASCIIObject.state
constexpr std::uint32_t state_compact_ascii = 0x60;  // compact (bit 5) and ascii (bit 6)
// The first value of _PyInterpreterFrame.owner that says that the interpreter made the frame for itself: such a frame
// has no code of the program.
constexpr unsigned char owned_by_interpreter = 3;
constexpr std::uintptr_t reference_tags = 3;  // bits of a reference to an object that are not of its address

// Since 3.13, the interpreter begins its state with words for debuggers (_Py_DebugOffsets).
constexpr unsigned first_with_words = 0x030d;
constexpr std::string_view cookie = "xdebugpy";
constexpr std::size_t words_free_threaded = 16;  // whether it was built without the GIL

using ThreadState = void* (*)();                      // PyGILState_GetThisThreadState: needs no GIL
using LineOf = int (*)(void* code, int byte_offset);  // PyCode_Addr2Line: reads the line table only

// All are null if the process has no CPython whose layout is known.
struct Interpreter {
  const Layout* layout;
  ThreadState thread_state;
  LineOf line_of;
};

template <class T>
T field(const void* object, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
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
constinit std::atomic<LineOf> found_line_of{nullptr};

Interpreter found_interpreter() noexcept {
  const Layout* const layout = found_layout.load(std::memory_order_acquire);
  return {layout, found_thread_state.load(std::memory_order_relaxed), found_line_of.load(std::memory_order_relaxed)};
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

// The interpreter frame that this thread executes; nullptr outside Python.
const void* current_frame(const Interpreter& python) noexcept {
  const void* thread = python.thread_state();
  if (thread == nullptr) return nullptr;
  const void* frame = field<const void*>(thread, python.layout->thread_frame);
  if (frame == nullptr || python.layout->cframe_frame == direct) return frame;
  return field<const void*>(frame, python.layout->cframe_frame);
}

// The text of a str object: in place if it is ASCII, else its UTF-8 form if one was made before.
void text_of(const Layout& layout, const void* object, const char*& data, std::size_t& bytes) noexcept {
  data = "";
  bytes = 0;
  if (object == nullptr) return;
  const auto state = field<std::uint32_t>(object, text_state);
  if ((state & state_compact_ascii) == state_compact_ascii) {
    data = static_cast<const char*>(object) + layout.ascii_data;
    bytes = field<std::size_t>(object, text_length);
  } else if (const char* utf8 = field<const char*>(object, layout.ascii_data + sizeof(std::size_t))) {
    data = utf8;
    bytes = field<std::size_t>(object, layout.ascii_data);
  }
}

}  // namespace

// Threads may search at the same time. They find the same.
void look_for_python() noexcept {
  const Layout* const layout = find_layout();
  void* const state_symbol = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  void* const line_symbol = dlsym(RTLD_DEFAULT, "PyCode_Addr2Line");
  if (layout == nullptr || state_symbol == nullptr || line_symbol == nullptr) return;
  found_thread_state.store(reinterpret_cast<ThreadState>(state_symbol), std::memory_order_relaxed);
  found_line_of.store(reinterpret_cast<LineOf>(line_symbol), std::memory_order_relaxed);
  found_layout.store(layout, std::memory_order_release);
}

unsigned python_stack(std::span<PythonFrame> out) noexcept {
  const Interpreter python = find_interpreter();
  if (python.layout == nullptr) return 0;
  const Layout& layout = *python.layout;
  unsigned depth = 0;
  for (const void* frame = current_frame(python); frame != nullptr && depth < out.size();
       frame = field<const void*>(frame, layout.frame_previous)) {
    if (field<unsigned char>(frame, layout.frame_owner) >= owned_by_interpreter) continue;
    const auto instruction = field<std::uint64_t>(frame, layout.frame_instruction);
    out[depth++] = {frame, instruction | std::uint64_t{1} << 63};
  }
  return depth;
}

bool in_program(const PythonFrame& frame) noexcept {
  const PythonSource source = source_of(frame);
  const std::string_view file(source.file, source.file_bytes);
  for (const std::string_view part : {"/site-packages/", "/dist-packages/", "/lib/python3."})
    if (file.find(part) != std::string_view::npos) return false;
  return !file.starts_with("<frozen ");
}

CallPath choose_python_frames(const PythonFrame* stack, unsigned depth,
                              unsigned (&chosen)[format::max_frames]) noexcept {
  CallPath path{};
  bool program_seen = false;
  for (unsigned i = 0; i < depth && path.count < format::max_frames; ++i) {
    const bool wanted = path.count < stack_frames;
    if (!wanted && (program_seen || stack_frames <= 1)) break;
    const bool of_program = !program_seen && in_program(stack[i]);
    program_seen = program_seen || of_program;
    if (!wanted && !of_program) continue;
    if (path.count != 0 && chosen[path.count - 1] + 1 != i) path.flags |= format::frames_left_out;
    chosen[path.count] = i;
    path.add(stack[i].position);
  }
  return path;
}

PythonSource source_of(const PythonFrame& frame) noexcept {
  PythonSource out{};
  const Interpreter python = find_interpreter();
  if (python.layout == nullptr) return out;
  const Layout& layout = *python.layout;
  const auto code = field<std::uintptr_t>(frame.frame, layout.frame_code) & ~reference_tags;
  auto* const object = reinterpret_cast<void*>(code);
  const auto offset = field<std::uintptr_t>(frame.frame, layout.frame_instruction) - (code + layout.code_instructions);
  const int line = python.line_of(object, static_cast<int>(offset));
  text_of(layout, field<const void*>(object, code_file), out.file, out.file_bytes);
  text_of(layout, field<const void*>(object, code_qualified_name), out.function, out.function_bytes);
  out.line = line < 0 ? 0 : static_cast<std::uint32_t>(line);
  return out;
}

}  // namespace tare::stack
