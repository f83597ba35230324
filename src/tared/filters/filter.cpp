#include "tared/filters/filter.h"

#include "tared/filters/statistics.h"

namespace tare::tared {

std::unique_ptr<Filter> make_filter(const std::string& specification, std::string& error) {
  if (specification == "statistics") return std::make_unique<StatisticsFilter>();
  error = "there is no filter '" + specification + "': statistics";
  return nullptr;
}

}  // namespace tare::tared
