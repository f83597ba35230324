#include "reader/events/event_table_program.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "reader/events/program_event.h"

namespace tare::reader {
namespace {

using namespace tare::format;
using Column = EventColumn;

bool has_list(EventClass event_class) {
  return event_class == EventClass::regular || event_class == EventClass::packed;
}

// Sets one bit for each event for which is_of(i) is true. Returns the number of these events.
template <typename Class>
std::size_t mark(const Class& is_of, std::size_t n, std::uint8_t* bits) {
  std::fill_n(bits, n / 8 + 1, 0);
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool of = is_of(i);
    bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | static_cast<unsigned>(of) << i % 8);
    count += of;
  }
  return count;
}

}  // namespace

ProgramEventTable::ProgramEventTable(const TableContext& context) : context_(context) {
  for (const EventType& type : context.run.event_types()) {
    // Whether an event is raw depends on its record, and not on the definition.
    const bool is_raw = type.event_class == EventClass::raw;
    Type& added = types_.emplace_back(Type{is_raw ? EventClass::packed : type.event_class, type.parameters});
    added.parameters.resize(max_parameters, ParameterType::u64);
  }
  types_.push_back({EventClass::packed, std::vector<ParameterType>(max_parameters, ParameterType::u64)});
}

const ProgramEventTable::Type& ProgramEventTable::type_of(std::size_t event) const {
  return type_[event] < 0 ? types_.back() : types_[static_cast<std::size_t>(type_[event])];
}

void ProgramEventTable::find_types(const EventColumns::Events& events, const ChunkPlace& place) {
  const std::size_t n = events.type.size();
  type_.resize(n);
  for (std::size_t i = 0; i < n; ++i) type_[i] = place.process->event_types.find(events.type[i]);
  ticks_.resize(n);
  start_ns_.resize(n);
  for (std::size_t i = 0; i < n; ++i) ticks_[i] = events.time[i] << place.process->shift();
  place.process->clock.unix_ns(ticks_.data(), n, start_ns_.data());
  for (std::int64_t& time : start_ns_) time = place.process->shown(place.thread, time);
}

// Selects the wanted events. True if there are unwanted events; chosen_ then has the indices of the wanted ones.
bool ProgramEventTable::choose(const EventColumns::Events& events) {
  if (context_.wants_all()) return false;
  chosen_.clear();
  for (std::uint32_t i = 0; i < type_.size(); ++i)
    if (context_.choice.wants_event(type_[i]) && context_.filter.wants_time(start_ns_[i], 0)) chosen_.push_back(i);
  if (chosen_.size() == type_.size()) return false;
  first_.assign(1, 0);
  for (const std::uint32_t i : chosen_) first_.push_back(first_.back() + events.first[i + 1] - events.first[i]);
  keep(type_, chosen_);
  keep(start_ns_, chosen_);
  return true;
}

void ProgramEventTable::fill_heads(EventBatch& batch) const {
  const std::size_t n = batch.rows();
  if (batch.wants(Column::start_ns)) std::copy_n(start_ns_.data(), n, batch.fill<std::int64_t>(Column::start_ns));
  if (!batch.wants(Column::name)) return;
  auto* names = batch.fill<std::int32_t>(Column::name);
  for (std::size_t i = 0; i < n; ++i) names[i] = context_.texts.type(type_[i]).name.number;
}

void ProgramEventTable::fill(EventColumns& chunk, const ChunkPlace& place, EventBatch& batch) {
  EventColumns::Events& events = chunk.events;
  find_types(events, place);
  if (choose(events)) {
    words_.clear();
    for (const std::uint32_t i : chosen_)
      words_.insert(words_.end(), chunk.parameters.begin() + events.first[i],
                    chunk.parameters.begin() + events.first[i + 1]);
    chunk.parameters.swap(words_);
    events.first.swap(first_);
  }
  batch.set_rows(type_.size());
  if (batch.rows() == 0) return;
  fill_heads(batch);
  fill_classes(chunk, batch);
  fill_parameters(chunk, batch);
}

