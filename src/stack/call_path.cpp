#include "stack/call_path.h"

#include <algorithm>

#include "recorder/environment.h"

namespace tare::stack {

constinit unsigned stack_frames = 4;

namespace {

// The most frames that a walk looks at, including those of bindings and those above the path.
constexpr unsigned max_steps = 64;

// One walk: the present frame, what was read so far, and the frame pointer, which later steps may need.
class Walk {
 public:
  Walk(const Frame& caller, const Stack& stack, PathMemo::Builder& read) noexcept
      : frame_(caller), stack_(stack), read_(read) {
    read_.caller = caller;
    read_.base_mask = 0;
    read_.count = 0;
    read_.overflow = false;
  }

  std::uintptr_t address() const noexcept { return frame_.return_address; }
  Recipe recipe() const noexcept { return recipe_of(frame_.return_address); }

  // Moves to the caller. False where the stack cannot be walked further.
  bool up(const Recipe& recipe) noexcept {
    if (!stack_.holds(frame_.stack) || ++steps_ > max_steps) return false;
    Step step_read{};
    const bool moved = step(recipe, stack_, frame_, step_read);
    // What was read for a failed step counts, too: it decides where the path ends.
    if (step_read.needs_base) depend_on_base();
    if (step_read.cfa.address != 0) read_.add(step_read.cfa);
    if (step_read.return_address.address != 0) read_.add(step_read.return_address);
    if (moved && step_read.base.address != 0) {
      base_ = step_read.base;
      base_added_ = false;
    }
    return moved;
  }

  // Whether the rest of the stack only starts a program or a thread: code of the C library, and at the end a function
  // without a caller. Moves up to there.
  bool only_starts() noexcept {
    for (;;) {
      const Recipe here = recipe();
      if ((here.flags & Recipe::outermost) != 0) return true;
      if (here.place != Recipe::system || !up(here)) return false;
    }
  }

 private:
  void depend_on_base() noexcept {
    if (base_.address == 0)
      read_.base_mask = ~std::uintptr_t{0};
    else if (!base_added_)
      read_.add(base_);
    base_added_ = true;
  }

  Frame frame_;
  const Stack stack_;
  PathMemo::Builder& read_;
  Word base_{};  // where the frame pointer of this frame was read; address 0: it is the caller's
  bool base_added_ = false;
  unsigned steps_ = 0;
};

}  // namespace

void choose_stack_frames() noexcept {
  stack_frames = static_cast<unsigned>(
      std::clamp<std::uint64_t>(recorder::count_of("TARE_STACK", stack_frames), 1, format::max_frames));
}

void walk(const Frame& caller, const Stack& stack, unsigned wanted, CallPath& out, PathMemo::Builder& read) noexcept {
  Walk at(caller, stack, read);
  out.count = 0;
  out.flags = 0;
  bool program_seen = false;
  bool left_out = false;
  while (out.count < wanted || (!program_seen && wanted > 1)) {
    const Recipe recipe = at.recipe();
    if (recipe.place == Recipe::system && out.count != 0) {
      Walk ahead = at;  // reads into the same `read`, because these words decide where the path ends
      if (ahead.only_starts()) return;
    }
    if ((recipe.flags & Recipe::outermost) != 0 || at.address() == 0) return;
    if (recipe.place == Recipe::interpreter) {
      out.flags |= format::path_cut;
      if (out.count != 0) return;
    }
    if (recipe.place != Recipe::native_binding) {
      const bool in_program = recipe.place == Recipe::program;
      if (out.count < wanted || in_program) {
        if (left_out) out.flags |= format::frames_left_out;
        if (out.count == format::max_frames) return;
        out.add(at.address());
        program_seen = program_seen || in_program;
      } else {
        left_out = true;
      }
    }
    if (out.count >= wanted && (program_seen || wanted <= 1)) return;
    if (!at.up(recipe)) {
      out.flags |= format::path_cut;
      return;
    }
  }
}

}  // namespace tare::stack
