// Wait states by line: which calls wait, for whom, and what caused that in the end.
(() => {
  "use strict";
  const { element, format } = tare;

  const list = (pairs) => pairs.map(([rank, time]) => `${rank} (${format.duration(time)})`).join(", ") || format.NOTHING;

  function delays(row, sources) {
    if (!row.delays.length) return [element("p", { class: "muted" }, "What caused these waits in the end is not known.")];
    return row.delays.slice(0, 3).flatMap((delay) => [
      element("h3", {}, `Rank ${delay.rank} ${delay.in_call ? "was longer in" : "computed longer before"} ${delay.function} at ${delay.where}: ${format.duration(delay.cost_ns)}`),
      tare.sourceText(delay, sources)]);
  }

  // How the waits of a line go on: in each eighth of the run.
  function trend(row) {
    const made = element("div", {});
    tare.chart(made, `Waiting in each part of the run: ${row.by_time.map(format.duration).join(", ")}`, () => ({
      xAxis: tare.axis({ type: "category", data: row.by_time.map((_, i) => `${i + 1}`), name: "part of the run", nameLocation: "middle", nameGap: 24, nameTextStyle: { color: tare.color("muted"), align: "center" } }),
      yAxis: tare.axis({ type: "value", axisLabel: { formatter: format.duration }, splitNumber: 3 }),
      grid: { left: 8, right: 20, top: 12, bottom: 26, containLabel: true },
      tooltip: { ...tare.tooltip(), trigger: "axis", formatter: ([at]) => `${format.duration(row.by_time[at.dataIndex])} in part ${at.dataIndex + 1} of ${row.by_time.length}` },
      series: [{ type: "bar", data: row.by_time, itemStyle: { color: tare.color("waiting") }, barMaxWidth: 34 }],
    }), { size: "small" });
    return [element("h3", {}, "In the course of the run"), made];
  }

  function details(row, sources) {
    const facts = [
      ["Waited", list(row.waiting)],
      ["For rank", list(row.causes)],
      ["Waits", `${format.grouped(row.waits)}, ${format.duration(row.wait_ns / row.waits)} each on average`],
    ];
    return [
      element("h3", {}, `${row.kind}: ${row.function} at ${row.where}`),
      row.worst && element("div", { class: "tools" }, element("button", { type: "button", onclick: () => tare.showInstance(row.worst) }, "Show the longest in the timeline")),
      element("dl", {}, facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
      row.by_time.length ? trend(row) : null,
      element("div", { class: "columns" },
        element("div", {}, element("h3", {}, "Where they wait"), tare.sourceText(row, sources)),
        element("div", {}, delays(row, sources))),
    ].flat().filter(Boolean);
  }

  function draw(into, content) {
    into.append(element("h2", {}, "Wait states"));
    if (!content.waits.length) {
      into.append(element("p", { class: "lead" }, !content.overview.uses_mpi ? "No process of this run has called MPI, so none waited for another in it." : content.overview.trace.records ? "No rank waited for another in a call that the trace has, or the trace is too long to look at here: tare explain." : "A trace tells who waits for whom: tare run --trace."));
      return;
    }
    into.append(element("p", { class: "lead" }, "Time in MPI because another rank had not come yet, by the line that waits. The cause is the rank that made them wait in the end, on whatever ranks the wait was passed on, with its part of the time. Choose a row for the ranks, for all causes, and for the source text." + tare.ofWorld(content, content.world)));
    const chosen = element("div", { class: "panel detail", "aria-live": "polite" });
    chosen.hidden = true;
    const holder = element("div", {});
    into.append(holder, chosen);
    const rows = content.waits.map((row, id) => ({ ...row, id, delay: row.delays.length ? `${row.delays[0].in_call ? "in" : "before"} ${row.delays[0].function} ${row.delays[0].where}` : null }));
    tare.table(holder, {
      name: "waitstates",
      label: "wait states",
      rows,
      sort: ["wait_ns", "desc"],
      text: (row) => `${row.kind} ${row.function} ${row.where} ${row.caller ?? ""} ${row.delay ?? ""}`,
      columns: [
        { title: "Kind", field: "kind", kind: "text" },
        { title: "Function", field: "function", kind: "text" },
        { title: "Where", field: "where", kind: "text", hover: (row) => (row.file ? `${row.file}:${row.line}` : "") },
        { title: "Waits", field: "waits", minWidth: 70 },
        { title: "Waited", field: "wait_ns", kind: "time" },
        { title: "Of ranks' time", field: "share", kind: "share" },
        { title: "Ranks", field: "ranks", minWidth: 70 },
        { title: "Cause", field: "cause", kind: "rank", minWidth: 70 },
        { title: "By it", field: "cause_share", kind: "share", minWidth: 70 },
        { title: "What it did", field: "delay", kind: "text" },
      ],
      onChoose(row) {
        chosen.hidden = false;
        chosen.replaceChildren(...details(row, content.sources));
      },
    });
  }
  tare.sections.push({ id: "waitstates", title: "Wait states", draw });
})();