// The columns that depend on the class of an event.
void ProgramEventTable::fill_classes(const EventColumns& chunk, EventBatch& batch) const {
  const std::size_t n = batch.rows();
  const auto& arena = batch.arena();
  const auto first_word = [&](std::size_t i) {
    const std::uint32_t first = chunk.events.first[i];
    return chunk.events.first[i + 1] == first ? 0 : chunk.parameters[first];
  };
  if (batch.wants(Column::kind)) {
    auto* kinds = batch.fill<std::int32_t>(Column::kind);
    for (std::size_t i = 0; i < n; ++i) kinds[i] = static_cast<std::int32_t>(type_of(i).event_class);
  }
  bool any_span = false, any_counter = false;
  for (std::size_t i = 0; i < n; ++i) {
    const EventClass of = type_of(i).event_class;
    any_span = any_span || of == EventClass::region || of == EventClass::phase;
    any_counter = any_counter || of == EventClass::counter;
  }
  if (any_span && batch.wants(Column::begin)) {
    auto* there = arena->allocate<std::uint8_t>(n / 8 + 1);
    auto* values = arena->allocate<std::uint8_t>(n / 8 + 1);
    const std::size_t count = mark(
        [&](std::size_t i) {
          const EventClass of = type_of(i).event_class;
          return of == EventClass::region || of == EventClass::phase;
        },
        n, there);
    mark([&](std::size_t i) { return first_word(i) != 0; }, n, values);
    batch.array(Column::begin) = {n, static_cast<std::int64_t>(n - count), {there, arena}, {values, arena}, {}, {}};
  }
  if (!any_counter) return;
  const auto is_counter = [&](std::size_t i) { return type_of(i).event_class == EventClass::counter; };
  if (batch.wants(Column::value)) {
    auto* values = batch.fill<double>(Column::value);
    for (std::size_t i = 0; i < n; ++i) values[i] = std::bit_cast<double>(first_word(i));
    auto* there = arena->allocate<std::uint8_t>(n / 8 + 1);
    const std::size_t count = mark(is_counter, n, there);
    batch.array(Column::value).nulls = static_cast<std::int64_t>(n - count);
    batch.array(Column::value).validity = {there, arena};
  }
  if (batch.wants(Column::unit)) {
    auto* units = batch.fill<std::int32_t>(Column::unit);
    for (std::size_t i = 0; i < n; ++i) units[i] = context_.texts.type(type_[i]).unit.number;
    batch.mark_absent(Column::unit, units, absent);
  }
}

// Lists of parameters. Events of other classes have one word, which is `begin` or `value`.
void ProgramEventTable::fill_parameters(const EventColumns& chunk, EventBatch& batch) const {
  if (!batch.wants(Column::parameters) && !batch.wants(Column::words)) return;
  const std::size_t n = batch.rows();
  const std::size_t count = chunk.events.first[n];
  const auto& arena = batch.arena();
  auto* there = arena->allocate<std::uint8_t>(n / 8 + 1);
  const std::size_t lists = mark([&](std::size_t i) { return has_list(type_of(i).event_class); }, n, there);
  if (lists == 0) return;
  auto* first = arena->allocate<std::uint32_t>(n + 1);
  std::copy_n(chunk.events.first.data(), n + 1, first);
  const auto set = [&](Column column, const void* values) {
    arrow::Array& list = batch.array(column);
    list = {n, static_cast<std::int64_t>(n - lists), {there, arena}, {first, arena}, {}, {}};
    list.children.push_back(arrow::Array{count, 0, {}, {values, arena}, {}, {}});
  };
  if (batch.wants(Column::words)) {
    auto* words = arena->allocate<std::uint64_t>(count);
    std::copy_n(chunk.parameters.data(), count, words);
    set(Column::words, words);
  }
  if (!batch.wants(Column::parameters)) return;
  auto* numbers = arena->allocate<double>(count);
  for (std::size_t i = 0; i < n; ++i) {
    const ParameterType* types = type_of(i).parameters.data();
    const std::uint32_t from = first[i];
    for (std::uint32_t p = 0; from + p < first[i + 1]; ++p)
      numbers[from + p] =
          with_value(chunk.parameters[from + p], types[p], [](auto value) { return static_cast<double>(value); });
  }
  set(Column::parameters, numbers);
}

void ProgramEventTable::fill_raw(EventColumns& chunk, const ChunkPlace& place, EventBatch& batch) {
  EventColumns::Events& events = chunk.raw_events;
  find_types(events, place);
  if (choose(events)) {
    text_.clear();
    for (const std::uint32_t i : chosen_)
      text_.append(chunk.text, events.first[i], events.first[i + 1] - events.first[i]);
    chunk.text.swap(text_);
    events.first.swap(first_);
  }
  const std::size_t n = type_.size();
  batch.set_rows(n);
  if (n == 0) return;
  fill_heads(batch);
  if (batch.wants(Column::kind))
    std::fill_n(batch.fill<std::int32_t>(Column::kind), n, static_cast<std::int32_t>(EventClass::raw));
  if (!batch.wants(Column::text)) return;
  const std::string_view all = chunk.text;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < n; ++i)
    texts.push_back(arrow::as_utf8(all.substr(events.first[i], events.first[i + 1] - events.first[i])));
  batch.array(Column::text) = arrow::text_array(texts);
}

}  // namespace tare::reader
