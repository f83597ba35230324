// What can be asked of the profiles of a run. Reading them takes most of the time, so that many questions are answered
// from one reading.
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
  std::vector<std::int32_t> exchanges{};  // the largest number of groups of each
};

// In the order of the questions. Sums are sorted by key, peers and phases by world and rank.
struct Answers {
  std::vector<std::vector<ProfileSum>> sums;
  std::vector<std::vector<PeerSum>> peers;
  std::vector<std::vector<PhaseSum>> phases;
  std::vector<std::vector<Exchange>> exchanges;  // one for each world
};

// Answers questions from the profiles that it is given. Not thread-safe: each thread has its own, and they are joined.
class Answering {
 public:
  // References must outlive the object.
  Answering(const Questions& questions, const FunctionNames& functions, const std::vector<Process>& processes,
            const std::vector<CommunicatorInfo>& communicators);

  // Whether some question is about every process.
  bool is_of_all() const;
  // Whether the next profiles, all of one process, are wanted. If so, they are to be added, and then ended.
  bool begin(const Process& process);
  void add(const Profile& profile);
  void end();
  void join(const Answering& other);
  Answers take();

 private:
  Questions questions_;
  const std::vector<CommunicatorInfo>* communicators_;
  std::vector<ProfileSummer> summers_;
  std::vector<ExchangeSummer> exchanges_;
  std::vector<std::vector<PeerSum>> peers_;
  std::vector<std::vector<PhaseSum>> phases_;
  // Of the process under way:
  const Process* process_ = nullptr;
  std::vector<std::size_t> sums_wanted_, peers_wanted_, phases_wanted_;
};

}  // namespace tare::reader
