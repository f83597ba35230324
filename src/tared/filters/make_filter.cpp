#include "tared/filters/filter.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "format/filter_names.h"
#include "tared/filters/groups.h"
#include "tared/filters/tables.h"
#include "tared/filters/user_filter.h"

namespace tare::tared {

namespace {

// Several filters on the same snapshots (filter.h).
class CombinedReduction : public Reduction {
 public:
  explicit CombinedReduction(std::vector<std::unique_ptr<Reduction>> parts) : parts_(std::move(parts)) {}
  void add(const Snapshot& snapshot) override {
    for (const auto& part : parts_) part->add(snapshot);
  }
  bool unpack(std::span<const std::byte> reduced) override {
    Reader in(reduced);
    for (const auto& part : parts_) {
      const auto bytes = in.take(in.get<std::uint32_t>());
      if (!in.ok() || !part->unpack(bytes)) return false;
    }
    return in.at_end();
  }
  bool unite() override {
    return std::ranges::all_of(parts_, [](const auto& part) { return part->unite(); });
  }
  void conclude() override {
    for (const auto& part : parts_) part->conclude();
  }
  void write(Writer& out) const override {
    for (const auto& part : parts_) {
      const std::size_t at = out.size();
      out.put(std::uint32_t{0});
      part->write(out);
      out.put_at(at, static_cast<std::uint32_t>(out.size() - at - sizeof(std::uint32_t)));
    }
  }
  void clear() override {
    for (const auto& part : parts_) part->clear();
  }

 private:
  std::vector<std::unique_ptr<Reduction>> parts_;
};

class CombinedFilter : public Filter {
 public:
  // Input must be checked by all before any of them merges it, so a user's filter must try it (user_filter.h).
  explicit CombinedFilter(std::vector<std::unique_ptr<Filter>> filters) : filters_(std::move(filters)) {}
  std::unique_ptr<Reduction> begin() const override {
    std::vector<std::unique_ptr<Reduction>> parts;
    for (const auto& filter : filters_) parts.push_back(filter->begin());
    return std::make_unique<CombinedReduction>(std::move(parts));
  }
  void define(const EventName& name) override {
    for (const auto& filter : filters_) filter->define(name);
  }

 private:
  std::vector<std::unique_ptr<Filter>> filters_;
};

template <class T>
std::optional<T> number(const std::string& text, T least, T most) {
  T value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) return {};
  return value;
}

// A filter with one number after a colon, or its default.
template <class T, class F, class... More>
std::unique_ptr<Filter> with_number(const std::string& name, const std::string& text, T usual, T least, T most,
                                    std::string& error, More... more) {
  const auto value = text.empty() ? usual : number<T>(text, least, most);
  if (value) return std::make_unique<F>(*value, more...);
  error =
      "filter " + name + ": '" + text + "' is no number from " + std::to_string(least) + " to " + std::to_string(most);
  return nullptr;
}

// `options`: BINS, BINS:time, or time.
std::unique_ptr<Filter> make_histogram(const std::string& options, std::string& error) {
  const std::string time = "time";
  const bool only_time = options == time || options.ends_with(":" + time);
  const std::string bins =
      only_time ? options.substr(0, options.size() - std::min(options.size(), time.size() + 1)) : options;
  return with_number<std::uint32_t, HistogramFilter>("histogram", bins, HistogramReduction::default_bins, 2,
                                                     Histogram::max_bins, error, only_time);
}

// `is_combined`: with others.
std::unique_ptr<Filter> make_one(const std::string& specification, bool is_combined, std::string& error) {
  const std::size_t colon = specification.find(':');
  const std::string name = specification.substr(0, colon);
  const std::string option = colon == std::string::npos ? "" : specification.substr(colon + 1);
  if (name == "histogram") return make_histogram(option, error);
  if (name == "quantiles")
    return with_number<double, QuantileFilter>(name, option, QuantileReduction::default_error, QuantileTable::min_error,
                                               QuantileTable::max_error, error);
  if (name == "groups")
    return with_number<std::uint32_t, GroupFilter>(name, option, GroupReduction::default_groups, 1,
                                                   GroupTable::max_groups, error);
  if (specification == "statistics") return std::make_unique<StatisticsFilter>();
  if (specification == "none") return std::make_unique<CollectingFilter>();
  if (!format::is_filter_name(name) &&
      (specification.ends_with(".so") || specification.find(".so:") != std::string::npos))
    return UserFilter::load(specification, is_combined, error);
  error = "there is no filter '" + specification +
          "': statistics, histogram[:BINS][:time], quantiles[:ERROR], groups[:COUNT], none, the path of a FILE.so, or "
          "several of these with a plus between them";
  return nullptr;
}

}  // namespace

std::unique_ptr<Filter> make_filter(const std::string& specification, std::string& error) {
  std::vector<std::unique_ptr<Filter>> filters;
  const auto specifications = format::split_filters(specification);
  for (const std::string_view one : specifications) {
    auto filter = make_one(std::string(one), specifications.size() > 1, error);
    if (filter == nullptr) return nullptr;
    filters.push_back(std::move(filter));
  }
  if (filters.size() == 1) return std::move(filters.front());
  return std::make_unique<CombinedFilter>(std::move(filters));
}

}  // namespace tare::tared
