// Frames of an interpreter that this program pretends to have: CPython 3.12, as its headers lay it out.
#include "stack/python_frame.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "stack/modules.h"

#define TARE_OF_PYTHON extern "C" __attribute__((visibility("default"), used))

TARE_OF_PYTHON const unsigned long Py_Version = 0x030c01f0;
TARE_OF_PYTHON const char PyCode_Type[16] = {};
TARE_OF_PYTHON const char PyUnicode_Type[16] = {};
TARE_OF_PYTHON const char PyBytes_Type[16] = {};

namespace tare::stack {
namespace {

struct Text {
  std::uint64_t references = 1;
  const void* type = PyUnicode_Type;
  std::uint64_t length = 0;
  std::uint64_t hash = 0;
  std::uint32_t state = 0x64;
  std::uint32_t unused = 0;
  char data[56] = "";
};
struct Bytes {
  std::uint64_t references = 1;
  const void* type = PyBytes_Type;
  std::uint64_t size = 0;
  std::uint64_t hash = 0;
  std::uint8_t data[32] = {};
};
struct Code {
  std::uint64_t references = 1;
  const void* type = PyCode_Type;
  std::uint64_t size = 8;
  char before_line[44] = {};
  std::int32_t first_line = 10;
  char before_file[40] = {};
  const void* file = nullptr;
  const void* name = nullptr;
  const void* qualified_name = nullptr;
  const void* lines = nullptr;
  char before_instructions[48] = {};
  std::uint16_t instructions[8] = {};
};
static_assert(offsetof(Text, data) == 40 && offsetof(Bytes, data) == 32 && offsetof(Code, first_line) == 68 &&
              offsetof(Code, file) == 112 && offsetof(Code, lines) == 136 && offsetof(Code, instructions) == 192);
struct InterpreterFrame {
  const void* code = nullptr;
  const InterpreterFrame* previous = nullptr;
  char before_instruction[40] = {};
  const void* instruction = nullptr;
  char before_owner[6] = {};
  unsigned char owner = 0;
};
static_assert(offsetof(InterpreterFrame, instruction) == 56 && offsetof(InterpreterFrame, owner) == 70);
constexpr unsigned char of_interpreter = 3;
struct FrameRecord {
  const InterpreterFrame* current = nullptr;
  const FrameRecord* previous = nullptr;
};
struct ThreadState {
  char before_record[56] = {};
  const FrameRecord* record = nullptr;
};

ThreadState thread;

Text text(std::string_view what) {
  Text made;
  made.length = what.copy(made.data, sizeof made.data);
  return made;
}

// A thread that executes inner(), which a function in C has called, which outer() has called.
class PythonStack : public testing::Test {
 protected:
  void SetUp() override {
    const std::uint8_t table[] = {0x80 | 10 << 3,     0,      0,        // one instruction, same line
                                  0x80 | 11 << 3 | 1, 0,      0,        // two, one line more
                                  0x80 | 13 << 3,     7,                // one, three lines less
                                  0x80 | 15 << 3,                       // one, none
                                  0x80 | 14 << 3,     8 | 64, 3, 0, 0,  // one, 100 lines more
                                  0x80 | 2 << 3 | 1,  0};               // two, same line
    std::copy(std::begin(table), std::end(table), lines.data);
    lines.size = sizeof table;
    for (Code* code : {&of_inner, &of_outer}) {
      code->file = &file;
      code->lines = &lines;
    }
    of_inner.qualified_name = &inner_name;
    of_outer.qualified_name = &outer_name;
    outer = {.code = &of_outer, .previous = &outer_entry, .instruction = of_outer.instructions};
    inner = {.code = &of_inner, .previous = &inner_entry, .instruction = of_inner.instructions + 1};
    inner_entry = {.previous = &outer, .owner = of_interpreter};
    outer_entry = {.owner = of_interpreter};
    record = {&inner, &record_before};
    record_before = {&outer, &first_record};
    thread.record = &record;
    look_for_python();
    loader_may_be_busy = true;  // as in a handler
  }
  void TearDown() override {
    loader_may_be_busy = false;
    thread.record = nullptr;
  }

