#include "reader/store/samples.h"

#include "reader/store/payload.h"

namespace tare::reader {

using namespace tare::format;

bool parse_samples(std::string_view payload, Samples& samples) {
  if (!take_record(payload, samples.summary)) return false;
  samples.summary.spec[sizeof samples.summary.spec - 1] = '\0';
  // The summary may count more classes than follow: a thread may have added one while the process wrote them.
  if (!take_all_records(payload, samples.classes) || samples.summary.classes < samples.classes.size()) return false;
  std::erase_if(samples.classes, [](const SampleClass& c) { return c.count == 0; });
  return true;
}

}  // namespace tare::reader
