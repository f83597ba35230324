#include "bindings/definitions.h"

#include "bindings/convert.h"

namespace tare::bindings {
namespace {

const char* name_of(format::WindowFlavour flavour) {
  switch (flavour) {
    case format::WindowFlavour::create:
      return "create";
    case format::WindowFlavour::allocate:
      return "allocate";
    case format::WindowFlavour::shared:
      return "shared";
    case format::WindowFlavour::dynamic:
      return "dynamic";
    case format::WindowFlavour::none:
      break;
  }
  return "unknown";
}

// (first, stride, count) of each run; None if the members are not known.
nb::object member_runs(const std::optional<reader::Members>& members) {
  if (!members) return nb::none();
  nb::list runs;
  for (const format::MemberRun& run : members->runs()) runs.append(nb::make_tuple(run.first, run.stride, run.count));
  return runs;
}

// Sets the known values of a frame in `row`.
void describe(nb::dict& row, const reader::CodeAddress& at, const reader::Symbol& symbol) {
  row["object"] = text(at.object);
  row["offset"] = at.address;
  row["caller"] = text_or_none(symbol.caller);
  row["file"] = text_or_none(symbol.file);
  row["line"] = nb::none();
  if (symbol.line != 0) row["line"] = symbol.line;
}

// Paths share frames, except if a tail call leads to another frame.
nb::dict with_tail_call(const nb::dict& frame, const std::string& function) {
  nb::dict copy;
  copy.update(frame);
  copy["tail_call"] = text(function);
  return copy;
}

}  // namespace

nb::list site_rows(reader::Run& run) {
  const std::vector<reader::SiteInfo>* sites = nullptr;
  const std::vector<reader::FrameInfo>* frames = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    sites = &run.sites();
    frames = &run.frames();
  }
  // Many paths share a frame.
  std::vector<nb::dict> described(frames->size());
  for (std::size_t i = 0; i < frames->size(); ++i) {
    describe(described[i], (*frames)[i].at, (*frames)[i].symbol);
    described[i]["tail_call"] = nb::none();
  }
  nb::list rows;
  for (const reader::SiteInfo& site : *sites) {
    nb::dict row;
    describe(row, site.at, site.symbol);
    nb::list path;
    for (std::size_t i = 0; i < site.path.size(); ++i) {
      const nb::dict& frame = described[static_cast<std::size_t>(site.path[i])];
      const bool plain = site.tail_calls.empty() || site.tail_calls[i].empty();
      path.append(plain ? frame : with_tail_call(frame, site.tail_calls[i]));
    }
    row["tail_call"] = path[site.shown]["tail_call"];
    row["path"] = path;
    row["shown"] = site.shown;
    row["cut"] = (site.flags & format::path_cut) != 0;
    row["left_out"] = (site.flags & format::frames_left_out) != 0;
    rows.append(row);
  }
  return rows;
}

nb::list communicator_rows(const reader::Run& run) {
  nb::list rows;
  for (const reader::CommunicatorInfo& communicator : run.communicators()) {
    nb::dict row;
    row["world"] = communicator.world;
    row["name"] = text(communicator.name);
    row["size"] = communicator.size;
    row["inter"] = communicator.inter;
    row["key"] = communicator.key;
    row["members"] = member_runs(communicator.members);
    row["remote_members"] = member_runs(communicator.remote_members);
    rows.append(row);
  }
  return rows;
}

nb::list scope_rows(const reader::Run& run) {
  nb::list rows;
  for (const reader::ScopeInfo& scope : run.scopes()) {
    nb::dict row;
    row["world"] = scope.world;
    row["kind"] = scope.is_file ? "file" : "window";
    row["name"] = text(scope.name);
    row["communicator"] = scope.communicator;
    row["key"] = scope.key;
    if (!scope.is_file) row["flavour"] = name_of(scope.flavour);
    rows.append(row);
  }
  return rows;
}

}  // namespace tare::bindings
