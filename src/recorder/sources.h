// The sources of the library (Options::sources) that are on in this process, and their hooks.
#pragma once

#include "recorder/options.h"
#include "recorder/source.h"

namespace tare::recorder {

// Whether the source is on: always, or because TARE_WITH names it. TARE_WITH is read once.
bool is_on(const Source& source) noexcept;

// Says so if TARE_WITH names what is no source.
void check_sources() noexcept;

// Calls a hook of all sources that are on and have it, in their order.
template <auto hook, class... Arguments>
void tell_sources(Arguments&... arguments) noexcept {
  for (const Source* source : library_options.sources)
    if (source->*hook != nullptr && is_on(*source)) (source->*hook)(arguments...);
}

// The hook that only one source has; nullptr if none has it.
template <auto hook>
auto only_hook() noexcept {
  for (const Source* source : library_options.sources)
    if (source->*hook != nullptr) return source->*hook;
  return decltype(library_options.sources[0]->*hook){};
}

}  // namespace tare::recorder
