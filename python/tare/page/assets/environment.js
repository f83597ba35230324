// What the buffers did, phases, and how the run was made.
(() => {
  "use strict";
  const { element, format } = tare;

  function drawWaits(into, content) {
    const rows = content.sites.map((site, id) => ({ ...site, id })).filter((site) => site.imbalance_ns > 0 || site.waited_ns > 0);
    into.append(element("h2", {}, "Waiting"), element("p", { class: "lead" }, "Time in collectives beyond that of the rank with the least, and time in MPI_Wait and similar functions for requests that were started at this place."));
    const holder = element("div", {});
    into.append(holder);
    tare.table(holder, {
      name: "waits", label: "waiting", rows, sort: ["waited_ns", "desc"], text: (row) => `${row.function} ${row.where} ${row.caller ?? ""}`,
      empty: "No waiting in collectives or for requests was seen.",
      columns: [
        { title: "Function", field: "function", kind: "text" }, { title: "Where", field: "where", kind: "text", hover: (row) => row.file },
        { title: "Caller", field: "caller", kind: "text" }, ...(content.overview.worlds > 1 ? [{ title: "World", field: "world" }] : []), { title: "Calls", field: "calls" },
        { title: "Imbalance", field: "imbalance_ns", kind: "time" }, { title: "In waits", field: "waited_ns", kind: "time" },
        { title: "Slowest rank", field: "rank_max", kind: "rank" }, { title: "Its time", field: "rank_max_ns", kind: "time" },
      ],
    });
    if (!content.phases.length) return;
    const phases = element("div", {});
    into.append(element("h3", {}, "Phases"), phases);
    tare.table(phases, {
      name: "phases", label: "phases", rows: content.phases.map((row, id) => ({ ...row, id })), sort: ["time_ns", "desc"], text: (row) => row.phase,
      columns: [
        { title: "Phase", field: "phase", kind: "text" }, ...(content.overview.worlds > 1 ? [{ title: "World", field: "world" }] : []), { title: "Entered", field: "entries" }, { title: "Time", field: "time_ns", kind: "time" },
        { title: "Share in calls", field: "calls_share", kind: "share" }, { title: "Timed calls", field: "timed_calls" }, { title: "Bytes", field: "bytes", kind: "size" },
        { title: "Slowest rank", field: "rank_max", kind: "rank" }, { title: "Its time", field: "rank_max_ns", kind: "time" },
      ],
    });
  }

  function drawFlushes(into, { flushes, overview }) {
    into.append(element("h2", {}, "Flushes"), element("p", { class: "lead" }, "Each thread has a buffer of its own, and writes it out when it is full. That time is part of the cost of measuring."));
    const holder = element("div", {});
    into.append(holder);
    tare.table(holder, {
      name: "flushes", label: "flushes", rows: flushes.map((row, id) => ({ ...row, id, mean_ns: row.flushes ? row.flush_ns / row.flushes : null })), sort: ["flush_ns", "desc"],
      text: (row) => `rank ${row.rank}, process ${row.pid}`, empty: "No events were recorded: this run is a profile. A trace: tare run --trace",
      columns: [
        ...(overview.worlds > 1 ? [{ title: "World", field: "world" }] : []),
        tare.whose(overview), { title: "Location", field: "location" }, { title: "Records", field: "records" }, { title: "On disk", field: "bytes", kind: "size" },
        { title: "Flushes", field: "flushes" }, { title: "Flushing", field: "flush_ns", kind: "time" }, { title: "Mean", field: "mean_ns", kind: "time" },
        { title: "Written", field: "flush_bytes", kind: "size" }, { title: "Dropped", field: "dropped" },
      ],
    });
  }

  function drawEnvironment(into, { environment, overview, version }) {
    const facts = [
      ["Command", environment.command.join(" ")], ["Directory", environment.cwd], ["Run", overview.run], ["Run id", environment.run_id],
      ["Hosts", environment.hosts.join(", ")], ["Executables", environment.executables.join(", ")], ["MPI", environment.mpi.join("; ")], ["ABI", environment.abi.join(", ")],
      ["Measured by", environment.tare ? `tare ${environment.tare}` : "the program itself (tare_start)"], ["Page by", `tare ${version}`],
      ["Options", Object.entries(environment.options).map(([name, value]) => `${name} ${value}`).join(", ")],
    ];
    const list = (rows) => element("dl", {}, rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", { class: "mono" }, value || "-")]));
    into.append(element("h2", {}, "Environment"), element("div", { class: "panel detail" }, list(facts)));
    const variables = Object.entries(environment.variables);
    if (variables.length) into.append(element("h3", {}, "Variables"), element("div", { class: "panel detail" }, list(variables)));
    if (!environment.communicators.length) return;
    const holder = element("div", {});
    into.append(element("h3", {}, "Communicators"), holder);
    tare.table(holder, {
      label: "communicators", rows: environment.communicators.map((row, id) => ({ ...row, id, kind: row.inter ? "inter" : "intra", name: row.name || `#${id}` })), sort: ["size", "desc"], text: (row) => row.name,
      columns: [{ title: "Name", field: "name", kind: "text" }, ...(overview.worlds > 1 ? [{ title: "World", field: "world" }] : []), { title: "Ranks", field: "size" }, { title: "Kind", field: "kind", kind: "text" }],
    });
  }
  tare.sections.push(
    { id: "waiting", title: "Waiting", draw: drawWaits }, { id: "flushes", title: "Flushes", draw: drawFlushes },
    { id: "environment", title: "Environment", draw: drawEnvironment });
})();
