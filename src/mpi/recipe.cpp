#include "mpi/recipe.h"

#include <atomic>
#include <cstring>

#include "mpi/modules.h"
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
    std::uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte;
    do {
      byte = *at++;
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
    } while ((byte & 0x80) != 0);
    if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
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

// False also for signal frames ('S'): their callers were interrupted, and called nothing.
bool read_augmentation(Cursor& in, const char* letters, Common& out) noexcept {
  const std::uint64_t bytes = in.uleb();
  const unsigned char* end = in.at + bytes;
  for (const char* letter = letters; *letter != '\0'; ++letter) {
    if (*letter == 'R') {
      out.pointer_encoding = *in.at++;
    } else if (*letter == 'P') {
      const unsigned char encoding = *in.at++;
      in.skip_pointer(encoding);
    } else if (*letter == 'L') {
      ++in.at;
    } else if (*letter == 'S') {
      return false;
    }
  }
  in.at = end;
  return true;
}

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
  out.pointer_encoding = 0;
  out.augmented = augmentation[0] == 'z';
  if (out.augmented && !read_augmentation(in, augmentation + 1, out)) return false;
  out.program = in.at;
  return true;
}

// Where a register's old value is, in one row of the table.
struct Rule {
  enum Kind : std::uint8_t { same, undefined, at_cfa, at_base, unknown } kind = same;
  std::int64_t offset = 0;
};

// One row of the table.
struct Rules {
  std::uint64_t cfa_register = ~std::uint64_t{0};
  std::int64_t cfa_offset = 0;
  bool cfa_loaded = false;
  bool cfa_known = true;
  Rule base;
  Rule return_address;

  void set(std::uint64_t reg, Rule rule) noexcept {
    if (reg == base_register) base = rule;
    if (reg == return_register) return_address = rule;
  }
  void set_cfa(std::uint64_t reg, std::int64_t offset) noexcept {
    cfa_register = reg;
    cfa_offset = offset;
    cfa_loaded = false;
    cfa_known = true;
  }
};

// Call frame instructions (DWARF 5, section 6.4.2; numbers in section 7.24).
class Program {
 public:
  Program(const Common& common, const Rules& initial) noexcept : common_(common), initial_(initial) {}

  // Runs until the instructions pass `target` bytes into the function. False if one is not understood.
  bool run(const unsigned char* program, const unsigned char* end, std::uint64_t target, Rules& rules) noexcept {
    Cursor in{program};
    location_ = 0;
    while (in.at < end && location_ <= target)
      if (!step(in, rules)) return false;
    return true;
  }

 private:
  static constexpr unsigned most_saved = 8;

  bool step(Cursor& in, Rules& rules) noexcept {
    const unsigned char op = *in.at++;
    const std::uint64_t low = op & 0x3f;
    switch (op >> 6) {
      case 1:  // advance_loc
        return advance(low);
      case 2:  // offset
        rules.set(low, {Rule::at_cfa, factored(static_cast<std::int64_t>(in.uleb()))});
        return true;
      case 3:  // restore
        restore(low, rules);
        return true;
      default:
        return op >= 0x0c && op <= 0x13 && op != 0x10 && op != 0x11 ? define_cfa(op, in, rules) : other(op, in, rules);
    }
  }

  bool define_cfa(unsigned char op, Cursor& in, Rules& rules) noexcept {
    switch (op) {
      case 0x0c: {  // def_cfa
        const std::uint64_t reg = in.uleb();
        rules.set_cfa(reg, static_cast<std::int64_t>(in.uleb()));
        return true;
      }
      case 0x0d:  // def_cfa_register
        rules.cfa_register = in.uleb();
        return true;
      case 0x0e:  // def_cfa_offset
        rules.cfa_offset = static_cast<std::int64_t>(in.uleb());
        return true;
      case 0x0f:  // def_cfa_expression
        return cfa_expression(in, rules);
      case 0x12: {  // def_cfa_sf
        const std::uint64_t reg = in.uleb();
        rules.set_cfa(reg, factored(in.sleb()));
        return true;
      }
      case 0x13:  // def_cfa_offset_sf
        rules.cfa_offset = factored(in.sleb());
        return true;
      default:
        return false;
    }
  }

