// The receiver's numbering against a model of MPI's matching, which knows the truth.
#include "mpi/sampling/receives.h"
#include "mpi/sampling/received_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace tare::mpi::sampling {
namespace {

constexpr std::uint32_t world = 1;
constexpr Endpoint endpoint{world, 77, nullptr};

// What MPI does: a message goes to the first posted receive that accepts it, a receive takes the first message that
// has arrived and that it accepts.
struct Model {
  struct Message {
    std::int32_t source, tag;
    std::uint64_t number;  // in its channel, as its sender counts
  };
  struct Posted {
    std::uint32_t place = 0;
    Pattern pattern{};
    std::uint64_t number = 0;  // if it is known, and the place is none
    std::uint64_t ticks = 0;
    bool cancelled = false;
    bool matched = false;
    Message message{};
  };

  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> sent;
  std::list<Message> unexpected;
  std::list<std::shared_ptr<Posted>> pending;

  void send(std::int32_t source, std::int32_t tag) {
    const Message message{source, tag, ++sent[{source, tag}]};
    for (auto it = pending.begin(); it != pending.end(); ++it) {
      if (!(*it)->pattern.covers(source, tag)) continue;
      (*it)->matched = true;
      (*it)->message = message;
      pending.erase(it);
      return;
    }
    unexpected.push_back(message);
  }
  void post(const std::shared_ptr<Posted>& receive) {
    for (auto it = unexpected.begin(); it != unexpected.end(); ++it) {
      if (!receive->pattern.covers(it->source, it->tag)) continue;
      receive->matched = true;
      receive->message = *it;
      unexpected.erase(it);
      return;
    }
    pending.push_back(receive);
  }
  // Whether the cancellation succeeded.
  bool cancel(const std::shared_ptr<Posted>& receive) {
    if (receive->matched) return false;
    receive->cancelled = true;
    pending.remove(receive);
    return true;
  }
};

class Numbering : public ::testing::Test {
 protected:
  std::uint32_t channel(std::int32_t source, std::int32_t tag) {
    const std::uint32_t known = receives_->find_channel(world, source, tag);
    if (known != 0) return known;
    ReceiveChannel c{};
    c.communicator = world;
    c.queue = receives_->queue_of(endpoint);
    c.source = source;
    c.tag = tag;
    return receives_->add_channel(c);
  }
  std::uint32_t post(std::int32_t source, std::int32_t tag, std::uint64_t ticks = 0) {
    const Pattern pattern{source, tag};
    return receives_->post(receives_->queue_of(endpoint), pattern, pattern.definite() ? channel(source, tag) : 0,
                           ticks);
  }
  // The number of a receive, if it is known at its posting; else 0, and post() has to be called.
  std::uint64_t number(const Pattern& pattern) {
    if (pattern.definite()) receives_->note(receives_->channel(channel(pattern.source, pattern.tag)));
    ReceiveChannel* known = receives_->recent(world, pattern.source, pattern.tag);
    return known == nullptr ? 0 : Receives::number_posted(*known);
  }
  auto check() {
    return [this](const Receive& r) {
      if (r.number == 0) {
        ++unknown_;
      } else {
        EXPECT_EQ(r.number, r.bytes);
        ++known_;
      }
    };
  }

