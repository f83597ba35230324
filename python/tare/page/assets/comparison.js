// Two runs side by side: what limits each, their figures, and their call sites.
(() => {
  "use strict";
  const { element, format } = tare;
  const SHOW = { time: format.duration, size: format.size, count: format.grouped };

  const signed = (show, value) => (value > 0 ? `+${show(value)}` : value < 0 ? `\u2212${show(-value)}` : format.NOTHING);

  function side(of, title) {
    const share = (part) => element("li", {}, tare.swatch(part.name), element("span", {}, part.title), element("b", {}, format.percent(part.share)));
    return element("div", { class: "panel" },
      element("h3", {}, `${title}: ${of.program}`),
      element("p", { class: "muted" }, `${of.uses_mpi ? format.numberOf(of.ranks, "rank") : format.numberOf(of.ranks, "process", "processes")}, ${new Date(of.start_ns / 1e6).toISOString().slice(0, 16).replace("T", " ")} UTC, ${of.run}`),
      element("ol", { class: "findings" }, of.findings.map((finding) => element("li", {}, finding))),
      of.parts.length ? element("ul", { class: "legend column" }, of.parts.map(share)) : null,
      of.share_unknown ? element("p", { class: "muted" }, `How long ranks are in MPI is not known: ${of.share_unknown}.`) : null,
      tare.aloneOf({ overview: of }, of.world));
  }

  function figures(rows) {
    const cell = (row, name) => element("td", { class: "number" }, SHOW[row.kind](row[name]));
    const change = (row) => (row.other ? `${row.change > 0 ? "+" : row.change < 0 ? "\u2212" : ""}${format.percent(Math.abs(row.change) / row.other)}` : format.NOTHING);
    return element("div", { class: "panel" }, element("table", { class: "worst" },
      element("thead", {}, element("tr", {}, ["", "The other run", "This run", "Change"].map((title) => element("th", { scope: "col", class: title ? "number" : null }, title)))),
      element("tbody", {}, rows.map((row) => element("tr", {},
        element("td", {}, row.title), cell(row, "other"), cell(row, "own"), element("td", { class: "number" }, change(row)))))));
  }

  function draw(into, { comparison }) {
    into.append(element("h2", {}, "Comparison"),
      element("p", { class: "lead" }, "This run beside another one. Of single runs it is not known which differences are noise: tare diff compares repeated ones."),
      ...comparison.notes.map((note) => element("p", { class: "notice" }, note)),
      element("div", { class: "two" }, side(comparison.sides[0], "The other run"), side(comparison.sides[1], "This run")),
      figures(comparison.figures));
    const holder = element("div", {});
    into.append(element("h3", {}, "Call sites, the largest change of time first"), holder);
    tare.table(holder, {
      name: "comparison",
      label: "call sites of both runs",
      rows: comparison.lines.map((line, id) => ({ ...line, id, size_ns: Math.abs(line.change_ns) })),
      sort: ["size_ns", "desc"],
      text: (row) => `${row.function} ${row.where ?? ""} ${row.caller ?? ""}`,
      columns: [
        { title: "Function", field: "function", kind: "text" },
        { title: "Where", field: "where", kind: "text" },
        { title: "Other run", field: "other_ns", kind: "time" },
        { title: "This run", field: "own_ns", kind: "time" },
        { title: "Change", field: "size_ns", kind: "time", of: (row) => signed(format.duration, row.change_ns) },
        { title: "Calls, other", field: "other_calls" },
        { title: "Calls", field: "own_calls" },
      ],
    });
  }
  tare.sections.push({ id: "comparison", title: "Comparison", draw, wanted: (content) => Boolean(content.comparison) });
})();
