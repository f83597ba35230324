#include "tared/filters/filter.h"

#include <charconv>
#include <optional>

#include "tared/filters/collection.h"
#include "tared/filters/groups.h"
#include "tared/filters/histogram.h"
#include "tared/filters/quantiles.h"
#include "tared/filters/statistics.h"
#include "tared/filters/user_filter.h"

namespace tare::tared {

namespace {

template <class T>
std::optional<T> number(const std::string& text, T least, T most) {
  T value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) return {};
  return value;
}

// A filter with one number behind a colon, or its default.
template <class T, class F>
std::unique_ptr<Filter> with_number(const std::string& name, const std::string& text, T usual, T least, T most,
                                    std::string& error) {
  const auto value = text.empty() ? usual : number<T>(text, least, most);
  if (value) return std::make_unique<F>(*value);
  error =
      "filter " + name + ": '" + text + "' is no number from " + std::to_string(least) + " to " + std::to_string(most);
  return nullptr;
}

}  // namespace

std::unique_ptr<Filter> make_filter(const std::string& specification, std::string& error) {
  if (specification.ends_with(".so") || specification.find(".so:") != std::string::npos)
    return UserFilter::load(specification, error);
  const std::size_t colon = specification.find(':');
  const std::string name = specification.substr(0, colon);
  const std::string option = colon == std::string::npos ? "" : specification.substr(colon + 1);
  if (name == "histogram")
    return with_number<std::uint32_t, HistogramFilter>(name, option, HistogramFilter::default_bins, 2,
                                                       Histogram::max_bins, error);
  if (name == "quantiles")
    return with_number<double, QuantileFilter>(name, option, QuantileFilter::default_error, QuantileFilter::least_error,
                                               QuantileFilter::most_error, error);
  if (name == "groups")
    return with_number<std::uint32_t, GroupFilter>(name, option, GroupFilter::default_groups, 1, GroupTable::max_groups,
                                                   error);
  if (specification == "statistics") return std::make_unique<StatisticsFilter>();
  if (specification == "none") return std::make_unique<CollectingFilter>();
  error = "there is no filter '" + specification +
          "': statistics, histogram[:BINS], quantiles[:ERROR], groups[:COUNT], none, or the path of a FILE.so";
  return nullptr;
}

}  // namespace tare::tared
