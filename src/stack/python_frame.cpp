#include "stack/python_frame.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <string_view>

namespace tare::stack {
namespace {

// CPython 3.11: offsets in bytes, from its headers (Include/cpython/pystate.h, Include/cpython/code.h,
// Include/internal/pycore_frame.h, Include/cpython/unicodeobject.h).
namespace layout {
constexpr std::size_t thread_cframe = 56;            // PyThreadState.cframe
constexpr std::size_t cframe_current = 8;            // _PyCFrame.current_frame
constexpr std::size_t frame_code = 32;               // _PyInterpreterFrame.f_code
constexpr std::size_t frame_previous = 48;           // _PyInterpreterFrame.previous
constexpr std::size_t frame_instruction = 56;        // _PyInterpreterFrame.prev_instr
constexpr std::size_t code_file = 112;               // PyCodeObject.co_filename
constexpr std::size_t code_qualified_name = 128;     // PyCodeObject.co_qualname
constexpr std::size_t code_instructions = 184;       // PyCodeObject.co_code_adaptive
constexpr std::size_t text_length = 16;              // PyASCIIObject.length
constexpr std::size_t text_state = 32;               // PyASCIIObject.state
constexpr std::size_t ascii_data = 48;               // sizeof(PyASCIIObject)
constexpr std::size_t compact_utf8_length = 48;      // PyCompactUnicodeObject.utf8_length
constexpr std::size_t compact_utf8 = 56;             // PyCompactUnicodeObject.utf8
constexpr std::uint32_t state_compact_ascii = 0x60;  // compact (bit 5) and ascii (bit 6)
}  // namespace layout

using ThreadState = void* (*)();                      // PyGILState_GetThisThreadState: needs no GIL
using LineOf = int (*)(void* code, int byte_offset);  // PyCode_Addr2Line: reads the line table only

// Both are null if the process has no CPython 3.11.
struct Interpreter {
  ThreadState thread_state;
  LineOf line_of;
};

// Threads may search at the same time. They find the same.
Interpreter find_interpreter() noexcept {
  static constinit std::atomic<ThreadState> thread_state{nullptr};
  static constinit std::atomic<LineOf> line_of{nullptr};
  static constinit std::atomic<bool> looked{false};
  if (!looked.load(std::memory_order_acquire)) {
    const auto* version = static_cast<const unsigned long*>(dlsym(RTLD_DEFAULT, "Py_Version"));
    void* const state_symbol = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    void* const line_symbol = dlsym(RTLD_DEFAULT, "PyCode_Addr2Line");
    if (version != nullptr && (*version >> 16) == 0x030b && state_symbol != nullptr && line_symbol != nullptr) {
      thread_state.store(reinterpret_cast<ThreadState>(state_symbol), std::memory_order_relaxed);
      line_of.store(reinterpret_cast<LineOf>(line_symbol), std::memory_order_relaxed);
    }
    looked.store(true, std::memory_order_release);
  }
  return {thread_state.load(std::memory_order_relaxed), line_of.load(std::memory_order_relaxed)};
}

template <class T>
T field(const void* object, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}

// The interpreter frame that this thread executes; nullptr outside Python.
const void* current_frame(const Interpreter& python) noexcept {
  if (python.thread_state == nullptr) return nullptr;
  const void* thread = python.thread_state();
  const void* cframe = thread == nullptr ? nullptr : field<const void*>(thread, layout::thread_cframe);
  return cframe == nullptr ? nullptr : field<const void*>(cframe, layout::cframe_current);
}

// The text of a str object: in place if it is ASCII, else its UTF-8 form if one was made before.
void text_of(const void* object, const char*& data, std::size_t& bytes) noexcept {
  data = "";
  bytes = 0;
  if (object == nullptr) return;
  const auto state = field<std::uint32_t>(object, layout::text_state);
  if ((state & layout::state_compact_ascii) == layout::state_compact_ascii) {
    data = static_cast<const char*>(object) + layout::ascii_data;
    bytes = field<std::size_t>(object, layout::text_length);
  } else if (const char* utf8 = field<const char*>(object, layout::compact_utf8)) {
    data = utf8;
    bytes = field<std::size_t>(object, layout::compact_utf8_length);
  }
}

}  // namespace

unsigned python_stack(PythonFrame (&out)[max_python_frames]) noexcept {
  const void* frame = current_frame(find_interpreter());
  unsigned depth = 0;
  for (; frame != nullptr && depth < max_python_frames; frame = field<const void*>(frame, layout::frame_previous)) {
    const auto instruction = field<std::uint64_t>(frame, layout::frame_instruction);
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
  if (python.line_of == nullptr) return out;
  void* code = field<void*>(frame.frame, layout::frame_code);
  const auto offset = field<std::uintptr_t>(frame.frame, layout::frame_instruction) -
                      (reinterpret_cast<std::uintptr_t>(code) + layout::code_instructions);
  const int line = python.line_of(code, static_cast<int>(offset));
  text_of(field<const void*>(code, layout::code_file), out.file, out.file_bytes);
  text_of(field<const void*>(code, layout::code_qualified_name), out.function, out.function_bytes);
  out.line = line < 0 ? 0 : static_cast<std::uint32_t>(line);
  return out;
}

}  // namespace tare::stack
