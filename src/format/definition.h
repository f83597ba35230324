// The definition log says what the numbers in records and rows mean. It is an append-only sequence of entries. An entry
// consists of a DefinitionHead, its body, strings, and padding to a multiple of 8 bytes. The same bytes lie in the
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
  executable = 12,
  site = 16,
  spell = 17,
};

// How a window was made: MPI_Win_create, MPI_Win_allocate, MPI_Win_allocate_shared, MPI_Win_create_dynamic.
enum class WindowFlavour : std::uint8_t { none = 0, create = 1, allocate = 2, shared = 3, dynamic = 4 };

struct DefinitionHead {
  DefinitionKind kind;
  std::uint16_t flags;  // depends on the kind; 0 for kinds without flags
  std::uint32_t bytes;  // of the whole entry, padding included
};

// Flag of modules and Python frames: part of the program itself, and not of a library or an interpreter.
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

// A place in native code that calls a function. `address` is the return address, as an address in the module's file (in
// memory, if the module is unknown). The call instruction ends there.
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

inline constexpr unsigned max_frames = 32;         // of a call site
inline constexpr unsigned max_stack_frames = 128;  // of a stack sample

// Flags of sites.
enum SiteFlags : std::uint16_t {
  path_cut = 1,         // the stack continues, but cannot be walked further
  frames_left_out = 2,  // before the last frame, which is the first one in the program itself
  of_stack = 4,  // no call site, but a whole stack: the innermost frame is where a thread was interrupted. Its address
                 // is one more than that of the instruction, as if that were a call
};

// A call site: a call path, innermost frame first.
struct SiteDefinition {
  DefinitionHead head;
  std::uint32_t site;
  std::uint32_t frames;  // 1 to max_frames; with the flag of_stack to max_stack_frames
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

// Flag of groups: some epoch of one-sided accesses has it. The entry may follow one without the flag.
inline constexpr std::uint16_t of_epoch = 1;

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
  std::uint32_t parent;        // the communicator that it was made from; 0: none
  std::uint32_t name_bytes;
  // char name[name_bytes]: as MPI_Comm_get_name says, empty if the program never named it
};
static_assert(sizeof(CommunicatorDefinition) == 48);

// A window or a file: a scope of one-sided or file operations, in addition to a communicator. Communicators and scopes
// of a process are numbered together.
struct ScopeDefinition {
  DefinitionHead head;
  std::uint32_t scope;
  std::uint32_t communicator;  // the one that it was made with
  std::uint64_t key;           // equal for all members of the communicator; 0: not known
  WindowFlavour flavour;       // of a window
  std::uint8_t reserved[3];
  std::uint32_t name_bytes;
  // char name[name_bytes]: of a window as MPI_Win_set_name says, of a file as MPI_File_open was given it
};
static_assert(sizeof(ScopeDefinition) == 32);

// The name of a thread. A thread may have several definitions, one for each name.
struct ThreadDefinition {
  DefinitionHead head;
  std::uint32_t thread;  // as in chunks of events
  std::uint32_t name_bytes;
  // char name[name_bytes]
};
static_assert(sizeof(ThreadDefinition) == 16);

// The path of the executable, if it is too long for ProcessRecord::executable.
struct ExecutableDefinition {
  DefinitionHead head;
  std::uint32_t path_bytes;
  std::uint32_t reserved;
  // char path[path_bytes]
};
static_assert(sizeof(ExecutableDefinition) == 16);

// A new name for a communicator (MPI_Comm_set_name) or a window (MPI_Win_set_name) defined before.
struct NameDefinition {
  DefinitionHead head;
  std::uint32_t number;
  std::uint32_t name_bytes;
  // char name[name_bytes]
};
static_assert(sizeof(NameDefinition) == 16);

// The class of an event of the API.
enum class EventClass : std::uint8_t {
  regular = 0,
  packed = 1,
  raw = 2,
  region = 3,
  counter = 4,
  marker = 5,
  phase = 6
};

// How to read the 8 bytes of a parameter. Regions and phases: 1 begin, 0 end. Counters: f64.
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
  // Requests were under way when it began. In an unmeasured spell, calls on requests are then measured. In a traced
  // spell after a gap, it is then not known which messages these requests take. Not set in other spells.
  spell_with_requests = 2,
  traced_spell = 4,    // calls were also recorded in the trace
  cut_spell = 8,       // its depth was lowered before its end
  control_spell = 16,  // chosen at random for comparisons: calls were only counted
  // The process may be killed in a traced spell. So a spell that ends a gap in the trace is also written when it
  // begins, and any traced spell when spell_completes_unknown becomes true. They are written again when they end.
  unfinished_spell = 32,
  // A request completed in it whose start was not recorded: a call that was only counted had started it. So it is not
  // known which messages such requests took in this spell and earlier ones. Not set in unmeasured spells.
  spell_completes_unknown = 64,
  // It has a length in time, not in synchronisation points: its ends are call counts of this process alone.
  timed_spell = 128,
};

// A spell (recorder/spells.h): what the first thread of a process did between two synchronisation points. Written when
// it ends. On other ranks, the same spell has the same number and length; of the same node, if it is a timed one.
struct SpellDefinition {
  DefinitionHead head;
  std::uint32_t spell;        // from 1
  std::uint32_t sync_points;  // its length; 0: a timed spell
  std::uint32_t first_site;   // call site of the synchronisation point at its start; 0: tare_progress()
  std::uint32_t last_site;
  std::uint64_t begin;  // ticks
  std::uint64_t ticks;
  std::uint64_t flush_ticks;     // of `ticks`, those in which event buffers were written out
  std::uint64_t measured_calls;  // polls included
  std::uint64_t counted_calls;   // further calls, which were only counted
  std::uint64_t counted_polls;   // of the counted ones
  std::uint64_t counted_ticks;   // of `ticks`, those in which calls were only counted, without the call that ends it
};
static_assert(sizeof(SpellDefinition) == 80);
// Earlier entries end before counted_ticks.
inline constexpr std::size_t short_spell_bytes = 72;

}  // namespace tare::format
