#include "tared/monitor/rank_source.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "format/functions.h"

namespace tare::tared {

using namespace format;

namespace {

constexpr std::uint32_t unknown = UINT32_MAX;
constexpr std::uint32_t left_out = UINT32_MAX - 1;
constexpr std::uint32_t max_events = 1U << 16U;  // of a process; further ones count as "other"
constexpr std::uint32_t max_blocks = 1U << 12U;

const char* kind_of(EventClass event_class) {
  switch (event_class) {
    case EventClass::region:
      return "region ";
    case EventClass::phase:
      return "phase ";
    case EventClass::counter:
      return "counter ";
    default:
      return nullptr;
  }
}

// "MPI_Send"; "other" for calls for which there was no row.
std::string identity_of_function(unsigned function) {
  return function >= 1 && function <= function_count ? function_name(function) : "other";
}

}  // namespace

void EventTypes::take(const char* entry, std::uint32_t bytes) {
  EventTypeDefinition definition;
  if (bytes < sizeof definition) return;
  std::memcpy(&definition, entry, sizeof definition);
  const char* kind = kind_of(definition.event_class);
  const std::uint32_t text_bytes = std::uint32_t{definition.name_bytes} + definition.unit_bytes;
  if (kind == nullptr || text_bytes > bytes - sizeof definition) return;
  const char* name = entry + sizeof definition;
  types_.try_emplace(definition.type, Type{definition.event_class, kind + std::string(name, definition.name_bytes),
                                           std::string(name + definition.name_bytes, definition.unit_bytes)});
}

const EventTypes::Type* EventTypes::find(std::uint32_t type) const {
  const auto found = types_.find(type);
  return found == types_.end() ? nullptr : &found->second;
}

RankSource::RankSource(const std::string& path, pid_t pid) : file_(path, pid) {
  if (!file_.is_ready()) return;
  const SegmentHeader& header = file_.header();
  if (header.offloads_at == 0) return;
  const std::uint64_t room = header.locations_at - header.offloads_at;
  offloads_ = std::make_unique<Mapping>(file_.fd(), header.offloads_at, room);
  log_ = std::make_unique<Mapping>(file_.fd(), header.definitions_at, header.definitions_capacity);
  if (!*offloads_ || !*log_) return;
  auto& ring = *offloads_->as<OffloadRing>();
  const std::uint64_t bytes = checked_ring_bytes(ring.bytes, room);
  if (bytes == 0) return;
  clock_ = std::make_unique<TickClock>(header.process);
  ring_ = std::make_unique<RingReader>(ring, bytes);
}

std::optional<std::uint32_t> RankSource::rank() const {
  const ProcessRecord& process = file_.shared().process;
  const std::int32_t rank = process.rank;
  const std::int32_t size = process.size;
  if (rank < 0 || rank >= size || (process.flags & spawned) != 0 || ring_->is_broken()) return std::nullopt;
  return static_cast<std::uint32_t>(rank);
}

std::uint32_t RankSource::world() const {
  return rank() ? static_cast<std::uint32_t>(std::max<std::int32_t>(file_.shared().process.size, 0)) : 0;
}

std::size_t RankSource::poll(SnapshotTaker& taker, std::uint64_t& last_round) {
  std::size_t taken = 0;
  while (ring_->has_more()) {
    const auto mine = rank();
    if ((mine && !taker.wants(*mine)) || !ring_->take()) break;
    if (taken++ == 0) clock_->update();
    if (!mine) continue;
    if (next_chosen_ != nullptr && round() >= chosen_from_) change_chosen();
    read_definitions();
    for (Event& event : events_) event.now = {};
    for (const RingReader::Section& section : ring_->sections()) add_section(section, taker);
    hand_over(*mine, last_round, taker);
  }
  return taken;
}

// Numbers of rows, phases and spans get new meanings.
void RankSource::change_chosen() {
  chosen_ = std::exchange(next_chosen_, nullptr);
  definitions_ = {};
  types_ = {};
  sites_ = {};
  for (Block& block : blocks_) block.rows = block.phases = {};
  spans_.clear();
  events_.clear();
  by_key_.clear();
  order_.clear();
}

void RankSource::read_definitions() {
  const std::uint64_t published = file_.shared().definitions_bytes.load(std::memory_order_acquire);
  definitions_.read(log_->as<const char>(), std::min(published, file_.header().definitions_capacity),
                    [this](const DefinitionHead& head, const char* entry) {
                      if (head.kind == DefinitionKind::event_type)
                        types_.take(entry, head.bytes);
                      else if (chosen_->sites.any())
                        sites_.take(entry, head.bytes, chosen_->sites);
                    });
}

void RankSource::add_section(const RingReader::Section& section, SnapshotTaker& taker) {
  Block* block = block_at(section.head.block);
  if (block == nullptr) return;
  const auto add = [&](std::uint32_t number, const Sums& sums) {
    if (number == left_out) return;
    Event& event = events_[number];
    event.now.calls += static_cast<double>(sums.calls);
    if (event.is_counter) {
      // If several threads set a counter, the value of the last thread counts.
      const auto value = std::bit_cast<double>(sums.bytes);
      if (sums.calls != 0 && std::isfinite(value)) event.now.bytes = value;
    } else {
      event.now.time_ns += clock_->duration_ns(sums.ticks);
      event.now.bytes += static_cast<double>(sums.bytes);
    }
  };
  // A row without calls may have the bytes of requests that another thread has started.
  const auto is_empty = [](const Sums& sums) { return sums.calls == 0 && sums.ticks == 0 && sums.bytes == 0; };
  const std::uint32_t rows = std::min(section.head.rows, file_.header().row_capacity);
  for (std::uint32_t i = 0; i < rows; ++i)
    if (!is_empty(section.rows[i])) add(event_of_row(*block, i, taker), section.rows[i]);
  const std::uint32_t phases = std::min(section.head.phases, std::uint32_t{phase_capacity});
  for (std::uint32_t i = 0; i < phases; ++i)
    if (!is_empty(section.phases[i])) add(event_of_phase(*block, i, taker), section.phases[i]);
  const std::uint32_t spans = std::min(section.head.spans, span_capacity);
  for (std::uint32_t i = 0; i < spans; ++i) {
    if (is_empty(section.spans[i])) continue;
    if (const std::uint32_t event = event_of_span(i, taker); event != unknown) add(event, section.spans[i]);
  }
}

RankSource::Block* RankSource::block_at(std::uint32_t number) {
  if (number >= max_blocks || number >= file_.locations()) return nullptr;
  if (number >= blocks_.size()) blocks_.resize(number + 1);
  Block& block = blocks_[number];
  if (block.memory == nullptr)
    block.memory =
        std::make_unique<Mapping>(file_.fd(), file_.location_at(number), buffer_at(file_.header().row_capacity));
  if (!*block.memory) {
    block.memory = nullptr;
    return nullptr;
  }
  return &block;
}

std::uint32_t RankSource::event_of(const std::string& identity, bool is_counter, const std::string& unit,
                                   SnapshotTaker& taker) {
  if (events_.size() >= max_events) return 0;
  const EventKey key = event_key(identity);
  const auto [found, is_new] = by_key_.try_emplace(key, static_cast<std::uint32_t>(events_.size()));
  if (is_new) {
    events_.push_back({key, is_counter, {}, 0});
    taker.name({key, identity, unit});
    order_.resize(events_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, {}, [this](std::uint32_t event) { return events_[event].key; });
  }
  return found->second;
}

std::uint32_t RankSource::event_of_row(Block& block, std::uint32_t row, SnapshotTaker& taker) {
  if (row >= block.rows.size()) block.rows.resize(row + 1, unknown);
  if (block.rows[row] == unknown)
    block.rows[row] = event_of_call(rows_of(block.memory->as<const LocationHeader>())[row], taker);
  return block.rows[row];
}

std::uint32_t RankSource::event_of_call(const ProfileRow& row, SnapshotTaker& taker) {
  const std::string function = identity_of_function(row.function);
  if (!is_chosen(function)) return left_out;
  if (!chosen_->sites.any()) return event_of(function, false, "", taker);
  const std::string* label = sites_.label_of(row.site);
  return label == nullptr ? left_out : event_of(function + " " + *label, false, "", taker);
}

std::uint32_t RankSource::event_of_phase(Block& block, std::uint32_t phase, SnapshotTaker& taker) {
  if (phase >= block.phases.size()) block.phases.resize(phase + 1, unknown);
  if (block.phases[phase] == unknown) {
    const std::uint32_t type = block.memory->as<const LocationHeader>()->phases[phase].type;
    const EventTypes::Type* known = types_.find(type);
    const char* other = phase == outside_phases ? "phase (none)" : "phase (other)";
    const std::string identity = known == nullptr ? other : known->identity;
    block.phases[phase] = is_chosen(identity) ? event_of(identity, false, "", taker) : left_out;
  }
  return block.phases[phase];
}

std::uint32_t RankSource::event_of_span(std::uint32_t span, SnapshotTaker& taker) {
  if (span >= spans_.size()) spans_.resize(span + 1, unknown);
  if (spans_[span] == unknown) {
    const EventTypes::Type* type = types_.find(span);
    if (type != nullptr)
      spans_[span] = is_chosen(type->identity)
                         ? event_of(type->identity, type->event_class == EventClass::counter, type->unit, taker)
                         : left_out;
  }
  return spans_[span];
}

void RankSource::hand_over(std::uint32_t rank, std::uint64_t& last_round, SnapshotTaker& taker) {
  keys_.clear();
  values_.clear();
  for (const std::uint32_t number : order_) {
    Event& event = events_[number];
    // If a thread leaves a region while it is copied, the visit seems to be open still.
    event.now.time_ns = event.time_ns = std::max(event.time_ns, event.now.time_ns);
    keys_.push_back(event.key);
    values_.push_back(event.now);
  }
  last_round = std::max(last_round, round());
  const std::uint64_t lost = std::max(ring_->head().lost, lost_);
  const std::uint64_t dropped = lost - std::exchange(lost_, lost);
  taker.snapshot({round(), rank, clock_->unix_ns(ring_->head().ticks), keys_, values_, dropped});
}

}  // namespace tare::tared
