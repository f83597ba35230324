// Questions that are going to be asked. The next reading of the profiles answers all of them, and their answers are
// kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "reader/run/questions.h"

namespace tare::reader {

// The expected questions of one kind.
template <class Question, class Answer>
class ExpectedOfKind {
 public:
  void expect(const std::vector<Question>& questions) {
    for (const Question& each : questions)
      if (known(each) == nullptr && !holds(waiting_, each)) waiting_.push_back(each);
  }
  bool knows(const std::vector<Question>& asked) const {
    return std::all_of(asked.begin(), asked.end(), [this](const Question& each) { return known(each) != nullptr; });
  }
  std::vector<Answer> known(const std::vector<Question>& asked) const {
    std::vector<Answer> answers;
    answers.reserve(asked.size());
    for (const Question& each : asked) answers.push_back(*known(each));
    return answers;
  }
  // What is to be read to answer `asked`: first all that is expected, then what else is asked.
  std::vector<Question> to_read(const std::vector<Question>& asked) const {
    std::vector<Question> all = waiting_;
    for (const Question& each : asked)
      if (known(each) == nullptr && !holds(all, each)) all.push_back(each);
    return all;
  }
  // Keeps the answers to what is expected, and returns those to `asked`. `read`: the answers to `questions`, which
  // to_read() returned.
  std::vector<Answer> take(const std::vector<Question>& asked, const std::vector<Question>& questions,
                           std::vector<Answer> read) {
    std::vector<Answer> answers;
    answers.reserve(asked.size());
    for (const Question& each : asked) {
      const auto found = std::find(questions.begin(), questions.end(), each);
      const Answer* answer =
          found != questions.end() ? &read[static_cast<std::size_t>(found - questions.begin())] : known(each);
      if (answer != nullptr) answers.push_back(*answer);  // what to_read() left out is known
    }
    for (std::size_t i = 0; i < waiting_.size(); ++i) known_.emplace_back(waiting_[i], std::move(read[i]));
    waiting_.clear();
    return answers;
  }

 private:
  static bool holds(const std::vector<Question>& questions, const Question& wanted) {
    return std::find(questions.begin(), questions.end(), wanted) != questions.end();
  }
  const Answer* known(const Question& wanted) const {
    for (const auto& [question, answer] : known_)
      if (question == wanted) return &answer;
    return nullptr;
  }

  std::vector<Question> waiting_;
  std::vector<std::pair<Question, Answer>> known_;
};

class Expected {
 public:
  void expect(const Questions& questions) {
    sums_.expect(questions.sums);
    peers_.expect(questions.peers);
    phases_.expect(questions.phases);
    exchanges_.expect(questions.exchanges);
  }
  bool knows(const Questions& asked) const {
    return sums_.knows(asked.sums) && peers_.knows(asked.peers) && phases_.knows(asked.phases) &&
           exchanges_.knows(asked.exchanges);
  }
  Answers known(const Questions& asked) const {
    return {sums_.known(asked.sums), peers_.known(asked.peers), phases_.known(asked.phases),
            exchanges_.known(asked.exchanges)};
  }
  Questions to_read(const Questions& asked) const {
    return {sums_.to_read(asked.sums), peers_.to_read(asked.peers), phases_.to_read(asked.phases),
            exchanges_.to_read(asked.exchanges)};
  }
  Answers take(const Questions& asked, const Questions& questions, Answers read) {
    return {sums_.take(asked.sums, questions.sums, std::move(read.sums)),
            peers_.take(asked.peers, questions.peers, std::move(read.peers)),
            phases_.take(asked.phases, questions.phases, std::move(read.phases)),
            exchanges_.take(asked.exchanges, questions.exchanges, std::move(read.exchanges))};
  }

 private:
  ExpectedOfKind<SumsQuery, std::vector<ProfileSum>> sums_;
  ExpectedOfKind<TablesQuery, std::vector<PeerSum>> peers_;
  ExpectedOfKind<TablesQuery, std::vector<PhaseSum>> phases_;
  ExpectedOfKind<std::int32_t, std::vector<Exchange>> exchanges_;
};

}  // namespace tare::reader