  // Completes a receive whose truth is in `bytes` (the number that it must get).
  void complete(std::uint32_t place, std::int32_t source, std::int32_t tag, std::uint64_t truth) {
    Receive& r = (*receives_)[place];
    r.bytes = truth;
    receives_->match(place, channel(source, tag), check());
    receives_->complete(place, check());
  }
  std::unique_ptr<Receives> receives_ = std::make_unique<Receives>();
  std::uint64_t known_ = 0;
  std::uint64_t unknown_ = 0;
};

TEST_F(Numbering, DefiniteReceivesAreNumberedWhenPosted) {
  const auto first = post(0, 5);
  const auto second = post(0, 5);
  complete(second, 0, 5, 2);
  EXPECT_EQ(known_, 1U);
  complete(first, 0, 5, 1);
  EXPECT_EQ(known_, 2U);
}

TEST_F(Numbering, AReceiveBehindAWildcardWaitsForIt) {
  const auto wild = post(any, 5);
  const auto definite = post(0, 5);
  const auto other_tag = post(0, 6);
  complete(other_tag, 0, 6, 1);
  EXPECT_EQ(known_, 1U) << "the wildcard cannot take a message of another tag";
  complete(definite, 0, 5, 2);
  EXPECT_EQ(known_, 1U);
  complete(wild, 0, 5, 1);
  EXPECT_EQ(known_, 3U);
}

TEST_F(Numbering, AWildcardThatTookAnotherChannelDoesNotCount) {
  const auto wild = post(any, 5);
  const auto definite = post(0, 5);
  complete(definite, 0, 5, 1);
  complete(wild, 1, 5, 1);
  EXPECT_EQ(known_, 2U);
}

TEST_F(Numbering, ACancelledReceiveGivesItsNumberBack) {
  const auto first = post(0, 5);
  const auto second = post(0, 5);
  receives_->cancel_requested(first);
  complete(second, 0, 5, 1);
  EXPECT_EQ(known_, 0U) << "whether the first was cancelled is not known yet";
  receives_->cancel(first, check());
  EXPECT_EQ(known_, 1U);
  complete(post(0, 5), 0, 5, 2);
  EXPECT_EQ(known_, 2U);
}

TEST_F(Numbering, ACancellationThatComesTooLateChangesNothing) {
  const auto first = post(0, 5);
  const auto second = post(0, 5);
  receives_->cancel_requested(first);
  complete(second, 0, 5, 2);
  complete(first, 0, 5, 1);
  EXPECT_EQ(known_, 2U);
}

TEST_F(Numbering, BehindAFreedWildcardNothingIsGuessed) {
  const auto wild = post(any, 5);
  complete(post(0, 6), 0, 6, 1);
  receives_->drop(wild, check());
  complete(post(0, 5), 0, 5, 1);
  complete(post(0, 6), 0, 6, 2);
  EXPECT_EQ(known_, 2U);
  EXPECT_EQ(unknown_, 1U);
}

TEST_F(Numbering, AFreedDefiniteReceiveTakesItsMessage) {
  receives_->drop(post(0, 5), check());
  complete(post(0, 5), 0, 5, 2);
  EXPECT_EQ(known_, 1U);
}

TEST_F(Numbering, RivalsPostedAtTheSameTimeAreAmbiguousAndLaterOnesAreNot) {
  const auto a = post(any, 5);
  receives_->begin_posting(a);
  const auto b = post(0, any);
  receives_->begin_posting(b);
  const auto c = post(0, 7);  // overlaps with b alone
  receives_->begin_posting(c);
  const auto d = post(1, 6);  // overlaps with neither
  receives_->begin_posting(d);
  for (const auto place : {a, b, c, d}) receives_->end_posting(place);
  const auto e = post(0, 5);
  receives_->begin_posting(e);
  EXPECT_TRUE((*receives_)[a].ambiguous);
  EXPECT_TRUE((*receives_)[b].ambiguous);
  EXPECT_TRUE((*receives_)[c].ambiguous);
  EXPECT_FALSE((*receives_)[d].ambiguous);
  EXPECT_FALSE((*receives_)[e].ambiguous);
  // Whoever of a and b took the first message, e takes the third.
  complete(b, 0, 5, 2);
  complete(a, 0, 5, 1);
  complete(e, 0, 5, 3);
  EXPECT_EQ(known_, 3U);
}

TEST_F(Numbering, AFreedCommunicatorLeavesNoChannels) {
  complete(post(0, 5), 0, 5, 1);
  const std::uint64_t second = number({0, 5});
  EXPECT_EQ(second, 2U);
  receives_->remove(world, ReceivedRing());  // but a receive is under way
  const std::uint32_t place = channel(0, 5);
  EXPECT_EQ(receives_->channel(place).count, 2U);
  Receives::completed(receives_->channel(place), second);
  receives_->remove(world, ReceivedRing());
  complete(post(0, 5), 0, 5, 1);
  EXPECT_EQ(known_, 2U);
}

// Random programs: sends and posts in any order, completions in any order that MPI allows, cancellations.
TEST_F(Numbering, IsRightForRandomPrograms) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    receives_ = std::make_unique<Receives>();
    known_ = unknown_ = 0;
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<std::int32_t>(random() % n); };
    Model model;
    std::vector<std::shared_ptr<Model::Posted>> outstanding;
    std::uint64_t completed = 0;
    for (int step = 0; step < 120 || !outstanding.empty(); ++step) {
      const bool ending = step >= 120;
      const auto what = ending ? 4 : below(6);
      if (what <= 1 || (ending && step % 2 == 0)) {
        model.send(below(3), below(3));
      } else if (what == 2 || what == 3) {
        auto posted = std::make_shared<Model::Posted>();
        posted->pattern = {below(4) == 0 ? any : below(3), below(4) == 0 ? any : below(3)};
        posted->ticks = 10 * static_cast<std::uint64_t>(step + 1);
        if (below(2) == 0) posted->number = number(posted->pattern);
        if (posted->number == 0) posted->place = post(posted->pattern.source, posted->pattern.tag, posted->ticks + 5);
        model.post(posted);
        outstanding.push_back(posted);
      } else if (!outstanding.empty()) {
        const auto which = static_cast<std::size_t>(below(static_cast<unsigned>(outstanding.size())));
        const auto receive = outstanding[which];
        if (what == 5 && below(3) == 0) {
          for (const auto& each : outstanding) {
            if (each->number == 0) continue;
            each->place =
                receives_->keep(channel(each->pattern.source, each->pattern.tag), each->number, each->ticks, 0);
            each->number = 0;
          }
          receives_->cancel_requested(receive->place);
          model.cancel(receive);
        }
        if (!receive->matched && !receive->cancelled) continue;
        outstanding.erase(outstanding.begin() + static_cast<std::ptrdiff_t>(which));
        if (receive->cancelled) {
          receives_->cancel(receive->place, check());
        } else if (receive->number != 0) {
          ASSERT_EQ(receive->number, receive->message.number);
          Receives::completed(receives_->channel(channel(receive->message.source, receive->message.tag)),
                              receive->number);
          ++known_;
          ++completed;
        } else {
          complete(receive->place, receive->message.source, receive->message.tag, receive->message.number);
          ++completed;
        }
      }
    }
    ASSERT_EQ(known_, completed) << "seed " << seed;
    ASSERT_EQ(unknown_, 0U) << "seed " << seed;
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tare::mpi::sampling
