// The unwinder against another one: glibc's backtrace().
#include "stack/unwind.h"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "stack/call_path.h"
#include "stack/unwind_shapes.h"

namespace tare::stack {
namespace {

constexpr int most = 512;

using Addresses = std::vector<std::uintptr_t>;

// All return addresses from `frame` on.
Addresses steps_from(Frame frame) {
  const Stack stack = stack_of_thread();
  Addresses found;
  while (frame.return_address != 0 && found.size() < most) {
    found.push_back(frame.return_address);
    Step read;
    if (!stack.holds(frame.stack) || !step(recipe_of(frame.return_address), stack, frame, read)) break;
  }
  return found;
}

Addresses of_this_unwinder;
Addresses of_the_other;

[[gnu::noinline, gnu::optimize("no-omit-frame-pointer")]] void note_both() {
  const Frame caller = TARE_CALLER;
  of_this_unwinder = steps_from(caller);
  void* found[most];
  void** const end = found + backtrace(found, most);
  of_the_other.clear();
  // From the caller on: before it are this function and, of a sanitizer, its own backtrace().
  for (void** each = std::find(found, end, reinterpret_cast<void*>(caller.return_address)); each != end; ++each)
    of_the_other.push_back(reinterpret_cast<std::uintptr_t>(*each));
}

struct Flags {
  const char* name;
  const shapes::Shape* all;
};

class Unwind : public testing::TestWithParam<Flags> {};

TEST_P(Unwind, AgreesWithAnotherUnwinder) {
  for (unsigned i = 0; i < shapes::count; ++i) {
    const shapes::Shape& shape = GetParam().all[i];
    of_this_unwinder.clear();
    shape.call(note_both);
    EXPECT_EQ(of_this_unwinder, of_the_other) << shape.name;
    EXPECT_GT(of_this_unwinder.size(), 2U) << shape.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Flags, Unwind,
                         testing::Values(Flags{"unoptimised", shapes::unoptimised::all},
                                         Flags{"optimised", shapes::optimised::all},
                                         Flags{"frame_pointers", shapes::frame_pointers::all},
                                         Flags{"vectorised", shapes::vectorised::all},
                                         Flags{"small", shapes::small::all}),
                         [](const auto& each) { return each.param.name; });

// The frames of a path, without those that start the program.
CallPath path_from(const Frame& caller, unsigned wanted) {
  CallPath path;
  PathMemo::Builder read;
  walk(caller, stack_of_thread(), wanted, path, read);
  return path;
}

CallPath path;
unsigned wanted;

[[gnu::noinline, gnu::optimize("no-omit-frame-pointer")]] void note_path() { path = path_from(TARE_CALLER, wanted); }

TEST(CallPath, HasTheFramesWished) {
  for (wanted = 1; wanted <= 32; ++wanted) {
    shapes::optimised::all[6].call(note_path);  // deep
    EXPECT_EQ(path.count, wanted);
    EXPECT_EQ(path.flags, 0);
  }
}

TEST(CallPath, EndsBeforeWhatStartsAThread) {
  wanted = 32;
  shapes::optimised::all[10].call(note_path);  // in a thread
  shapes::optimised::all[10].call(note_both);
  EXPECT_EQ(path.flags, 0);
  ASSERT_LT(path.count, of_the_other.size());  // start_thread and clone are not on it
  EXPECT_GE(path.count, 2U);
  for (unsigned i = 1; i < path.count; ++i) EXPECT_EQ(path.frames[i], of_the_other[i]);
}

Addresses in_handler;

void handler(int) { in_handler = steps_from(TARE_CALLER); }

TEST(Unwind, EndsAtASignal) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the race detector calls handlers itself";
#endif
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = handler;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(in_handler.size(), 1U);  // the trampoline, which nobody has called
}

ucontext_t of_test, of_coroutine;

void coroutine() {
  wanted = 4;
  shapes::optimised::all[0].call(note_path);
}

TEST(Unwind, ReadsNoOtherStack) {
  constexpr std::size_t bytes = 256 * 1024;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  getcontext(&of_coroutine);
  of_coroutine.uc_stack.ss_sp = memory;
  of_coroutine.uc_stack.ss_size = bytes;
  of_coroutine.uc_link = &of_test;
  makecontext(&of_coroutine, coroutine, 0);
  swapcontext(&of_test, &of_coroutine);
  munmap(memory, bytes);
  EXPECT_EQ(path.count, 1U);
  EXPECT_EQ(path.flags, format::path_cut);
}

TEST(Unwind, SurvivesFramesThatAreNone) {
  shapes::optimised::all[6].call(note_both);  // addresses of code
  const Stack stack = stack_of_thread();
  std::uintptr_t words[64];
  std::uint64_t state = 1;
  for (int round = 0; round < 10000; ++round) {
    for (std::uintptr_t& word : words) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const std::uintptr_t somewhere = reinterpret_cast<std::uintptr_t>(words) + (state >> 40) % 4096;
      word = (state >> 33) % 3 == 0   ? somewhere
             : (state >> 33) % 3 == 1 ? of_the_other[state % of_the_other.size()]
                                      : state;
    }
    const Frame frame{of_the_other[(state >> 20) % of_the_other.size()], reinterpret_cast<std::uintptr_t>(words),
                      words[0]};
    CallPath ignored;
    PathMemo::Builder read;
    walk(frame, stack, 32, ignored, read);
    EXPECT_LE(ignored.count, 32U);
  }
}

Frame frame_at(std::uintptr_t* words) { return {0x1234, reinterpret_cast<std::uintptr_t>(words), 7}; }

PathMemo::Builder built_from(std::uintptr_t* words, unsigned count) {
  PathMemo::Builder built;
  built.caller = frame_at(words);
  built.base_mask = 0;
  built.count = 0;
  built.overflow = false;
  for (unsigned i = 0; i < count; ++i) built.add({reinterpret_cast<std::uintptr_t>(&words[i]), words[i]});
  return built;
}

TEST(PathMemo, KnowsAPathAsLongAsItsWordsAreTheSame) {
  const auto memo = std::make_unique<PathMemo>();
  PathMemo::Last last = 0;
  std::uintptr_t words[] = {1, 2, 3};
  EXPECT_EQ(memo->find(frame_at(words)), nullptr);
  memo->add(last, built_from(words, 3), 17);
  ASSERT_NE(memo->find(frame_at(words)), nullptr);
  EXPECT_EQ(memo->find(frame_at(words))->number, 17U);
  words[2] = 4;
  EXPECT_EQ(memo->find(frame_at(words)), nullptr);
  memo->add(last, built_from(words, 3), 18);
  EXPECT_EQ(memo->find(frame_at(words))->number, 18U);
  words[2] = 3;
  EXPECT_EQ(memo->find(frame_at(words))->number, 17U);
  memo->clear(last);
  EXPECT_EQ(memo->find(frame_at(words)), nullptr);
}

TEST(PathMemo, TheFramePointerCountsWhereThePathDependsOnIt) {
  const auto memo = std::make_unique<PathMemo>();
  PathMemo::Last last = 0;
  std::uintptr_t words[] = {1};
  PathMemo::Builder built = built_from(words, 1);
  built.base_mask = ~std::uintptr_t{0};
  memo->add(last, built, 17);
  Frame caller = frame_at(words);
  EXPECT_NE(memo->find(caller), nullptr);
  caller.base = 8;
  EXPECT_EQ(memo->find(caller), nullptr);
}

// Some are near; the others have more words, or words far above the stack pointer.
TEST(PathMemo, KnowsPathsOfManyWordsAndOfWordsFarAway) {
  const auto memo = std::make_unique<PathMemo>();
  PathMemo::Last last = 0;
  std::vector<std::uintptr_t> stack(std::size_t{1} << 17);
  for (const unsigned step : {1U, 1000U, 10000U})
    for (const unsigned count : {1U, 4U, 5U, 7U, 8U, 9U, 12U, 13U, 16U, 17U, PathMemo::max_words}) {
      if (std::size_t{step} * (count - 1) >= stack.size()) continue;
      const auto address = [&](unsigned i) { return reinterpret_cast<std::uintptr_t>(&stack[std::size_t{step} * i]); };
      PathMemo::Builder built = built_from(stack.data(), 0);
      built.caller.return_address += count * 100 + step;
      built.base_mask = ~std::uintptr_t{0};
      for (unsigned i = 0; i < count; ++i) {
        stack[std::size_t{step} * i] = 0x7f0000000000 + i * step;
        built.add({address(i), stack[std::size_t{step} * i]});
      }
      PathMemo::Path* path = memo->add(last, built, count);
      ASSERT_NE(path, nullptr);
      EXPECT_EQ(path->near, count <= PathMemo::max_near && step * (count - 1) <= UINT16_MAX);
      EXPECT_EQ(memo->find(built.caller), path);
      memo->follow(last, *path);
      Frame moved = built.caller;
      moved.base ^= 1;
      EXPECT_EQ(memo->find(moved), nullptr);
      PathMemo::Conditions conditions;
      const bool are_few = memo->conditions_of(built.caller, conditions);
      EXPECT_EQ(are_few, count <= PathMemo::Conditions::max_words);
      for (unsigned i = 0; i < count; ++i)
        for (const std::uintptr_t bit : {std::uintptr_t{1}, std::uintptr_t{1} << 47, std::uintptr_t{1} << 61}) {
          stack[std::size_t{step} * i] ^= bit;
          EXPECT_EQ(memo->find(built.caller), nullptr) << i;
          EXPECT_FALSE(are_few && conditions.holds(built.caller)) << i;
          stack[std::size_t{step} * i] ^= bit;
        }
      EXPECT_TRUE(!are_few || conditions.holds(built.caller));
    }
}

TEST(PathMemo, TellsWordsThatChangePlacesApart) {
  const auto memo = std::make_unique<PathMemo>();
  PathMemo::Last last = 0;
  std::uintptr_t words[20];
  for (unsigned i = 0; i < 20; ++i) words[i] = 0x555500001000 + 0x10 * i;
  memo->add(last, built_from(words, 20), 1);
  for (unsigned i = 0; i < 20; ++i)
    for (unsigned j = 0; j < i; ++j) {
      std::swap(words[i], words[j]);
      EXPECT_EQ(memo->find(frame_at(words)), nullptr) << i << " and " << j;
      std::swap(words[i], words[j]);
    }
  EXPECT_NE(memo->find(frame_at(words)), nullptr);
}

TEST(PathMemo, DoesNotRememberWordsThatHaveNoOffset) {
  const auto memo = std::make_unique<PathMemo>();
  PathMemo::Last last = 0;
  std::uintptr_t words[3] = {1, 2, 3};
  PathMemo::Builder built = built_from(words, 3);
  built.caller.stack += sizeof words[0];  // the first word lies below
  EXPECT_EQ(memo->add(last, built, 1), nullptr);
  built = built_from(words, 3);
  ++built.words[1].address;  // unaligned
  EXPECT_EQ(memo->add(last, built, 1), nullptr);
  built = built_from(words, 0);  // no words: a path of mpi4py
  EXPECT_NE(memo->add(last, built, 1), nullptr);
  EXPECT_NE(memo->find(built.caller), nullptr);
}

TEST(PathMemo, LearnsWhatTellsTheWaysToACallApart) {
  const auto memo = std::make_unique<PathMemo>();
  PathMemo::Last last = 0;
  std::uintptr_t words[8] = {};
  const auto take = [&](unsigned way) {  // one of 216; the later half is shorter
    for (unsigned i = 0; i < 3; ++i, way /= 6) words[2 * i] = way % 6;
    return built_from(words, words[4] < 3 ? 8 : 6);
  };
  unsigned added = 0;
  for (bool all_known = false; !all_known;) {
    all_known = true;
    for (unsigned way = 0; way < 216; ++way) {
      const PathMemo::Builder built = take(way);
      const PathMemo::Path* known = memo->find(frame_at(words));
      if (known != nullptr) {
        ASSERT_EQ(known->number, way);
        continue;
      }
      all_known = false;
      memo->add(last, built, way);
      ASSERT_LT(++added, 5U * 216);
      ASSERT_NE(memo->find(frame_at(words)), nullptr);
    }
  }
  for (unsigned way = 0; way < 216; ++way) {
    const PathMemo::Builder built = take(way);
    PathMemo::Conditions conditions;
    ASSERT_TRUE(memo->conditions_of(frame_at(words), conditions));
    EXPECT_TRUE(conditions.holds(frame_at(words)));
    for (std::uintptr_t& word : words) {
      ++word;
      EXPECT_EQ(conditions.holds(frame_at(words)), &word >= words + built.count);
      --word;
    }
  }
}

// There are two families of call paths. The words that distinguish the paths of one have arbitrary values in the other.
TEST(PathMemo, KnowsWaysThatDoNotHaveTheWordsThatTellOthersApart) {
  const auto memo = std::make_unique<PathMemo>();
  PathMemo::Last last = 0;
  std::uintptr_t words[4] = {};
  unsigned added = 0;
  for (unsigned round = 0; round < 100; ++round)
    for (unsigned way = 0; way < 12; ++way) {
      words[0] = way % 2;
      words[1] = way % 2 == 0 ? 0 : way;
      words[2] = way % 2 == 0 ? way : round;
      PathMemo::Builder built = built_from(words, 3);
      if (way % 2 == 1) built.count = 2;
      const PathMemo::Path* known = memo->find(frame_at(words));
      if (known == nullptr) memo->add(last, built, way), ++added;
      ASSERT_NE(memo->find(frame_at(words)), nullptr);
      EXPECT_EQ(memo->find(frame_at(words))->number, way);
    }
  EXPECT_LT(added, 60U);
}

// The paths of three calls, by turns after one another; each lies on a stack of its own.
class ExpectedPaths : public testing::Test {
 protected:
  ExpectedPaths() {
    for (unsigned i = 0; i < 4; ++i) {
      words_[i][0] = i;
      memo_->add(last_, built_from(words_[i], 3), i);
    }
  }
  // Whether the path was expected.
  bool take(unsigned which) {
    PathMemo::Path* expected = memo_->find_expected(last_, frame_at(words_[which]));
    if (expected == nullptr) expected = memo_->find_also_expected(last_, frame_at(words_[which]));
    if (expected == nullptr)
      memo_->follow(last_, *memo_->find(frame_at(words_[which])));
    else
      EXPECT_EQ(expected->number, which);
    return expected != nullptr;
  }