  static unsigned depth() {
    std::array<PythonFrame, 8> frames;
    return python_stack(frames);
  }
  std::uint32_t line_at(int instruction) {
    inner.instruction = of_inner.instructions + instruction;
    TextRoom room;
    return source_of({&inner, 0}, room).line;
  }

  Text file = text("/home/user/program.py"), inner_name = text("inner"), outer_name = text("Class.outer");
  Bytes lines;
  Code of_inner, of_outer;
  InterpreterFrame inner, inner_entry, outer, outer_entry;
  FrameRecord record, record_before, first_record;
};

std::vector<const void*> not_there() {
  std::vector<const void*> all{mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};
  for (const std::uint64_t address :
       {std::uint64_t{1}, std::uint64_t{0x40}, std::uint64_t{0xfff}, std::uint64_t{0x1003}, std::uint64_t{1} << 47,
        std::uint64_t{0x5555} << 48, ~std::uint64_t{0}, std::uint64_t{0xffffffffff600000}, ~std::uint64_t{0} - 64})
    all.push_back(reinterpret_cast<const void*>(address));
  return all;
}

// Addresses that are no object, whatever is read there.
std::vector<const void*> no_objects() {
  static const std::uint64_t zeros[64] = {};
  std::vector<const void*> all = not_there();
  all.push_back(zeros);
  all.push_back(reinterpret_cast<const char*>(zeros) + 3);
  return all;
}

TEST_F(PythonStack, IsReadInACallAndInAHandlerAlike) {
  for (const bool in_handler : {false, true}) {
    loader_may_be_busy = in_handler;
    std::array<PythonFrame, 8> frames;
    ASSERT_EQ(python_stack(frames), 2U);
    EXPECT_EQ(frames[0].frame, &inner);
    EXPECT_EQ(frames[1].frame, &outer);
    EXPECT_EQ(frames[0].position, reinterpret_cast<std::uintptr_t>(of_inner.instructions + 1) | std::uint64_t{1} << 63);
    TextRoom room;
    const PythonSource source = source_of(frames[1], room);
    EXPECT_EQ(std::string(source.file, source.file_bytes), "/home/user/program.py");
    EXPECT_EQ(std::string(source.function, source.function_bytes), "Class.outer");
    EXPECT_EQ(source.line, 10U);
    EXPECT_TRUE(in_program(source));
    EXPECT_EQ(line_at(-1), 10U);  // before the first instruction: the first line
    const std::uint32_t expected[] = {10, 11, 11, 8, 0, 108, 108, 108, 0};
    for (int i = 8; i >= 0; --i) EXPECT_EQ(line_at(i), expected[i]) << i;
    inner.instruction = of_inner.instructions + 1;
  }
}

TEST_F(PythonStack, IsCutWhereThereIsNoMoreRoom) {
  std::array<PythonFrame, 1> frames;
  EXPECT_EQ(python_stack(frames), 1U);
}

TEST_F(PythonStack, EndsWhereNoPythonIsExecuted) {
  record = {};
  EXPECT_EQ(depth(), 0U);
}

TEST_F(PythonStack, OfARecordThatIsNotWrittenYet) {
  for (const void* address : no_objects()) {
    record.current = static_cast<const InterpreterFrame*>(address);
    EXPECT_EQ(depth(), 0U) << address;
    thread.record = static_cast<const FrameRecord*>(address);
    EXPECT_EQ(depth(), 0U) << address;
    thread.record = &record;
  }
  record.current = &inner;
  for (const void* address : not_there()) {
    record.previous = static_cast<const FrameRecord*>(address);
    EXPECT_EQ(depth(), 0U) << address;
  }
}

TEST_F(PythonStack, OfAFrameThatHasNotCalledThis) {
  InterpreterFrame other{.code = &of_inner, .previous = &outer_entry, .instruction = of_inner.instructions};
  record.current = &other;  // as is left of an earlier call
  EXPECT_EQ(depth(), 0U);
}

TEST_F(PythonStack, OfAFrameThatIsBeingEnteredOrLeft) {
  inner.previous = nullptr;
  EXPECT_EQ(depth(), 0U);
  record.previous = nullptr;  // nor does a record tell who has called it
  EXPECT_EQ(depth(), 0U);
  for (const void* address : no_objects()) {
    inner.previous = static_cast<const InterpreterFrame*>(address);
    EXPECT_EQ(depth(), 0U) << address;
  }
  inner.previous = &inner_entry;
  inner_entry.previous = &inner_entry;
  EXPECT_EQ(depth(), 0U);
}

TEST_F(PythonStack, OfWhatIsNoCode) {
  for (const void* address : no_objects()) {
    inner.code = address;
    EXPECT_EQ(depth(), 0U) << address;
  }
  inner.code = &file;
  EXPECT_EQ(depth(), 0U);
}

TEST_F(PythonStack, OfAnInstructionOfOtherCode) {
  for (const int instruction : {-2, 8, 1000}) {
    inner.instruction = of_inner.instructions + instruction;
    EXPECT_EQ(depth(), 0U) << instruction;
  }
  for (const int instruction : {-1, 7}) {
    inner.instruction = of_inner.instructions + instruction;
    EXPECT_EQ(depth(), 2U) << instruction;
  }
}

TEST_F(PythonStack, OfCodeThatHasBeenFreed) {
  TextRoom room;
  for (const void* address : no_objects()) {
    of_inner.file = of_inner.qualified_name = of_inner.lines = address;
    const PythonSource source = source_of({&inner, 0}, room);
    EXPECT_EQ(source.file_bytes + source.function_bytes + source.line, 0U) << address;
  }
  file.length = lines.size = std::uint64_t{1} << 40;
  of_inner.file = &file;
  of_inner.lines = &lines;
  inner_name.state = 0;  // its text is elsewhere
  of_inner.qualified_name = &inner_name;
  const PythonSource source = source_of({&inner, 0}, room);
  EXPECT_EQ(source.file_bytes + source.function_bytes + source.line, 0U);
}

TEST_F(PythonStack, OfTextThatIsNotAscii) {
  TextRoom room;
  const auto name = [&] {
    const PythonSource source = source_of({&inner, 0}, room);
    return std::string(source.function, source.function_bytes);
  };
  const auto as_units = [&](const auto& characters, std::uint32_t kind) {
    inner_name.length = std::size(characters);
    inner_name.state = 0x20 | kind << 2;
    std::memcpy(inner_name.data + 16, std::data(characters),
                sizeof characters);  // behind the length and the UTF-8 form
  };
  for (const bool in_handler : {false, true}) {
    loader_may_be_busy = in_handler;
    as_units(std::to_array<std::uint8_t>({'m', 0xe9, 0x7f, 0x80, 0xff}), 1);
    EXPECT_EQ(name(), "m\u00e9\x7f\u0080\u00ff");
    as_units(std::to_array<std::uint16_t>({'x', 0x7ff, 0x800, 0xd7ff, 0xdc80, 0xe000, 0xffff}), 2);
    EXPECT_EQ(name(), "x\u07ff\u0800\ud7ff\ufffd\ue000\uffff");
    as_units(std::to_array<std::uint32_t>({0x10000, 0x1f600, 0x10ffff, 0x110000, 0xe9}), 4);
    EXPECT_EQ(name(), "\U00010000\U0001f600\U0010ffff\ufffd\u00e9");
    inner_name.state = 0x20 | 3 << 2;  // there is no such size
    EXPECT_EQ(name(), "");
  }
}

TEST_F(PythonStack, OfTextThatIsTooLong) {
  struct {
    Text head;
    std::uint16_t more[1024];
  } long_name;
  auto* const characters = reinterpret_cast<std::uint16_t*>(long_name.head.data + 16);
  std::fill_n(characters, 1000, std::uint16_t{0x20ac});
  long_name.head.length = 1000;
  long_name.head.state = 0x20 | 2 << 2;
  of_inner.qualified_name = &long_name;
  TextRoom room;
  const PythonSource source = source_of({&inner, 0}, room);
  EXPECT_EQ(source.function_bytes, sizeof room.function / 3 * 3);  // of whole characters
}

}  // namespace
}  // namespace tare::stack

TARE_OF_PYTHON void* PyGILState_GetThisThreadState() { return &tare::stack::thread; }
