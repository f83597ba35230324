#include "reader/store/samples.h"

#include <cstring>

namespace tare::reader {

using namespace tare::format;

bool parse_samples(std::string_view payload, Samples& samples) {
  if (payload.size() < sizeof samples.summary) return false;
  std::memcpy(&samples.summary, payload.data(), sizeof samples.summary);
  payload.remove_prefix(sizeof samples.summary);
  samples.summary.spec[sizeof samples.summary.spec - 1] = '\0';
  // The summary may count more classes than follow: a thread may have added one while the process wrote them.
  const std::size_t classes = payload.size() / sizeof(SampleClass);
  if (payload.size() % sizeof(SampleClass) != 0 || samples.summary.classes < classes) return false;
  samples.classes.resize(classes);
  if (!payload.empty()) std::memcpy(samples.classes.data(), payload.data(), payload.size());
  std::erase_if(samples.classes, [](const SampleClass& c) { return c.count == 0; });
  return true;
}

}  // namespace tare::reader
