#include "tared/filters/user_filter.h"

#include <dlfcn.h>

namespace tare::tared {

namespace {

static_assert(sizeof(tare_metrics) == sizeof(Metrics));

class UserReduction : public Reduction {
 public:
  UserReduction(const tare_filter& functions, void* reduction) : functions_(functions), reduction_(reduction) {}
  ~UserReduction() override { functions_.end(reduction_); }
  UserReduction(const UserReduction&) = delete;
  UserReduction& operator=(const UserReduction&) = delete;

  void add(const Snapshot& snapshot) override {
    const tare_snapshot shown{snapshot.round,        snapshot.rank,
                              snapshot.offloaded_ns, snapshot.keys.size(),
                              snapshot.keys.data(),  reinterpret_cast<const tare_metrics*>(snapshot.values.data())};
    functions_.add(reduction_, &shown);
  }
  // The user's function checks and reduces at once, so nothing can be checked before.
  bool unpack(std::span<const std::byte> reduced) override {
    reduced_ = reduced;
    return true;
  }
  bool unite() override { return functions_.merge(reduction_, reduced_.data(), reduced_.size()) == 0; }
  void write(Writer& out) const override {
    const auto append = [](void* to, const void* bytes, std::size_t size) {
      static_cast<Writer*>(to)->put_all(std::span(static_cast<const std::byte*>(bytes), size));
    };
    functions_.write(reduction_, append, &out);
  }
  void clear() override { functions_.clear(reduction_); }

 private:
  const tare_filter& functions_;
  void* reduction_;
  std::span<const std::byte> reduced_;  // being merged
};

}  // namespace

std::unique_ptr<UserFilter> UserFilter::load(const std::string& specification, std::string& error) {
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
  } else if (functions->version != TARE_FILTER_VERSION) {
    error = file + " is a filter of version " + std::to_string(functions->version) + "; this tare knows version " +
            std::to_string(TARE_FILTER_VERSION);
  } else if (functions->begin == nullptr || functions->add == nullptr || functions->merge == nullptr ||
             functions->write == nullptr || functions->clear == nullptr || functions->end == nullptr) {
    error = file + " leaves out a function of its filter";
  } else if (void* reduction = functions->begin(arguments.c_str())) {
    functions->end(reduction);
    dlclose(object);
    return std::unique_ptr<UserFilter>(new UserFilter(*functions, arguments));
  } else {
    error = file + " refuses its arguments '" + arguments + "'";
  }
  dlclose(object);
  return nullptr;
}

std::unique_ptr<Reduction> UserFilter::begin() const {
  return std::make_unique<UserReduction>(functions_, functions_.begin(arguments_.c_str()));
}

}  // namespace tare::tared
