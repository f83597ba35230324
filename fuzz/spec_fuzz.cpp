// Whatever TARE_MONITOR says, processes and tared read it without harm, and read what they have understood alike.
#include <cstdint>
#include <cstring>
#include <string>

#include "format/monitor_spec.h"
#include "format/sample_spec.h"
#include "tared/monitor/chosen.h"
#include "tared/tree/listen.h"

using namespace tare;

namespace {

void check(bool is_right) {
  if (!is_right) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string text = input.c_str();  // up to the first zero, as in an environment

  format::MonitorSpec spec;
  spec.every = 77;
  if (format::parse_monitor_spec(text.c_str(), spec) == nullptr) {
    check(spec.every != 0);
    check(spec.ring_bytes != 0 && (spec.ring_bytes & (spec.ring_bytes - 1)) == 0);
    check(std::memchr(spec.region, 0, sizeof spec.region) != nullptr);
    check((spec.region_every == 0) == (spec.region[0] == '\0'));
  } else {
    check(spec.every == 77);
  }
  format::SampleSpec sample;
  if (format::parse_sample_spec(text.c_str(), sample) == nullptr)
    check(sample.site_count <= format::SampleSpec::max_sites);

  const tared::ChosenEvents events(text);
  events.has(text);
  events.has("region " + text);
  const tared::ChosenSites sites(text);
  const auto half = static_cast<std::uint32_t>(size / 2);
  tared::CallSites of_process;
  of_process.take(input.data(), half, sites);
  of_process.take(input.data() + half, static_cast<std::uint32_t>(size - half), sites);
  of_process.label_of(1);

  const std::string address = tared::address_to_bind(text);
  check(text.find('/') != std::string::npos || address == text);
  tared::is_loopback(address);
  return 0;
}