  std::unique_ptr<PathMemo> memo_ = std::make_unique<PathMemo>();
  PathMemo::Last last_ = 0;
  std::uintptr_t words_[4][3] = {};
};

TEST_F(ExpectedPaths, AreThoseThatCameAfterTheSameOne) {
  for (const unsigned which : {1U, 2U, 1U, 3U, 1U}) EXPECT_FALSE(take(which)) << which;
  for (const unsigned which : {2U, 1U, 3U, 1U, 3U, 1U, 2U}) EXPECT_TRUE(take(which)) << which;
  EXPECT_FALSE(take(3));  // 2, but not 3, has been followed by 1
}

TEST_F(ExpectedPaths, AreExpectedFirstIfTheyCameLast) {
  for (const unsigned which : {1U, 2U, 1U, 3U, 1U}) take(which);
  EXPECT_EQ(memo_->find_expected(last_, frame_at(words_[2])), nullptr);
  EXPECT_TRUE(take(3));
  EXPECT_TRUE(take(1));
  EXPECT_TRUE(take(2));
  EXPECT_TRUE(take(1));
  const PathMemo::Path* latest = memo_->find_expected(last_, frame_at(words_[2]));
  ASSERT_NE(latest, nullptr);
  EXPECT_EQ(latest->number, 2U);
}

TEST_F(ExpectedPaths, AreOfTheSameWordsOnly) {
  for (const unsigned which : {1U, 2U, 1U, 2U, 1U}) take(which);
  words_[2][2] = 7;
  EXPECT_EQ(memo_->find_expected(last_, frame_at(words_[2])), nullptr);
  EXPECT_EQ(memo_->find_also_expected(last_, frame_at(words_[2])), nullptr);
  words_[2][2] = 0;
  EXPECT_TRUE(take(2));
}

TEST_F(ExpectedPaths, GiveWayWhereThereAreMany) {
  for (const unsigned which : {0U, 1U, 0U, 2U, 0U, 3U, 0U}) take(which);
  EXPECT_TRUE(take(3));
  EXPECT_TRUE(take(0));
  EXPECT_TRUE(take(2));
  EXPECT_TRUE(take(0));
  EXPECT_FALSE(take(1)) << "2 and 3 came later";
}

TEST_F(ExpectedPaths, AreForgottenWithThePaths) {
  for (const unsigned which : {1U, 2U, 1U, 2U, 1U}) take(which);
  memo_->clear(last_);
  EXPECT_EQ(memo_->find_expected(last_, frame_at(words_[2])), nullptr);
  EXPECT_EQ(memo_->find_also_expected(last_, frame_at(words_[2])), nullptr);
  for (unsigned i = 0; i < 4; ++i) memo_->follow(last_, *memo_->add(last_, built_from(words_[i], 3), i));
  EXPECT_FALSE(take(1));
}

TEST(PathMemo, IsNeverFull) {
  const auto memo = std::make_unique<PathMemo>();
  PathMemo::Last last = 0;
  static std::uintptr_t words[100000];
  for (unsigned i = 0; i + 8 < std::size(words); ++i) {
    memo->add(last, built_from(&words[i], 8), i);
    const PathMemo::Path* known = memo->find(frame_at(&words[i]));
    ASSERT_NE(known, nullptr);
    ASSERT_EQ(known->number, i);
  }
}

}  // namespace
}  // namespace tare::stack
