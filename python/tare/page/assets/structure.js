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
        { title: "In MPI", field: "mpi_share", kind: "share" },
        { title: "Iterations", field: "iterations", minWidth: 96 },
        { title: "Median", field: "median_ns", kind: "time" },
        { title: "Longest", field: "longest_ns", kind: "time" },
        { title: "Iterations begin with", field: "loop", kind: "text", grow: 3, hover: (row) => row.loop },
        { title: "Most time in and before", field: "most", kind: "text", grow: 3, hover: (row) => row.most },
        { title: "Share", field: "line_share", kind: "share" },
      ],
    });
  }
  function slowest(into, rows) {
    into.append(element("h3", {}, "Slow iterations"), element("p", { class: "lead" }, "The slowest of each loop that take more than twice the median, each on the rank on which it takes longest, and what takes longer in it than usual."));
    tare.table(into, {
      name: "slow", label: "slow iterations", rows: rows.map((row, id) => ({ ...row, id })), sort: ["duration_ns", "desc"],
      columns: [
        { title: "Phase", field: "phase", kind: "text", minWidth: 70, grow: 1 },
        { title: "Iteration", field: "iteration" },
        { title: "Rank", field: "rank" },
        { title: "Begins", field: "start_ns", of: (row) => seconds(row.start_ns) },
        { title: "Takes", field: "duration_ns", kind: "time" },
        { title: "In MPI", field: "mpi_ns", kind: "time" },
        { title: "Longer than usual", field: "cause", kind: "text", grow: 4, hover: (row) => row.cause },
        { title: "By", field: "cause_ns", kind: "time" },
      ],
    });
  }
  function draw(into, content) {
    into.append(element("h2", {}, "Phases"), element("p", { class: "lead" }, "Stretches of time in which the ranks do alike, found from the calls of the trace; phases of one letter are alike. An iteration lasts from one call of its line to the next, that of the outermost loop."));
    phases(into, content);
    const slow = content.structure.flatMap((phase) => phase.slow);
    if (slow.length) slowest(into, slow);
  }
  tare.sections.push({ id: "phases", title: "Phases", draw, wanted: (content) => content.structure.length > 0 });
})();
