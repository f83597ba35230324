// The phases that the trace shows, their iterations, and those that are slow.
(() => {
  "use strict";
  const { element, format } = tare;
  const seconds = (ns) => `${(ns / 1e9).toFixed(3)} s`;

  function phases(into, content) {
    tare.table(into, {
      name: "detected", label: "phases", rows: content.structure.map((row, id) => ({ ...row, id })), sort: ["start_ns", "asc"],
      columns: [
        { title: "Phase", field: "phase", kind: "text", minWidth: 70, grow: 1 },
        { title: "Begins", field: "start_ns", minWidth: 96, of: (row) => seconds(row.start_ns) },
        { title: "Takes", field: "duration_ns", kind: "time" },
        { title: "MPI share", field: "mpi_share", kind: "share" },
        { title: "Iterations", field: "iterations", minWidth: 96 },
        { title: "Median", field: "median_ns", kind: "time" },
        { title: "Longest", field: "longest_ns", kind: "time" },
        { title: "Iterations begin with", field: "loop", kind: "text", grow: 3, hover: (row) => row.loop },
        { title: "Most time in and before", field: "most", kind: "text", grow: 3, hover: (row) => row.most },
        { title: "Of phase", field: "line_share", kind: "share" },
      ],
    });
  }
  // How the iterations of a phase go on. A point leads to its iteration in the timeline.
  function curve({ phase, loop, iterations, curve: of }) {
    const count = of.number.length;
    const lines = [["time, longest rank", "longest_ns", "accent"], ["waiting, mean of the ranks", "waiting_ns", "waiting"], ["imbalance of the computing", "imbalance_ns", "imbalance"]]
      .filter(([, key]) => of[key][0] !== null);
    const said = element("p", { class: "hint", role: "status" }, "Click or arrow keys choose an iteration, Enter shows it in the timeline.");
    const tell = (i) => [`iteration ${format.grouped(of.number[i])}`, ...lines.map(([title, key]) => `${title}: ${format.duration(of[key][i])}`)];
    const panel = element("div", { class: "panel" }, element("h3", {}, `Phase ${phase}: ${format.numberOf(iterations, "iteration")} from ${loop}`));
    // Above the chart, not in it: where there is little width, it takes more lines.
    panel.append(element("ul", { class: "legend" }, lines.map(([title, , name]) => element("li", {}, tare.swatch(name), title))));
    const made = tare.chart(panel, `Time, waiting and imbalance of ${format.numberOf(count, "iteration")} of phase ${phase}. Arrow keys choose one, Enter shows it in the timeline`, () => ({
      grid: { left: 8, right: 16, top: 10, bottom: 8, containLabel: true },
      xAxis: tare.axis({ type: "category", data: of.number, boundaryGap: count < 3 }),
      yAxis: tare.axis({ type: "value", splitNumber: 3, axisLabel: { formatter: format.duration } }),
      tooltip: { ...tare.tooltip(), trigger: "axis", formatter: ([at]) => tell(at.dataIndex).join("\n") },
      series: lines.map(([title, key, name]) => ({ name: title, type: "line", showSymbol: count < 60, symbolSize: 4, data: of[key], lineStyle: { width: 1.5, color: tare.color(name) }, itemStyle: { color: tare.color(name) } })),
    }), { size: "small" });
    let at = -1;
    const choose = (i) => {
      at = Math.min(Math.max(i, 0), count - 1);
      said.textContent = `${tell(at).join("; ")}.`;
      made.chart()?.dispatchAction({ type: "showTip", seriesIndex: 0, dataIndex: at });
    };
    const go = () => at >= 0 && tare.showInstance({ row: of.row[at], start_ns: of.start_ns[at], duration_ns: of.longest_ns[at], what: "iteration" });
    const keys = { ArrowLeft: () => choose(at - 1), ArrowRight: () => choose(at + 1), Home: () => choose(0), End: () => choose(count - 1), Enter: go };
    made.holder.tabIndex = 0;
    made.holder.addEventListener("keydown", (event) => {
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    made.holder.addEventListener("click", (event) => {
      choose(made.chart().convertFromPixel({ xAxisIndex: 0 }, event.offsetX));
      go();
    });
    panel.append(said, count < iterations ? element("p", { class: "hint" }, "A point is the longest of several iterations.") : "");
    return panel;
  }
  function slowest(into, rows) {
    into.append(element("h3", {}, "Slow iterations"), element("p", { class: "lead" }, "The slowest of each loop that take more than twice as long as three quarters of the iterations, each on the rank on which it takes longest, and what takes longer in it than usual. A chosen row is shown in the timeline."));
    tare.table(into, {
      name: "slow", label: "slow iterations", rows: rows.map((row, id) => ({ ...row, id })), sort: ["duration_ns", "desc"],
      columns: [
        { title: "Phase", field: "phase", kind: "text", minWidth: 70, grow: 1 },
        { title: "Iteration", field: "iteration" },
        { title: "Rank", field: "rank", kind: "rank" },
        { title: "Begins", field: "start_ns", of: (row) => seconds(row.start_ns) },
        { title: "Takes", field: "duration_ns", kind: "time" },
        { title: "MPI time", field: "mpi_ns", kind: "time" },
        { title: "Longer than usual", field: "cause", kind: "text", grow: 4, hover: (row) => row.cause },
        { title: "By", field: "cause_ns", kind: "time" },
      ],
      onChoose: ({ world, rank, start_ns: start, duration_ns: duration }) => tare.timeline && tare.showInstance({ row: tare.timeline.rowOf(`${world}:${rank}`), start_ns: start - tare.timeline.about.start_ns, duration_ns: duration, what: "iteration" }),
    });
  }
  function draw(into, content) {
    into.append(element("h2", {}, "Phases"), element("p", { class: "lead" }, "Stretches of time in which the ranks do alike, found from the calls of the trace; phases of one letter are alike. An iteration lasts from one call of its line to the next, that of the outermost loop." + tare.ofWorld(content, content.world)));
    phases(into, content);
    const curves = content.structure.filter((phase) => phase.curve?.number.length);
    if (curves.length) into.append(element("h3", {}, "The iterations in the course of the run"), element("p", { class: "lead" }, "Of each iteration its time on the rank on which it takes longest, its time in wait states (mean of the ranks), and its imbalance: the time outside MPI of the rank with the most, beyond the mean."), element("div", { class: "grid2" }, curves.map(curve)));
    const slow = content.structure.flatMap((phase) => phase.slow);
    if (slow.length) slowest(into, slow);
  }
  tare.sections.push({ id: "phases", title: "Phases", draw, wanted: (content) => content.structure.length > 0 });
})();
