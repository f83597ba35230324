// A filter that the user provides: a shared object with the interface of include/tare/filter.h.
#pragma once

#include <memory>
#include <string>

#include "tare/filter.h"
#include "tared/filters/filter.h"

namespace tare::tared {

class UserFilter : public Filter {
 public:
  // `specification` is FILE.so[:ARGUMENTS]. Returns nothing, with the reason in `error`, if it cannot be loaded or
  // refuses its arguments.
  static std::unique_ptr<UserFilter> load(const std::string& specification, std::string& error);
  std::unique_ptr<Reduction> begin() const override;

 private:
  UserFilter(const tare_filter& functions, std::string arguments)
      : functions_(functions), arguments_(std::move(arguments)) {}
  const tare_filter& functions_;  // of an object that stays loaded
  std::string arguments_;
};

}  // namespace tare::tared
