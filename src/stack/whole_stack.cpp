#include "stack/whole_stack.h"

#include <algorithm>
#include <span>
#include <utility>

#include "format/definition.h"
#include "processor/registers.h"
#include "stack/own_code.h"
#include "stack/recipe.h"
#include "stack/site_numbers.h"

namespace tare::stack {
namespace {

constexpr unsigned most = format::max_stack_frames;

// A walk up the whole stack.
class Walk {
 public:
  Walk(const Interrupted& at, const Stack& stack) noexcept
      : frame_{at.instruction + 1, at.stack, at.base}, link_(at.link), stack_(stack) {}

  std::uintptr_t address() const noexcept { return frame_.return_address; }
  // The interrupted instruction is not remembered: it is another one each time.
  Recipe recipe() const noexcept {
    return is_innermost_ ? work_out(frame_.return_address) : recipe_of(frame_.return_address);
  }
  bool up(const Recipe& recipe) noexcept {
    if (!stack_.holds(frame_.stack)) return false;
    Step ignored{};
    if ((recipe.flags & Recipe::return_in_link) != 0) {
      if (!is_innermost_ || link_ == 0 || !find_end(recipe, stack_, frame_, ignored, frame_.stack)) return false;
      frame_.return_address = processor::without_signature(link_);
    } else if (!step(recipe, stack_, frame_, ignored)) {
      return false;
    }
    is_innermost_ = false;
    return true;
  }
  // Whether all from here on only starts the program or a thread.
  bool only_starts() const noexcept {
    Walk ahead = *this;
    for (unsigned steps = 0; steps < most; ++steps) {
      const Recipe here = ahead.recipe();
      if ((here.flags & Recipe::outermost) != 0 || ahead.address() == 0) return true;
      if ((here.place != Recipe::system && !is_own_code(ahead.address())) || !ahead.up(here)) return false;
    }
    return false;
  }

 private:
  Frame frame_;
  const std::uintptr_t link_;
  const Stack& stack_;
  bool is_innermost_ = true;
};

struct Frames {
  std::uint64_t native[most];
  PythonFrame python[most];
  unsigned natives = 0;
  unsigned pythons = 0;  // they come behind the native ones
};

void define(const void* context, std::uint32_t number, unsigned index) noexcept {
  const auto& frames = *static_cast<const Frames*>(context);
  if (index < frames.natives)
    define_native(number, frames.native[index]);
  else
    define_python(number, frames.python[index - frames.natives]);
}

// False if the stack continues, but cannot be walked further.
bool walk(Walk at, Frames& out) noexcept {
  bool has_asked = false;
  for (;;) {
    const Recipe recipe = at.recipe();
    if (recipe.place == Recipe::interpreter && !std::exchange(has_asked, true)) out.pythons = python_stack(out.python);
    if (out.pythons != 0) return out.pythons < most;
    const bool may_start = recipe.place == Recipe::system || is_own_code(at.address());
    if ((recipe.flags & Recipe::outermost) != 0 || at.address() == 0 ||
        (out.natives != 0 && may_start && at.only_starts()))
      return true;
    if (out.natives == most) return false;
    if (!is_own_code(at.address())) out.native[out.natives++] = at.address();
    if (!at.up(recipe)) break;
  }
  if (!has_asked) out.pythons = python_stack(out.python);  // what cannot be walked may have been called by Python code
  return false;
}

}  // namespace

WholeStack whole_stack(const Interrupted& at, const Stack& stack) noexcept {
  Frames frames;
  bool is_cut = !walk(Walk(at, stack), frames);
  if (frames.natives + frames.pythons == 0) frames.native[frames.natives++] = at.instruction + 1;
  std::uint64_t path[most];
  unsigned count = frames.natives;
  std::copy_n(frames.native, count, path);
  for (unsigned i = 0; i < frames.pythons && count < most; ++i) path[count++] = frames.python[i].position;
  is_cut = is_cut || count < frames.natives + frames.pythons;
  const auto flags = static_cast<std::uint16_t>(format::of_stack | (is_cut ? format::path_cut : 0));
  return {number_of({path, count}, flags, define, &frames), is_cut};
}

}  // namespace tare::stack
