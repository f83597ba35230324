#include "bindings/fields.h"
#include "bindings/parts.h"
#include "bindings/words.h"

namespace tare::bindings {
namespace {

enum class ScopeKind : std::uint8_t { window, file };

}  // namespace
}  // namespace tare::bindings

namespace nanobind::detail {
template <>
struct type_caster<tare::format::WindowFlavour>
    : WordCaster<tare::format::WindowFlavour, "unknown", "create", "allocate", "shared", "dynamic"> {};
template <>
struct type_caster<tare::bindings::ScopeKind> : WordCaster<tare::bindings::ScopeKind, "window", "file"> {};
}  // namespace nanobind::detail

namespace tare::bindings {
namespace {

using reader::CommunicatorInfo;
using reader::ScopeInfo;

// `of` is one of the run, which is not changed, or one that is made by its fields.
struct Frame {
  std::shared_ptr<reader::FrameInfo> of = std::make_shared<reader::FrameInfo>();
  std::string tail_call;
};

struct Site {
  std::shared_ptr<reader::SiteInfo> of = std::make_shared<reader::SiteInfo>();
  std::string tail_call;
  std::vector<Frame> path;
};

std::vector<Site> sites(PyRun& py_run) {
  const nb::gil_scoped_release unlocked;
  reader::Run& run = py_run.run();
  const auto shared = [&]<typename Info>(const Info& info) {
    return std::shared_ptr<Info>(py_run.shared(), const_cast<Info*>(&info));
  };
  const std::vector<reader::FrameInfo>& frames = run.frames();
  std::vector<Site> all;
  for (const reader::SiteInfo& site : run.sites()) {
    const auto tail_call = [&](std::size_t i) { return site.tail_calls.empty() ? std::string() : site.tail_calls[i]; };
    Site& made = all.emplace_back(Site{shared(site), tail_call(site.shown), {}});
    for (std::size_t i = 0; i < site.path.size(); ++i)
      made.path.push_back({shared(frames[static_cast<std::size_t>(site.path[i])]), tail_call(i)});
  }
  return all;
}

// What a frame and a site have of the place in the program.
template <typename T>
void define_place(Fields<T>& place) {
  using Info = typename decltype(T::of)::element_type;
  place.field("object", &T::of, &Info::at, &reader::CodeAddress::object)
      .field("offset", &T::of, &Info::at, &reader::CodeAddress::address)
      .unless("caller", "", &T::of, &Info::symbol, &reader::Symbol::caller)
      .unless("file", "", &T::of, &Info::symbol, &reader::Symbol::file)
      .unless("line", 0U, &T::of, &Info::symbol, &reader::Symbol::line)
      .unless("tail_call", "", &T::tail_call);
}

using Runs = std::optional<std::vector<std::tuple<std::int32_t, std::int32_t, std::uint32_t>>>;

auto members(std::optional<reader::Members> CommunicatorInfo::*member) {
  return [member](const CommunicatorInfo& of) {
    Runs runs;
    if (!(of.*member)) return runs;
    runs.emplace();
    for (const format::MemberRun& run : (of.*member)->runs()) runs->emplace_back(run.first, run.stride, run.count);
    return runs;
  };
}

void define_communicator(nb::module_& module) {
  Fields<CommunicatorInfo>(
      module, "Communicator",
      "A communicator. `key` is equal on all members; 0 if not known. Members are ranks in the world: "
      "first, stride, count; `remote_members` those of an intercommunicator.")
      .members<&CommunicatorInfo::world, &CommunicatorInfo::name, &CommunicatorInfo::size, &CommunicatorInfo::inter,
               &CommunicatorInfo::key>()
      .value("members", members(&CommunicatorInfo::members))
      .value("remote_members", members(&CommunicatorInfo::remote_members));
}

void define_scope(nb::module_& module) {
  Fields<ScopeInfo>(
      module, "Scope",
      "A window or a file. `communicator` is an index of `Run.communicators()`, -1 if not known; `key` as of "
      "a communicator; only windows have a flavour.")
      .members<&ScopeInfo::world>()
      .value("kind", [](const ScopeInfo& of) { return of.is_file ? ScopeKind::file : ScopeKind::window; })
      .members<&ScopeInfo::name, &ScopeInfo::communicator, &ScopeInfo::key>()
      .value("flavour", [](const ScopeInfo& of) { return of.is_file ? std::nullopt : std::optional(of.flavour); });
}

}  // namespace

void define_definitions(nb::module_& module, nb::class_<PyRun>& run) {
  Fields<Frame> frame(module, "Frame",
                      "A place in the program where a function was called; None where nothing is known. "
                      "The function `tail_call`, called here, went on to the frame before, or to MPI, by "
                      "a tail call.");
  define_place(frame);
  Fields<Site> site(
      module, "Site",
      "A call path, innermost frame first. Its own fields are those of the frame that stands for it, "
      "`path[shown]`. `cut`: the stack goes on, but how is not known. `left_out`: frames between the last one "
      "and the one before it.");
  define_place(site);
  site.members<&Site::path>()
      .members<&reader::SiteInfo::shown>(&Site::of)
      .flag("cut", format::path_cut, &Site::of, &reader::SiteInfo::flags)
      .flag("left_out", format::frames_left_out, &Site::of, &reader::SiteInfo::flags);
  define_communicator(module);
  define_scope(module);
  run.def("sites", sites);
  run.def("communicators", [](PyRun& of) { return of.run().communicators(); });
  run.def("scopes", [](PyRun& of) { return of.run().scopes(); });
}

}  // namespace tare::bindings
