#include "mpi/unwind.h"

#include <atomic>
#include <cstring>

#include "recorder/system.h"

// The compiler's own unwinder finds the table entry; it is linked in with the runtime.
struct dwarf_eh_bases {
  void* text;
  void* data;
  void* function;
};
extern "C" const void* _Unwind_Find_FDE(void* address, dwarf_eh_bases* bases);

namespace tare::mpi {
namespace {

#if defined(__x86_64__)
constexpr unsigned base_register = 6;   // rbp, in DWARF's numbering (System V ABI, figure 3.36)
constexpr unsigned stack_register = 7;  // rsp
constexpr unsigned return_register = 16;
#elif defined(__aarch64__)
constexpr unsigned base_register = 29;
constexpr unsigned stack_register = 31;
constexpr unsigned return_register = 30;
#endif

// How to get from a frame to its caller. Offsets are from the canonical frame address (CFA), in bytes.
struct Recipe {
  std::int32_t cfa_offset;     // CFA = register + this
  std::int32_t return_offset;  // the return address lies at CFA + this
  std::int32_t base_offset;    // the caller's frame pointer at CFA + this; 0: unchanged
  bool from_base;              // CFA is relative to the frame pointer, not the stack pointer
  bool usable;
};

// Little readers of DWARF's encodings.
struct Cursor {
  const unsigned char* at;

  template <class T>
  T fixed() noexcept {
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  }
  std::uint64_t uleb() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const unsigned char byte = *at++;
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t sleb() noexcept {
    std::int64_t value = 0;
    unsigned shift = 0;
    unsigned char byte;
    do {
      byte = *at++;
      if (shift < 64) value |= static_cast<std::int64_t>(byte & 0x7f) << shift;
      shift += 7;
    } while ((byte & 0x80) != 0);
    if (shift < 64 && (byte & 0x40) != 0) value |= -(std::int64_t{1} << shift);
    return value;
  }
  // Skips an encoded pointer (DW_EH_PE_*); its value does not matter here.
  void skip_pointer(unsigned char encoding) noexcept {
    switch (encoding & 0x0f) {
      case 0x00:
        at += sizeof(void*);
        break;
      case 0x01:
        uleb();
        break;
      case 0x02:
      case 0x0a:
        at += 2;
        break;
      case 0x03:
      case 0x0b:
        at += 4;
        break;
      case 0x04:
      case 0x0c:
        at += 8;
        break;
      case 0x09:
        sleb();
        break;
      default:
        break;
    }
  }
};

// What a common information entry says for its functions.
struct Common {
  std::uint64_t code_align;
  std::int64_t data_align;
  bool augmented;
  unsigned char pointer_encoding;
  const unsigned char* program;
  const unsigned char* program_end;
};

bool read_common(const unsigned char* cie, Common& out) noexcept {
  Cursor in{cie};
  const auto length = in.fixed<std::uint32_t>();
  if (length == 0 || length == 0xffffffffU) return false;
  out.program_end = in.at + length;
  in.at += 4;  // id
  const unsigned char version = *in.at++;
  const char* augmentation = reinterpret_cast<const char*>(in.at);
  in.at += std::strlen(augmentation) + 1;
  if (version != 1 && version != 3) return false;
  out.code_align = in.uleb();
  out.data_align = in.sleb();
  if (version == 1)
    ++in.at;
  else
    in.uleb();  // return address register
  out.augmented = augmentation[0] == 'z';
  out.pointer_encoding = 0;
  if (out.augmented) {
    const std::uint64_t bytes = in.uleb();
    const unsigned char* end = in.at + bytes;
    for (const char* letter = augmentation + 1; *letter != '\0'; ++letter) {
      if (*letter == 'R') {
        out.pointer_encoding = *in.at++;
      } else if (*letter == 'P') {
        const unsigned char encoding = *in.at++;
        in.skip_pointer(encoding);
      } else if (*letter == 'L') {
        ++in.at;
      } else if (*letter == 'S') {
        return false;  // a signal frame: its caller was not called
      }
    }
    in.at = end;
  }
  out.program = in.at;
  return true;
}

// The rules of one row of the table. An offset that is no_rule: the register keeps its value.
constexpr std::int64_t no_rule = INT64_MIN;
struct Rules {
  unsigned cfa_register = 0;
  std::int64_t cfa_offset = 0;
  std::int64_t base = no_rule;
  std::int64_t return_address = no_rule;
  bool usable = true;

