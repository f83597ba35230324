// A filter that the user provides: a shared object with the interface of include/tare/filter.h.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "tare/filter.h"
#include "tared/filters/filter.h"

namespace tare::tared {

// What a user's filter can find out about events.
class KnownEvents : public tare_events {
 public:
  KnownEvents();
  void add(const EventName& name);

 private:
  struct Known {
    std::string name;
    std::string unit;
    tare_event event;
  };
  std::unordered_map<EventKey, Known> events_;  // whose elements stay where they are
};

class UserFilter : public Filter {
 public:
  // `specification` is FILE.so[:ARGUMENTS]. `is_combined`: unpack() tries the user's merge(), so that several filters
  // can agree whether bytes are a result. Returns nothing, with the reason in `error`, if the filter cannot be loaded
  // or refuses its arguments.
  static std::unique_ptr<UserFilter> load(const std::string& specification, bool is_combined, std::string& error);
  std::unique_ptr<Reduction> begin() const override;
  void define(const EventName& name) override { events_->add(name); }

 private:
  UserFilter(const tare_filter& functions, std::string arguments, bool is_combined)
      : functions_(functions), arguments_(std::move(arguments)), is_combined_(is_combined) {}
  void* begin_reduction() const;

  const tare_filter& functions_;  // of an object that stays loaded
  std::string arguments_;
  bool is_combined_;
  std::unique_ptr<KnownEvents> events_ = std::make_unique<KnownEvents>();
};

}  // namespace tare::tared
