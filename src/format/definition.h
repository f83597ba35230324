// The definition log: what the numbers in records and rows mean. An append-only sequence of entries, each
// a DefinitionHead, its body, strings, and padding to a multiple of 8 bytes. The same bytes lie in the
// segment and, as the payload of definition chunks, on disk.
#pragma once

#include <cstdint>

namespace tare::format {

enum class DefinitionKind : std::uint16_t {
  module = 1,
  frame = 2,
  python_frame = 3,
  communicator = 4,
  communicator_name = 5,
  event_type = 6,
  group = 7,
  window = 8,
  window_name = 9,
  file = 10,
  thread = 11,
  site = 16,
  spell = 17,
};

// How a window was made: MPI_Win_create, MPI_Win_allocate, MPI_Win_allocate_shared, MPI_Win_create_dynamic.
enum class WindowFlavour : std::uint8_t { none = 0, create = 1, allocate = 2, shared = 3, dynamic = 4 };

struct DefinitionHead {
  DefinitionKind kind;
  std::uint16_t flags;  // as the kind says; 0 where it says nothing
  std::uint32_t bytes;  // of the whole entry, padding included
};

// Flag of modules and Python frames: part of the program itself, not of a library or an interpreter.
inline constexpr std::uint16_t of_program = 1;

// A loaded object. Address in memory = bias + address in the file. Flag: of_program.
struct ModuleDefinition {
  DefinitionHead head;
  std::uint32_t module;
  std::uint32_t path_bytes;
  std::uint64_t bias;
  std::uint32_t build_id_bytes;  // 0 to 20
  std::uint8_t build_id[20];
  // char path[path_bytes]
};
static_assert(sizeof(ModuleDefinition) == 48);

inline constexpr std::uint32_t no_module = UINT32_MAX;

// A place in native code where a function was called. `address` is in the module's file (in memory, where the module
// is unknown) and is a return address: the call instruction is the one before.
struct FrameDefinition {
  DefinitionHead head;
  std::uint32_t frame;
  std::uint32_t module;  // no_module if the address lies in none
  std::uint64_t address;
};
static_assert(sizeof(FrameDefinition) == 24);

// A place in Python code. Flag: of_program.
struct PythonFrameDefinition {
  DefinitionHead head;
  std::uint32_t frame;
  std::uint32_t line;
  std::uint32_t file_bytes;
  std::uint32_t function_bytes;
  // char file[file_bytes], char function[function_bytes]
};
static_assert(sizeof(PythonFrameDefinition) == 24);

inline constexpr unsigned max_frames = 32;  // of a call site

// Flags of sites.
enum SiteFlags : std::uint16_t {
  path_cut = 1,         // the stack goes on, but how is not known
  frames_left_out = 2,  // between the last frame, which is the first one in the program itself, and the one before it
};

// A call site: a call path, innermost frame first.
struct SiteDefinition {
  DefinitionHead head;
  std::uint32_t site;
  std::uint32_t frames;  // 1 to max_frames
  // u32 frame[frames]
};
static_assert(sizeof(SiteDefinition) == 16);

// Members of a group whose ranks in MPI_COMM_WORLD are first, first + stride, ... A member that is not in the
// world of the process is -1.
struct MemberRun {
  std::int32_t first;
  std::int32_t stride;
  std::uint32_t count;
};
static_assert(sizeof(MemberRun) == 12);

struct GroupDefinition {
  DefinitionHead head;
  std::uint32_t group;
  std::int32_t size;
  std::uint32_t runs;
  std::uint32_t reserved;
  // MemberRun members[runs]: in order of rank, counts add up to size
};
static_assert(sizeof(GroupDefinition) == 24);

struct CommunicatorDefinition {
  DefinitionHead head;
  std::uint32_t communicator;
  std::int32_t size;
  std::int32_t rank;
  std::int32_t remote_size;    // of an intercommunicator, else 0
  std::uint64_t key;           // equal on all members of one world; 0: not known
  std::uint32_t group;         // 0: not known
  std::uint32_t remote_group;  // of an intercommunicator, else 0
  std::uint32_t parent;        // communicator that it was made from, 0 if none
  std::uint32_t name_bytes;
  // char name[name_bytes]: as MPI_Comm_get_name says, empty if the program never named it
};
static_assert(sizeof(CommunicatorDefinition) == 48);

// A window or a file: a scope, beside a communicator, of one-sided and file operations. Communicators and scopes of a
// process are numbered together.
struct ScopeDefinition {
  DefinitionHead head;
  std::uint32_t scope;
  std::uint32_t communicator;  // that it was made with
  std::uint64_t key;           // equal for all members of the communicator; 0: not known
  WindowFlavour flavour;       // of a window
  std::uint8_t reserved[3];
  std::uint32_t name_bytes;
  // char name[name_bytes]: of a window as MPI_Win_set_name says, of a file as MPI_File_open was given it
};
static_assert(sizeof(ScopeDefinition) == 32);

// What a thread is called. May come again, with another name.
struct ThreadDefinition {
  DefinitionHead head;
  std::uint32_t thread;  // as in chunks of events
  std::uint32_t name_bytes;
  // char name[name_bytes]
};
static_assert(sizeof(ThreadDefinition) == 16);

// A new name for a communicator (MPI_Comm_set_name) or a window (MPI_Win_set_name) defined before.
struct NameDefinition {
  DefinitionHead head;
  std::uint32_t number;
  std::uint32_t name_bytes;
  // char name[name_bytes]
};
static_assert(sizeof(NameDefinition) == 16);

// What an event of the API is.
enum class EventClass : std::uint8_t {
  regular = 0,
  packed = 1,
  raw = 2,
  region = 3,
  counter = 4,
  marker = 5,
  phase = 6
};

// How 8 bytes of a parameter are to be read. Regions and phases: 1 begin, 0 end. Counters: f64.
enum class ParameterType : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

struct EventTypeDefinition {
  DefinitionHead head;
  std::uint32_t type;
  EventClass event_class;
  std::uint8_t parameters;  // 0 to 10
  std::uint16_t name_bytes;
  ParameterType parameter_types[10];
  std::uint16_t unit_bytes;  // of a counter
  std::uint32_t reserved;
  // char name[name_bytes], char unit[unit_bytes]
};
static_assert(sizeof(EventTypeDefinition) == 32);

// Flags of spells.
enum SpellFlags : std::uint16_t {
  unmeasured_spell = 1,  // calls were only counted
  // Requests were under way when it began: in an unmeasured one calls of requests are measured; in a traced one behind
  // a gap it is not known which messages they take. Of other spells it is not said.
  spell_with_requests = 2,
  traced_spell = 4,    // calls were in the trace, too
  cut_spell = 8,       // less was kept of its end than of its start
  control_spell = 16,  // chosen at random to be compared with: calls were only counted
  // Behind a gap in the trace a spell is also written at its begin, as it then is: a process may be killed in it. Where
  // it ends, it is written again.
  unfinished_spell = 32,
};

// A spell (recorder/spells.h), written at its end: what the first thread of a process did between two passages.
// The same spell of another rank has the same number and length.
struct SpellDefinition {
  DefinitionHead head;
  std::uint32_t spell;       // from 1
  std::uint32_t passages;    // that it is long
  std::uint32_t first_site;  // call site of the passage at its start; 0: the program has named it
  std::uint32_t last_site;
  std::uint64_t begin;  // ticks
  std::uint64_t ticks;
  std::uint64_t flush_ticks;     // of them writing out event buffers
  std::uint64_t measured_calls;  // polls included
  std::uint64_t counted_calls;   // of others: only counted
  std::uint64_t counted_polls;   // of the counted ones
};
static_assert(sizeof(SpellDefinition) == 72);

}  // namespace tare::format