  void set(std::uint64_t reg, std::int64_t offset) noexcept {
    if (reg == base_register) base = offset;
    if (reg == return_register) return_address = offset;
  }
};

// Runs call frame instructions until they pass `target` bytes into the function (DWARF 5, section 6.4.2).
// `initial` are the rules that DW_CFA_restore goes back to.
void run(const unsigned char* program, const unsigned char* end, const Common& common, std::uint64_t target,
         const Rules& initial, Rules& rules) noexcept {
  Cursor in{program};
  std::uint64_t location = 0;
  Rules saved[4];
  unsigned depth = 0;
  const auto advance = [&](std::uint64_t delta) { location += delta * common.code_align; };
  while (in.at < end && location <= target && rules.usable) {
    const unsigned char op = *in.at++;
    const unsigned low = op & 0x3f;
    Rules next = rules;
    switch (op >> 6) {
      case 1:  // DW_CFA_advance_loc
        advance(low);
        continue;
      case 2:  // DW_CFA_offset
        rules.set(low, static_cast<std::int64_t>(in.uleb()) * common.data_align);
        continue;
      case 3:  // DW_CFA_restore
        rules.set(low, low == base_register ? initial.base : initial.return_address);
        continue;
      default:
        break;
    }
    switch (op) {
      case 0x00:
        break;  // nop
      case 0x02:
        advance(in.fixed<std::uint8_t>());
        break;  // advance_loc1
      case 0x03:
        advance(in.fixed<std::uint16_t>());
        break;  // advance_loc2
      case 0x04:
        advance(in.fixed<std::uint32_t>());
        break;      // advance_loc4
      case 0x05: {  // offset_extended
        const std::uint64_t reg = in.uleb();
        rules.set(reg, static_cast<std::int64_t>(in.uleb()) * common.data_align);
        break;
      }
      case 0x06: {  // restore_extended
        const std::uint64_t reg = in.uleb();
        rules.set(reg, reg == base_register ? initial.base : initial.return_address);
        break;
      }
      case 0x07:
      case 0x08: {  // undefined, same_value
        rules.set(in.uleb(), no_rule);
        break;
      }
      case 0x0a:  // remember_state
        if (depth == 4)
          rules.usable = false;
        else
          saved[depth++] = rules;
        break;
      case 0x0b:  // restore_state
        if (depth == 0)
          rules.usable = false;
        else
          rules = saved[--depth];
        break;
      case 0x0c:  // def_cfa
        next.cfa_register = static_cast<unsigned>(in.uleb());
        next.cfa_offset = static_cast<std::int64_t>(in.uleb());
        rules = next;
        break;
      case 0x0d:  // def_cfa_register
        rules.cfa_register = static_cast<unsigned>(in.uleb());
        break;
      case 0x0e:  // def_cfa_offset
        rules.cfa_offset = static_cast<std::int64_t>(in.uleb());
        break;
      case 0x11: {  // offset_extended_sf
        const std::uint64_t reg = in.uleb();
        rules.set(reg, in.sleb() * common.data_align);
        break;
      }
      case 0x12:  // def_cfa_sf
        rules.cfa_register = static_cast<unsigned>(in.uleb());
        rules.cfa_offset = in.sleb() * common.data_align;
        break;
      case 0x13:  // def_cfa_offset_sf
        rules.cfa_offset = in.sleb() * common.data_align;
        break;
      case 0x2d:
        break;  // GNU_window_save, on aarch64: negate_ra_state
      case 0x2e:
        in.uleb();
        break;  // GNU_args_size
      default:  // expressions and registers kept in registers
        rules.usable = false;
    }
  }
}

Recipe work_out(std::uintptr_t return_address) noexcept {
  Recipe recipe{};
  dwarf_eh_bases bases{};
  // The call instruction is the one before: a call may be the last instruction of its function.
  const auto pc = return_address - 1;
  const auto* fde = static_cast<const unsigned char*>(_Unwind_Find_FDE(reinterpret_cast<void*>(pc), &bases));
  if (fde == nullptr) return recipe;
  Cursor in{fde};
  const auto length = in.fixed<std::uint32_t>();
  if (length == 0 || length == 0xffffffffU) return recipe;
  const unsigned char* end = in.at + length;
  const unsigned char* id_at = in.at;
  const auto back = in.fixed<std::int32_t>();
  Common common{};
  if (!read_common(id_at - back, common)) return recipe;
  in.skip_pointer(common.pointer_encoding);
  in.skip_pointer(common.pointer_encoding & 0x0f);
  if (common.augmented) {
    const std::uint64_t bytes = in.uleb();
    in.at += bytes;
  }
  const std::uint64_t target = pc - reinterpret_cast<std::uintptr_t>(bases.function);
  Rules initial;
  run(common.program, common.program_end, common, UINT64_MAX, Rules{}, initial);
  Rules rules = initial;
  run(in.at, end, common, target, initial, rules);
  const bool known_register = rules.cfa_register == stack_register || rules.cfa_register == base_register;
  if (!rules.usable || !known_register || rules.return_address == no_rule) return recipe;
  recipe.cfa_offset = static_cast<std::int32_t>(rules.cfa_offset);
  recipe.return_offset = static_cast<std::int32_t>(rules.return_address);
  recipe.base_offset = rules.base == no_rule ? 0 : static_cast<std::int32_t>(rules.base);
  recipe.from_base = rules.cfa_register == base_register;
  recipe.usable = true;
  return recipe;
}

// Remembered recipes: direct-mapped. An entry is valid if its address matches before and after the copy;
// writers invalidate it first (a sequence lock of one word).
struct Entry {
  std::atomic<std::uintptr_t> address;
  std::atomic<std::uint64_t> offsets;  // cfa_offset, return_offset
  std::atomic<std::uint64_t> rest;     // base_offset, flags
};
constexpr unsigned entries_count = 1024;
constinit Entry entries[entries_count] = {};
constinit recorder::SpinLock write_lock;

std::uint64_t pack(std::int32_t high, std::int32_t low) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 | static_cast<std::uint32_t>(low);
}

Recipe recipe_of(std::uintptr_t address) noexcept {
  Entry& entry = entries[(address ^ (address >> 10)) % entries_count];
  if (entry.address.load(std::memory_order_acquire) == address) {
    const std::uint64_t offsets = entry.offsets.load(std::memory_order_relaxed);
    const std::uint64_t rest = entry.rest.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (entry.address.load(std::memory_order_relaxed) == address)
      return {static_cast<std::int32_t>(offsets >> 32), static_cast<std::int32_t>(offsets),
              static_cast<std::int32_t>(rest >> 32), (rest & 1) != 0, (rest & 2) != 0};
  }
  const Recipe made = work_out(address);
  write_lock.lock();
  entry.address.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  entry.offsets.store(pack(made.cfa_offset, made.return_offset), std::memory_order_relaxed);
  entry.rest.store(pack(made.base_offset, (made.from_base ? 1 : 0) | (made.usable ? 2 : 0)), std::memory_order_relaxed);
  entry.address.store(address, std::memory_order_release);
  write_lock.unlock();
  return made;
}

std::uintptr_t load(std::uintptr_t address) noexcept { return *reinterpret_cast<const std::uintptr_t*>(address); }

}  // namespace

Frame caller_of(void* frame_address) noexcept {
  // With a frame pointer: [frame] holds the caller's, [frame + 8] the return address; the stack is above.
  const auto frame = reinterpret_cast<std::uintptr_t>(frame_address);
  return {load(frame + sizeof(void*)), frame + 2 * sizeof(void*), load(frame)};
}

bool step(Frame& frame) noexcept {
  const Recipe recipe = recipe_of(frame.return_address);
  if (!recipe.usable) return false;
  const std::uintptr_t cfa =
      (recipe.from_base ? frame.base : frame.stack) + static_cast<std::uintptr_t>(std::intptr_t{recipe.cfa_offset});
  if (cfa <= frame.stack) return false;  // stacks grow down: anything else is a wrong table
  frame.return_address = load(cfa + static_cast<std::uintptr_t>(std::intptr_t{recipe.return_offset}));
  if (recipe.base_offset != 0) frame.base = load(cfa + static_cast<std::uintptr_t>(std::intptr_t{recipe.base_offset}));
  frame.stack = cfa;
  return true;
}

}  // namespace tare::mpi