  bool other(unsigned char op, Cursor& in, Rules& rules) noexcept {
    switch (op) {
      case 0x00:  // nop
      case 0x2d:  // GNU_window_save; on aarch64 negate_ra_state
        return true;
      case 0x02:  // advance_loc1, 2, 4
        return advance(in.fixed<std::uint8_t>());
      case 0x03:
        return advance(in.fixed<std::uint16_t>());
      case 0x04:
        return advance(in.fixed<std::uint32_t>());
      case 0x05: {  // offset_extended
        const std::uint64_t reg = in.uleb();
        rules.set(reg, {Rule::at_cfa, factored(static_cast<std::int64_t>(in.uleb()))});
        return true;
      }
      case 0x06:  // restore_extended
        restore(in.uleb(), rules);
        return true;
      case 0x07:  // undefined
        rules.set(in.uleb(), {Rule::undefined, 0});
        return true;
      case 0x08:  // same_value
        rules.set(in.uleb(), {Rule::same, 0});
        return true;
      case 0x09: {  // register
        rules.set(in.uleb(), {Rule::unknown, 0});
        in.uleb();
        return true;
      }
      case 0x0a:  // remember_state
        if (saved_ == most_saved) return false;
        states_[saved_++] = rules;
        return true;
      case 0x0b:  // restore_state
        if (saved_ == 0) return false;
        rules = states_[--saved_];
        return true;
      case 0x10:  // expression
        expression(in, rules);
        return true;
      case 0x11: {  // offset_extended_sf
        const std::uint64_t reg = in.uleb();
        rules.set(reg, {Rule::at_cfa, factored(in.sleb())});
        return true;
      }
      case 0x14: {  // val_offset
        rules.set(in.uleb(), {Rule::unknown, 0});
        in.uleb();
        return true;
      }
      case 0x15: {  // val_offset_sf
        rules.set(in.uleb(), {Rule::unknown, 0});
        in.sleb();
        return true;
      }
      case 0x16: {  // val_expression
        rules.set(in.uleb(), {Rule::unknown, 0});
        const std::uint64_t bytes = in.uleb();
        in.at += bytes;
        return true;
      }
      case 0x2e:  // GNU_args_size
        in.uleb();
        return true;
      default:
        return false;
    }
  }

  // Functions that realign their stack keep its old value in their frame, and say so by expressions:
  // the value at frame pointer + n. Other expressions are not understood.
  static constexpr unsigned char base_plus = 0x70 + base_register;  // DW_OP_breg<n>
  static constexpr unsigned char dereference = 0x06;                // DW_OP_deref

  static bool cfa_expression(Cursor& in, Rules& rules) noexcept {
    const std::uint64_t bytes = in.uleb();
    const unsigned char* end = in.at + bytes;
    Cursor code{in.at};
    in.at = end;
    rules.cfa_known = false;
    if (bytes < 3 || *code.at++ != base_plus) return true;
    const std::int64_t offset = code.sleb();
    if (code.at + 1 != end || *code.at != dereference) return true;
    rules.set_cfa(base_register, offset);
    rules.cfa_loaded = true;
    return true;
  }

  static void expression(Cursor& in, Rules& rules) noexcept {
    const std::uint64_t reg = in.uleb();
    const std::uint64_t bytes = in.uleb();
    const unsigned char* end = in.at + bytes;
    Cursor code{in.at};
    in.at = end;
    Rule rule{Rule::unknown, 0};
    if (bytes >= 2 && *code.at++ == base_plus) {
      const std::int64_t offset = code.sleb();
      if (code.at == end) rule = {Rule::at_base, offset};
    }
    rules.set(reg, rule);
  }

  bool advance(std::uint64_t delta) noexcept {
    location_ += delta * common_.code_align;
    return true;
  }
  std::int64_t factored(std::int64_t offset) const noexcept { return offset * common_.data_align; }
  void restore(std::uint64_t reg, Rules& rules) const noexcept {
    rules.set(reg, reg == base_register ? initial_.base : initial_.return_address);
  }

  const Common& common_;
  const Rules& initial_;
  std::uint64_t location_ = 0;
  Rules states_[most_saved];
  unsigned saved_ = 0;
};

Recipe recipe_from(const Rules& rules) noexcept {
  Recipe recipe{};
  if (rules.return_address.kind == Rule::undefined) {
    recipe.flags = Recipe::outermost;
    return recipe;
  }
  const bool known_register = rules.cfa_register == stack_register || rules.cfa_register == base_register;
  const bool base_known = rules.base.kind != Rule::unknown;
  if (!rules.cfa_known || !known_register || !base_known || rules.return_address.kind != Rule::at_cfa) return recipe;
  recipe.cfa_offset = static_cast<std::int32_t>(rules.cfa_offset);
  recipe.return_offset = static_cast<std::int32_t>(rules.return_address.offset);
  recipe.base_offset = static_cast<std::int32_t>(rules.base.offset);
  unsigned flags = Recipe::usable;
  if (rules.cfa_register == base_register) flags |= Recipe::from_base;
  if (rules.cfa_loaded) flags |= Recipe::loaded;
  if (rules.base.kind == Rule::at_cfa) flags |= Recipe::base_saved;
  if (rules.base.kind == Rule::at_base) flags |= Recipe::base_saved | Recipe::base_at_base;
  recipe.flags = static_cast<std::uint8_t>(flags);
  return recipe;
}

