#include "reader/run/questions.h"

#include <algorithm>
#include <utility>

namespace tare::reader {
namespace {

template <typename Rows>
void append(Rows& to, const Rows& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Answering::Answering(const Questions& questions, const FunctionNames& functions, const std::vector<Process>& processes,
                     const std::vector<CommunicatorInfo>& communicators)
    : questions_(questions),
      functions_(&functions),
      communicators_(&communicators),
      peers_(questions.peers.size()),
      phases_(questions.phases.size()) {
  for (const SumsQuery& query : questions_.sums) summers_.emplace_back(query, functions, processes);
  for (const std::int32_t most : questions_.exchanges) exchanges_.emplace_back(processes, communicators, most);
  for (auto* queries : {&questions_.peers, &questions_.phases})
    for (TablesQuery& query : *queries) query.prepare();
}

bool Answering::is_of_all() const {
  const auto is_of_all = [](const auto& query) { return !query.ranks && !query.worlds; };
  return !exchanges_.empty() || std::any_of(questions_.sums.begin(), questions_.sums.end(), is_of_all) ||
         std::any_of(questions_.peers.begin(), questions_.peers.end(), is_of_all) ||
         std::any_of(questions_.phases.begin(), questions_.phases.end(), is_of_all);
}

bool Answering::begin(const Process& process) {
  process_ = &process;
  const auto choose = [&](std::vector<std::size_t>& wanted, const auto& askers) {
    wanted.clear();
    for (std::size_t i = 0; i < askers.size(); ++i)
      if (askers[i].wants(process)) wanted.push_back(i);
  };
  choose(sums_wanted_, summers_);
  choose(peers_wanted_, questions_.peers);
  choose(phases_wanted_, questions_.phases);
  for (const std::size_t i : sums_wanted_) summers_[i].begin(process);
  return !sums_wanted_.empty() || !peers_wanted_.empty() || !phases_wanted_.empty() || !exchanges_.empty();
}

void Answering::add(const Profile& profile) {
  for (const std::size_t i : sums_wanted_) summers_[i].add(profile);
  for (const std::size_t i : peers_wanted_)
    add_peers(peers_[i], questions_.peers[i], *communicators_, *process_, profile);
  for (const std::size_t i : phases_wanted_) add_phases(phases_[i], *functions_, *process_, profile);
  for (ExchangeSummer& summer : exchanges_) summer.add(*process_, profile);
}

void Answering::end() {
  for (const std::size_t i : sums_wanted_) summers_[i].end();
}

void Answering::join(const Answering& other) {
  for (std::size_t i = 0; i < summers_.size(); ++i) summers_[i].join(other.summers_[i]);
  for (std::size_t i = 0; i < exchanges_.size(); ++i) exchanges_[i].join(other.exchanges_[i]);
  for (std::size_t i = 0; i < peers_.size(); ++i) append(peers_[i], other.peers_[i]);
  for (std::size_t i = 0; i < phases_.size(); ++i) append(phases_[i], other.phases_[i]);
}

Answers Answering::take() {
  Answers answers;
  for (ProfileSummer& summer : summers_) answers.sums.push_back(summer.take());
  for (std::vector<PeerSum>& sums : peers_) answers.peers.push_back(merged(std::move(sums)));
  for (std::size_t i = 0; i < phases_.size(); ++i)
    answers.phases.push_back(merged(std::move(phases_[i]), questions_.phases[i].rank));
  for (const ExchangeSummer& summer : exchanges_) answers.exchanges.push_back(summer.take());
  return answers;
}

}  // namespace tare::reader
