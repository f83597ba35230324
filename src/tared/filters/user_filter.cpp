#include "tared/filters/user_filter.h"

#include <dlfcn.h>

#include <array>

namespace tare::tared {

namespace {

static_assert(sizeof(tare_metrics) == sizeof(Metrics));

constexpr std::uint32_t first_version = 1;
constexpr std::uint32_t version_with_events = 2;

// By format::EventKind.
constexpr std::array kinds{TARE_EVENT_FUNCTION, TARE_EVENT_REGION, TARE_EVENT_PHASE, TARE_EVENT_COUNTER};

// A reduction of the user's; nullptr if its memory was short.
class Owned {
 public:
  Owned(const tare_filter& functions, void* reduction) : functions_(functions), reduction_(reduction) {}
  ~Owned() {
    if (reduction_ != nullptr) functions_.end(reduction_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  void* get() const { return reduction_; }

 private:
  const tare_filter& functions_;
  void* reduction_;
};

class UserReduction : public Reduction {
 public:
  // `trial`: for unpack(), or nullptr.
  UserReduction(const tare_filter& functions, void* reduction, void* trial)
      : functions_(functions), reduction_(functions, reduction), trial_(functions, trial) {}

  void add(const Snapshot& snapshot) override {
    const tare_snapshot shown{snapshot.round,        snapshot.rank,
                              snapshot.offloaded_ns, snapshot.keys.size(),
                              snapshot.keys.data(),  reinterpret_cast<const tare_metrics*>(snapshot.values.data())};
    if (reduction_.get() != nullptr) functions_.add(reduction_.get(), &shown);
  }
  // The user's function checks and reduces at once.
  bool unpack(std::span<const std::byte> reduced) override {
    reduced_ = reduced;
    if (trial_.get() == nullptr) return true;
    functions_.clear(trial_.get());
    return functions_.merge(trial_.get(), reduced.data(), reduced.size()) == 0;
  }
  bool unite() override {
    return reduction_.get() != nullptr && functions_.merge(reduction_.get(), reduced_.data(), reduced_.size()) == 0;
  }
  void write(Writer& out) const override {
    const auto append = [](void* to, const void* bytes, std::size_t size) {
      static_cast<Writer*>(to)->put_all(std::span(static_cast<const std::byte*>(bytes), size));
    };
    if (reduction_.get() != nullptr) functions_.write(reduction_.get(), append, &out);
  }
  void clear() override {
    if (reduction_.get() != nullptr) functions_.clear(reduction_.get());
  }

 private:
  const tare_filter& functions_;
  Owned reduction_;
  Owned trial_;
  std::span<const std::byte> reduced_;  // being merged
};

}  // namespace

KnownEvents::KnownEvents() : tare_events{} {
  find = [](const tare_events* events, std::uint64_t key) -> const tare_event* {
    const auto& known = static_cast<const KnownEvents*>(events)->events_;
    const auto found = known.find(key);
    return found == known.end() ? nullptr : &found->second.event;
  };
}

void KnownEvents::add(const EventName& name) {
  const auto [kind, text] = format::event_name(name.text);
  const auto [entry, is_new] = events_.try_emplace(name.key, Known{std::string(text), name.unit, {}});
  Known& known = entry->second;
  if (is_new) known.event = {name.key, kinds[static_cast<std::size_t>(kind)], known.name.c_str(), known.unit.c_str()};
}

std::unique_ptr<UserFilter> UserFilter::load(const std::string& specification, bool is_combined, std::string& error) {
  const std::size_t colon = specification.find(".so:");
  const std::string file = colon == std::string::npos ? specification : specification.substr(0, colon + 3);
  const std::string arguments = colon == std::string::npos ? "" : specification.substr(colon + 4);
  void* object = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (object == nullptr) {
    error = dlerror();
    return nullptr;
  }
  const auto entry = reinterpret_cast<const tare_filter* (*)()>(dlsym(object, "tare_filter_1"));
  const tare_filter* functions = entry == nullptr ? nullptr : entry();
  if (functions == nullptr) {
    error = file + " does not export tare_filter_1()";
  } else if (functions->version < first_version || functions->version > TARE_FILTER_VERSION) {
    error = file + " is a filter of version " + std::to_string(functions->version) +
            "; this tare knows versions up to " + std::to_string(TARE_FILTER_VERSION);
  } else if (functions->begin == nullptr || functions->add == nullptr || functions->merge == nullptr ||
             functions->write == nullptr || functions->clear == nullptr || functions->end == nullptr) {
    error = file + " leaves out a function of its filter";
  } else if (void* reduction = functions->begin(arguments.c_str())) {
    functions->end(reduction);
    dlclose(object);
    return std::unique_ptr<UserFilter>(new UserFilter(*functions, arguments, is_combined));
  } else {
    error = file + " refuses its arguments '" + arguments + "'";
  }
  dlclose(object);
  return nullptr;
}

void* UserFilter::begin_reduction() const {
  void* reduction = functions_.begin(arguments_.c_str());
  // Filters of the first version end before this member.
  if (reduction != nullptr && functions_.version >= version_with_events && functions_.know != nullptr)
    functions_.know(reduction, events_.get());
  return reduction;
}

std::unique_ptr<Reduction> UserFilter::begin() const {
  return std::make_unique<UserReduction>(functions_, begin_reduction(), is_combined_ ? begin_reduction() : nullptr);
}

}  // namespace tare::tared
