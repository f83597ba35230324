#pragma once

#include <memory>
#include <string>

#include "tared/filters/filter.h"

namespace tare::tared {

// `specification` is a name, for some filters with options after a colon:
//   statistics | histogram[:BINS][:time] | quantiles[:ERROR] | groups[:COUNT] | none | FILE.so[:ARGUMENTS]
// Several of these can be joined by a plus: their results follow one another, each after its length (u32). A path may
// contain a plus, arguments may not (format/filter_names.h).
// Returns nothing if there is no such filter, with the reason in `error`.
std::unique_ptr<Filter> make_filter(const std::string& specification, std::string& error);

}  // namespace tare::tared
