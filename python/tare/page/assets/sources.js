// What other sources of events than MPI tell: parallel regions of OpenMP, and files.
(() => {
  "use strict";
  const { element, format } = tare;

  function below(into, { left_out: leftOut, notes }) {
    const more = leftOut ? [`${format.numberOf(leftOut, "more row is", "more rows are")} in tare profile.`] : [];
    into.append(...[...notes, ...more].map((note) => element("p", { class: "hint" }, note)));
  }
  // The end of a long path says more than its begin.
  const shortened = (path) => (path.length > 34 ? `…${path.slice(-33)}` : path);

  function drawRegions(into, content) {
    const { openmp, overview } = content;
    const rows = openmp.regions.map((row, id) => ({ ...row, id }));
    into.append(element("h2", {}, "OpenMP"), element("p", { class: "lead" }, "Parallel regions by source line: how long they take, and how the work is spread over the threads of their teams. A thread that is idle waits for others, or has not come to the region."));
    if (openmp.efficiencies.length)
      into.append(element("div", { class: "panel detail" }, element("h3", {}, overview.uses_mpi ? "Efficiencies of MPI and OpenMP together" : "Efficiencies"),
        element("dl", {}, openmp.efficiencies.flatMap((cells) => [element("dt", {}, cells.slice(0, -1).join(": ")), element("dd", {}, cells[cells.length - 1])]))));
    const holder = element("div", {});
    into.append(holder);
    tare.table(holder, {
      name: "regions", label: "parallel regions", rows, sort: ["idle_ns", "desc"],
      text: (row) => `${row.caller} ${row.where}`,
      columns: [
        { title: "Region in", field: "caller", kind: "text" },
        { title: "Where", field: "where", kind: "text", hover: (row) => (row.file ? `${row.file}:${row.line}` : "") },
        ...(overview.worlds > 1 ? [{ title: "World", field: "world", kind: "rank" }] : []), tare.whose(overview),
        { title: "Calls", field: "calls" }, { title: "Time", field: "time_ns", kind: "time" }, { title: "Threads", field: "threads", minWidth: 70 },
        { title: "Mean work", field: "work_mean_ns", kind: "time" }, { title: "Most work", field: "work_max_ns", kind: "time" }, { title: "By thread", field: "thread", kind: "text", minWidth: 70, grow: 1 },
        { title: "Idle time", field: "idle_ns", kind: "time" }, { title: "Idle", field: "idle_share", kind: "share" },
      ],
    });
    below(into, openmp);
  }

  function drawFiles(into, content) {
    const { files, overview } = content;
    const rows = files.files.map((row, id) => ({ ...row, id }));
    into.append(element("h2", {}, "Files"), element("p", { class: "lead" }, "What was read from each file and written to it, through which interface. Consecutive accesses begin where the one before ended, strided ones at equal distances."));
    const holder = element("div", {});
    into.append(holder);
    tare.table(holder, {
      name: "files", label: "files", rows, sort: ["time_ns", "desc"],
      text: (row) => `${row.file} ${row.interface}`,
      columns: [
        { title: "File", field: "file", kind: "text", minWidth: 250, of: (row) => shortened(row.file), hover: (row) => row.file }, { title: "Through", field: "interface", kind: "text", minWidth: 80, grow: 1 },
        ...(overview.worlds > 1 ? [{ title: "World", field: "world", kind: "rank" }] : []),
        { title: "Time", field: "time_ns", kind: "time" }, { title: "Reads", field: "reads" }, { title: "Read", field: "read_bytes", kind: "size" },
        { title: "Writes", field: "writes" }, { title: "Written", field: "written_bytes", kind: "size" },
        { title: "Consecutive", field: "consecutive_share", kind: "share" }, { title: "Strided", field: "strided_share", kind: "share" },
        { title: "Opens", field: "opens" }, { title: "Ranks", field: "ranks", minWidth: 70 },
      ],
    });
    below(into, files);
  }

  tare.sections.push(
    { id: "openmp", title: "OpenMP", draw: drawRegions, wanted: (content) => Boolean(content.openmp) },
    { id: "files", title: "Files", draw: drawFiles, wanted: (content) => Boolean(content.files) });
})();