// The frame description entry of a function, and what it shares with others.
Recipe from_entry(const unsigned char* fde, std::uint64_t target) noexcept {
  Cursor in{fde};
  const auto length = in.fixed<std::uint32_t>();
  if (length == 0 || length == 0xffffffffU) return {};
  const unsigned char* end = in.at + length;
  const unsigned char* id_at = in.at;
  const auto back = in.fixed<std::int32_t>();
  Common common{};
  if (!read_common(id_at - back, common)) return {};
  in.skip_pointer(common.pointer_encoding);
  in.skip_pointer(common.pointer_encoding & 0x0f);
  if (common.augmented) {
    const std::uint64_t bytes = in.uleb();
    in.at += bytes;
  }
  const Rules nothing;
  Rules initial;
  if (!Program(common, nothing).run(common.program, common.program_end, UINT64_MAX, initial)) return {};
  Rules rules = initial;
  if (!Program(common, initial).run(in.at, end, target, rules)) return {};
  return recipe_from(rules);
}

Recipe::Place place_of(std::uintptr_t return_address) noexcept {
  const std::uint32_t number = module_of(return_address);
  if (number == unknown_module) return Recipe::elsewhere;
  switch (module(number).binding) {
    case Binding::fortran:
    case Binding::cxx:
      return Recipe::native_binding;
    case Binding::python:
      return Recipe::python_binding;
    case Binding::none:
      break;
  }
  switch (module(number).origin) {
    case Origin::program:
      return Recipe::program;
    case Origin::system:
      return Recipe::system;
    case Origin::interpreter:
      return Recipe::interpreter;
    case Origin::elsewhere:
      break;
  }
  return Recipe::elsewhere;
}

// Remembered recipes: an address has one of a few places. An entry is valid if its address matches before and after
// the copy; writers invalidate it first (a sequence lock of one word).
struct Entry {
  std::atomic<std::uintptr_t> address;
  std::atomic<std::uint64_t> offsets;  // cfa_offset, return_offset
  std::atomic<std::uint64_t> rest;     // base_offset, place, flags
};
constexpr unsigned ways = 4;
constexpr unsigned sets = 1024;
constinit Entry entries[sets][ways] = {};
constinit unsigned next_way = 0;
constinit recorder::SpinLock write_lock;

std::uint64_t pack(std::int32_t high, std::uint32_t low) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 | low;
}

bool copy(Entry& entry, std::uintptr_t address, Recipe& out) noexcept {
  if (entry.address.load(std::memory_order_acquire) != address) return false;
  const std::uint64_t offsets = entry.offsets.load(std::memory_order_relaxed);
  const std::uint64_t rest = entry.rest.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (entry.address.load(std::memory_order_relaxed) != address) return false;
  out = {static_cast<std::int32_t>(offsets >> 32), static_cast<std::int32_t>(offsets),
         static_cast<std::int32_t>(rest >> 32), static_cast<std::uint8_t>(rest),
         static_cast<Recipe::Place>(rest >> 8 & 0xff)};
  return true;
}

void remember(Entry* set, std::uintptr_t address, const Recipe& recipe) noexcept {
  write_lock.lock();
  Entry& entry = set[next_way++ % ways];
  entry.address.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  entry.offsets.store(pack(recipe.cfa_offset, static_cast<std::uint32_t>(recipe.return_offset)),
                      std::memory_order_relaxed);
  entry.rest.store(pack(recipe.base_offset, static_cast<std::uint32_t>(recipe.place) << 8 | recipe.flags),
                   std::memory_order_relaxed);
  entry.address.store(address, std::memory_order_release);
  write_lock.unlock();
}

}  // namespace

Recipe work_out(std::uintptr_t return_address) noexcept {
  dwarf_eh_bases bases{};
  // The call instruction is the one before: a call may be the last instruction of its function.
  const auto pc = return_address - 1;
  const auto* fde = static_cast<const unsigned char*>(_Unwind_Find_FDE(reinterpret_cast<void*>(pc), &bases));
  Recipe recipe{};
  if (fde != nullptr) recipe = from_entry(fde, pc - reinterpret_cast<std::uintptr_t>(bases.function));
  recipe.place = place_of(return_address);
  return recipe;
}

Recipe recipe_of(std::uintptr_t return_address) noexcept {
  Entry* set = entries[(return_address ^ (return_address >> 10) ^ (return_address >> 20)) % sets];
  Recipe recipe;
  for (unsigned way = 0; way < ways; ++way)
    if (copy(set[way], return_address, recipe)) return recipe;
  recipe = work_out(return_address);
  remember(set, return_address, recipe);
  return recipe;
}

void release_recipes() noexcept { write_lock.reset(); }

}  // namespace tare::mpi
