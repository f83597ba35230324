#include "stack/frame_rules.h"

#include <cstring>

namespace tare::stack {
namespace {

// Readers of DWARF's encodings.
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

// What a common information entry (CIE) says for its functions.
struct Common {
  std::uint64_t code_align;
  std::int64_t data_align;
  bool augmented;
  unsigned char pointer_encoding;
  const unsigned char* program;
  const unsigned char* program_end;
};

// False also for signal frames ('S'): the function below was interrupted, and has made no call.
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

// Call frame instructions (DWARF 5, section 6.4.2; numbers in section 7.24).
class Instructions {
 public:
  Instructions(const Common& common, const Rules& initial) noexcept : common_(common), initial_(initial) {}

  // Runs the instructions up to `target` bytes into the function. False if one is not supported.
  bool run(const unsigned char* program, const unsigned char* end, std::uint64_t target, Rules& rules) noexcept {
    Cursor in{program};
    location_ = 0;
    while (in.at < end && location_ <= target)
      if (!step(in, rules)) return false;
    return true;
  }

 private:
  static constexpr unsigned max_saved = 8;

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
        return op >= 0x0c && op <= 0x13 && op != 0x10 && op != 0x11 ? define_cfa(op, in, rules)
                                                                    : set_rule(op, in, rules);
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

  bool set_rule(unsigned char op, Cursor& in, Rules& rules) noexcept {
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
        if (saved_ == max_saved) return false;
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

  // Functions that realign their stack keep its old value in their frame. An expression says where: the value at frame
  // pointer + n. Other expressions are not supported.
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
  Rules states_[max_saved];
  unsigned saved_ = 0;
};

}  // namespace

bool read_rules(const unsigned char* fde, std::uint64_t target, Rules& rules) noexcept {
  Cursor in{fde};
  const auto length = in.fixed<std::uint32_t>();
  if (length == 0 || length == 0xffffffffU) return false;
  const unsigned char* end = in.at + length;
  const unsigned char* id_at = in.at;
  const auto back = in.fixed<std::int32_t>();
  Common common{};
  if (!read_common(id_at - back, common)) return false;
  in.skip_pointer(common.pointer_encoding);
  in.skip_pointer(common.pointer_encoding & 0x0f);
  if (common.augmented) {
    const std::uint64_t bytes = in.uleb();
    in.at += bytes;
  }
  const Rules nothing;
  Rules initial;
  if (!Instructions(common, nothing).run(common.program, common.program_end, UINT64_MAX, initial)) return false;
  rules = initial;
  return Instructions(common, initial).run(in.at, end, target, rules);
}

}  // namespace tare::stack
