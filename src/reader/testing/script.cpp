#include "reader/testing/script.h"

#include <utility>

#include "format/function_meaning.h"
#include "reader/testing/synthetic.h"

namespace tare::reader::synthetic {

using namespace tare::format;

void Script::call(std::string_view function, std::uint64_t ticks, std::int32_t peer, std::int32_t tag,
                  std::uint32_t request, std::uint32_t communicator, std::uint64_t bytes) {
  CallRecord record = call_record(function, site_, now_, now_ + ticks);
  record.peer = peer;
  record.tag = tag;
  record.communicator = communicator;
  record.request = request;
  const FunctionMeaning& meaning = meaning_of(record.head.kind);
  const bool sends = meaning.kind == CallClass::send && meaning.form != CallForm::persistent;
  record.bytes = sends && bytes == no_bytes ? 8 : bytes;
  records_ += bytes_of(record);
  now_ += ticks;
  last_ticks_ = ticks;
}

void Script::fails(std::string_view function, std::uint64_t ticks, std::int32_t peer, std::int32_t tag) {
  CallRecord record = call_record(function, site_, now_, now_ + ticks);
  record.peer = peer;
  record.tag = tag;
  record.communicator = 1;
  records_ += bytes_of(record);
  now_ += ticks;
}

void Script::exchange(std::string_view function, std::uint64_t ticks, std::int32_t peer, std::int32_t tag,
                      std::int32_t source, std::int32_t source_tag) {
  ExchangeRecord record{call_record(function, site_, now_, now_ + ticks), 8, source, source_tag};
  record.call.head.words = sizeof record / 8;
  record.call.peer = peer;
  record.call.tag = tag;
  record.call.bytes = 8;
  records_ += bytes_of(record);
  now_ += ticks;
}

void Script::completes(std::uint32_t request, std::int32_t source, std::int32_t tag) {
  const std::uint64_t bytes = source == no_peer ? no_bytes : 8;
  records_ += bytes_of(CompletionRecord{{completion, 3}, request, bytes, source, tag});
}

void Script::starts(std::uint32_t request, std::int32_t peer, std::int32_t tag, std::uint64_t bytes) {
  records_ += bytes_of(StartRecord{{start, 4}, request, bytes, peer, tag, 1, 0});
}

void Script::loses() { records_ += bytes_of(LossRecord{{loss, 4}, 0, now_, now_ + 1, 5}); }

void Script::is_left_out(std::uint64_t ticks, std::uint32_t number, unsigned flags) {
  records_ += bytes_of(LossRecord{{loss, 4}, 0, now_, now_ + ticks, 5});
  now_ += ticks;
  begins_spell(number, traced_spell | flags);
}

void Script::begins_spell(std::uint32_t number, unsigned flags) {
  SpellDefinition spell{};
  spell.head = {DefinitionKind::spell, static_cast<std::uint16_t>(flags), sizeof spell};
  spell.spell = number;
  spell.begin = now_;
  definitions_ += bytes_of(spell);
}

void Script::flushes(std::uint64_t ticks) {
  records_ += bytes_of(FlushRecord{{flush, sizeof(FlushRecord) / 8}, 5, now_, now_ + ticks, 100});
  now_ += ticks;
}

void Script::loses_processor(std::uint64_t descheduled, std::uint64_t blocked) {
  const std::uint64_t ns = descheduled + blocked;
  spans_.push_back({now_, now_ + ns, {ns, descheduled, 0}, {}});
  now_ += ns;
}

void Script::was_descheduled(std::uint64_t ticks) {
  spans_.push_back({now_ - last_ticks_, now_, {}, {ticks, ticks, 0}});
}

std::string Script::scheduling() const {
  if (spans_.empty()) return {};
  SchedulingSums sums{};
  sums.readings = sums.spans = static_cast<std::uint32_t>(spans_.size());
  std::string payload = bytes_of(sums);
  for (const SchedulingSpan& span : spans_) payload += bytes_of(span);
  return payload;
}

std::string run_of(const std::vector<Script>& ranks, const std::vector<SecondThread>& second) {
  std::string file = functions_chunk();
  const auto size = static_cast<std::int32_t>(ranks.size());
  CommunicatorDefinition world{};
  world.communicator = world.group = 1;
  world.key = 7;
  world.size = size;
  std::string log = group_definition(1, {{0, 1, static_cast<std::uint32_t>(size)}}) +
                    communicator_definition(world, "MPI_COMM_WORLD");
  log += window_definition(Script::window, 1, 77);
  log += group_definition(Script::group_of(-1), {{0, 1, static_cast<std::uint32_t>(size)}}, of_epoch);
  for (std::int32_t rank = 0; rank < size; ++rank)
    log += group_definition(Script::group_of(rank), {{rank, 0, 1}}, of_epoch);
  for (std::uint32_t site = 1; site < 10; ++site) log += python_site_definition(site, "app.py", "main", site);
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    auto process = process_record(i, ProcessState::exited);
    process.size = size;
    process.thread_level = second.empty() ? 0 : 3;
    if (ranks[i].keeps_newest()) process.flags |= overwrites;
    process.finalize_enter = ranks[i].now();
    process.end = ranks[i].now() + 100;
    process.clock_last = {process.end + 10'000'000, process.end + 10'000'000};
    file += process_chunk(process) + definitions_chunk(process, log + ranks[i].definitions());
    if (const std::string scheduling = ranks[i].scheduling(); !scheduling.empty()) {
      ChunkHeader identity{};
      identity.type = ChunkType::scheduling;
      identity.process = process.process;
      file += chunk(identity, scheduling);
    }
    if (ranks[i].keeps_newest()) {
      Profile profile;
      profile.summary.overwritten_bytes = sizeof(CallRecord);
      file += profile_chunk(process, 0, profile);
    }
    if (!ranks[i].records().empty()) file += events_chunk(process, 0, 0, ranks[i].records());
    for (const SecondThread& of : second)
      if (of.rank == i) file += events_chunk(process, 1, 0, of.script.records());
  }
  return file;
}

}  // namespace tare::reader::synthetic
