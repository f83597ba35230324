// Queries of the profiles of a run. Most of the time goes into reading the profiles, so many queries are answered in
// one pass over them.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/profile/exchange.h"
#include "reader/profile/profile_sums.h"
#include "reader/profile/profile_tables.h"

namespace tare::reader {

struct Questions {
  std::vector<SumsQuery> sums{};
  std::vector<TablesQuery> peers{}, phases{};
  std::vector<std::int32_t> exchanges{};  // ExchangeSummer: the maximum number of groups, one element for each question
};

// The answers, in the order of the questions. Sums are sorted by key, peers by world and rank, phases by world and
// phase.
struct Answers {
  std::vector<std::vector<ProfileSum>> sums;
  std::vector<std::vector<PeerSum>> peers;
  std::vector<std::vector<PhaseSum>> phases;
  std::vector<std::vector<Exchange>> exchanges;  // one element for each world
};

// Answers questions from the profiles that it is given. Not thread-safe: each thread has its own, and join() merges
// them.
class Answering {
 public:
  // `functions`, `processes` and `communicators` must outlive the object.
  Answering(const Questions& questions, const FunctionNames& functions, const std::vector<Process>& processes,
            const std::vector<CommunicatorInfo>& communicators);

  // Whether at least one question is about every process.
  bool is_of_all() const;
  // Whether any question is about the process. If so, the caller adds all its profiles with add() and then calls end().
  bool begin(const Process& process);
  void add(const Profile& profile);
  void end();
  void join(const Answering& other);
  // To be called once.
  Answers take();

 private:
  Questions questions_;
  const FunctionNames* functions_;
  const std::vector<CommunicatorInfo>* communicators_;
  std::vector<ProfileSummer> summers_;
  std::vector<ExchangeSummer> exchanges_;
  std::vector<std::vector<PeerSum>> peers_;
  std::vector<std::vector<PhaseSum>> phases_;
  // The current process, and the indices of the questions that are about it:
  const Process* process_ = nullptr;
  std::vector<std::size_t> sums_wanted_, peers_wanted_, phases_wanted_;
};

}  // namespace tare::reader
