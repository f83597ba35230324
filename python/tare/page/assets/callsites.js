// Every call site: a table, and of the chosen one its call path and source text.
(() => {
  "use strict";
  const { element, format, swatch } = tare;

  function sourceOf(site, sources) {
    const lines = site.file && sources[site.file];
    if (!lines) return element("p", { class: "muted" }, site.file ? `${site.file}: the source text was not at hand` : "No line is known of this place.");
    const numbers = Object.keys(lines).map(Number).sort((a, b) => a - b).filter((number) => Math.abs(number - site.line) <= 3);
    return element("div", { class: "source mono", tabindex: 0, role: "region", "aria-label": "Source text" }, numbers.map((number) =>
      element("div", { class: number === site.line ? "at" : null }, element("span", { class: "number" }, String(number)), lines[number])));
  }

  tare.sourceText = sourceOf;

  function details(site, content) {
    const facts = [
      ["Calls", format.grouped(site.calls)],
      ["Time", site.time_ns === null ? "only counted" : `${format.time(site)}; mean ${format.duration(site.mean_ns)}, ${format.duration(site.min_ns)} to ${format.duration(site.max_ns)}`],
      site.ranks && site.rank_min >= 0 ? ["Over ranks", `${format.numberOf(site.ranks, "rank")}, ${format.duration(site.rank_min_ns)} (rank ${site.rank_min}) to ${format.duration(site.rank_max_ns)} (rank ${site.rank_max})`] : null,
      site.imbalance_ns ? ["Imbalance", `${format.duration(site.imbalance_ns)} beyond the rank with the least time`] : null,
      site.waited_ns ? ["In waits", `${format.duration(site.waited_ns)} of calls that waited for requests of this place`] : null,
      site.bytes ? ["Bytes", format.size(site.bytes)] : null,
      site.received ? ["Received", format.size(site.received)] : null,
    ].filter(Boolean);
    return [
      element("h3", {}, swatch(site.class), site.where === null || site.where === format.NOTHING ? site.function : `${site.function} at ${site.where}`),
      element("div", { class: "columns" },
        element("div", {}, element("dl", {}, facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
          ...(site.path === null ? [element("p", { class: "muted" }, `${format.numberOf(site.sites, site.where === null ? "call site" : "call path")}; “Call path” above the table shows each.`)] : [
            element("h3", {}, "Call path, innermost first"),
            element("ol", { class: "path mono" }, (site.path.length ? site.path : ["not known"]).map((frame) => element("li", {}, frame)))])),
        site.where === null ? null : element("div", {}, element("h3", {}, site.file || "Source"), sourceOf(site, content.sources))),
    ];
  }

  // Sums of calls that have the key in common. What is known of one of them alone, or differs, is null in the sum.
  const both = (of, a, b) => (a === null ? b : b === null ? a : of(a, b));
  const add = (a, b) => a + b;
  function grouped(sites, keyOf) {
    const groups = new Map();
    for (const site of sites) {
      const key = keyOf(site);
      const sum = groups.get(key);
      if (!sum) {
        groups.set(key, { ...site, sites: 1 });
        continue;
      }
      for (const name of ["calls", "counted", "time_ns", "bytes", "received", "waited_ns", "estimated_calls", "imbalance_ns"]) sum[name] = both(add, sum[name], site[name]);
      for (const name of ["where", "caller", "file", "line"]) if (sum[name] !== site[name]) sum[name] = null;
      if (sum.path?.join("\n") !== site.path.join("\n")) sum.path = null;
      sum.timed ||= site.timed;
      sum.max_ns = both(Math.max, sum.max_ns, site.max_ns);
      sum.min_ns = both(Math.min, sum.min_ns, site.min_ns);
      sum.mean_ns = sum.timed ? sum.time_ns / (sum.calls - sum.counted) : null;
      sum.ranks = null;
      sum.sites += 1;
    }
    return [...groups.values()];
  }
  const BY = {
    site: ["Call path", (site) => site.id],
    line: ["Line", (site) => JSON.stringify([site.world, site.function, site.file, site.where])],
    function: ["Function", (site) => JSON.stringify([site.world, site.function])],
  };

  function draw(into, content) {
    const total = content.overview.mpi_ns;
    const all = content.sites.map((site, id) => ({ ...site, id, share: total && !site.outside ? site.time_ns / total : null, calls: site.calls, ...(site.timed ? {} : { time_ns: null, mean_ns: null, max_ns: null, min_ns: null }) }));
    const chosen = element("div", { class: "panel detail", "aria-live": "polite" });
    chosen.hidden = true;
    const others = [...new Set(all.map((site) => site.source))].filter((source) => source && source !== "MPI").sort();
    const holder = element("div", {});
    const buttons = Object.entries(BY).map(([name, [title]]) => element("button", { type: "button", "data-by": name, onclick: () => show(name) }, title));
    into.append(
      element("h2", {}, "Call sites"),
      element("p", { class: "lead" }, `Where the program calls MPI${others.length ? ` and other sources of events (${others.join(", ")})` : ""}, and how it came there. Choose a row for its call path and source text. “Of MPI” is the share of all time in MPI between MPI_Init and MPI_Finalize.`),
      ...(content.overview.measured_only ? [element("p", { class: "notice" }, content.overview.measured_only)] : []),
      element("div", { class: "tools" }, element("span", { class: "group", role: "group", "aria-label": "A row stands for" }, buttons)),
      holder, chosen);

    function show(by) {
      const kind = BY[by] ? by : "line";
      tare.state.set("sites.by", kind === "line" ? null : kind);
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.by === kind));
      const rows = grouped(all, BY[kind][1]);
      for (const row of rows) row.share = row.outside || !total || !row.timed ? null : row.time_ns / total;
      holder.replaceChildren();
      const hasWorlds = content.overview.worlds > 1;
      tare.table(holder, {
        name: "sites",
        label: "call sites",
        rows,
        sort: ["time_ns", "desc"],
        text: (row) => (kind === "function" ? row.function : `${row.function} ${row.where ?? ""} ${row.caller ?? ""} ${kind === "site" ? row.path.join(" ") : ""}`),
        columns: [
          { title: "Function", field: "function", kind: "text" },
          ...(kind === "function" ? [] : [
            { title: "Where", field: "where", kind: "text", hover: (row) => (row.file ? `${row.file}:${row.line}` : "") },
            { title: "Caller", field: "caller", kind: "text", hover: (row) => row.caller }]),
          ...(hasWorlds ? [{ title: "World", field: "world" }] : []),
          { title: "Calls", field: "calls" },
          { title: "Time", field: "time_ns", kind: "time", of: format.time },
          { title: "Of MPI", field: "share", kind: "share" },
          { title: "Mean", field: "mean_ns", kind: "time" },
          { title: "Longest", field: "max_ns", kind: "time" },
          { title: "Imbalance", field: "imbalance_ns", kind: "time" },
          { title: "Bytes", field: "bytes", kind: "size" },
        ],
        onChoose(row) {
          chosen.hidden = false;
          chosen.replaceChildren(...details(row, content));
        },
      });
    }
    show(tare.state.get("sites.by") ?? "line");
    tare.state.onChange(() => {
      if (tare.state.section() === "callsites") show(tare.state.get("sites.by") ?? "line");
    });
  }
  tare.sections.push({ id: "callsites", title: "Call sites", draw });
})();
