// How the ranks differ: bars for a few, the spread and the extremes of many.
(() => {
  "use strict";
  const { element, format, color, axis } = tare;
  const FEW = 64;
  const BINS = 256;

  function table(ranks) {
    const names = Object.keys(ranks.columns);
    const count = ranks.columns.rank.length;
    const rows = [];
    for (let i = 0; i < count; ++i) {
      const row = { id: i };
      for (const name of names) row[name] = ranks.columns[name][i];
      row.host = ranks.hosts[row.host];
      row.state = ranks.states[row.state];
      row.share = row.mpi_share;
      rows.push(row);
    }
    return rows;
  }

  function bars(rows, hasWorlds) {
    const names = rows.map((row) => (hasWorlds ? `${row.world}:${row.rank}` : String(row.rank)));
    const series = (name, key, fill) => ({ name, type: "bar", stack: "time", data: rows.map((row) => row[key] / 1e9), itemStyle: { color: color(fill) }, barMaxWidth: 34 });
    return {
      legend: { top: 0, right: 0, icon: "roundRect", itemWidth: 11, itemHeight: 11, textStyle: { color: color("muted") } },
      xAxis: axis({ type: "value", name: "seconds", nameLocation: "middle", nameGap: 24, nameTextStyle: { color: color("muted"), align: "center" } }),
      yAxis: axis({ type: "category", data: names, inverse: true, name: "rank", nameLocation: "start", splitLine: { show: false } }),
      grid: { left: 8, right: 20, top: 34, bottom: 26, containLabel: true },
      tooltip: { trigger: "axis", renderMode: "richText", confine: true, axisPointer: { type: "shadow" }, valueFormatter: (value) => format.duration(value * 1e9), backgroundColor: color("surface"), borderColor: color("line"), textStyle: { color: color("text") } },
      series: [series("Outside MPI", "useful_ns", "computing"), series("In MPI", "mpi_mean_ns", "wait")],
    };
  }

  // Of groups of neighbouring ranks of a world the least, mean and most.
  function bands(rows) {
    const each = Math.ceil(rows.length / BINS);
    const bins = [];
    for (let first = 0, end; first < rows.length; first = end) {
      for (end = first + 1; end < rows.length && end - first < each && rows[end].world === rows[first].world;) ++end;
      const shares = rows.slice(first, end).map((row) => row.share);
      bins.push({ world: rows[first].world, first: rows[first].rank, last: rows[end - 1].rank, min: Math.min(...shares), max: Math.max(...shares), mean: shares.reduce((a, b) => a + b, 0) / shares.length });
    }
    return bins;
  }
  function band(bins, hasWorlds) {
    const line = (name, key, more) => ({ name, type: "line", showSymbol: false, data: bins.map((bin) => 100 * bin[key]), lineStyle: { width: 1.5, color: color("wait") }, itemStyle: { color: color("wait") }, ...more });
    return {
      xAxis: axis({ type: "category", data: bins.map((bin) => (hasWorlds ? `${bin.world}:${bin.first}` : bin.first)), name: "rank", nameLocation: "middle", nameGap: 26, nameTextStyle: { color: color("muted"), align: "center" }, boundaryGap: false }),
      yAxis: axis({ type: "value", name: "% in MPI", max: 100, min: 0 }),
      grid: { left: 8, right: 20, top: 34, bottom: 28, containLabel: true },
      tooltip: { trigger: "axis", renderMode: "richText", confine: true, backgroundColor: color("surface"), borderColor: color("line"), textStyle: { color: color("text") },
        formatter: (at) => { const bin = bins[at[0].dataIndex]; return `ranks ${bin.first} to ${bin.last}${hasWorlds ? ` of world ${bin.world}` : ""}\nin MPI ${format.percent(bin.min)} to ${format.percent(bin.max)}\nmean ${format.percent(bin.mean)}`; } },
      series: [
        line("least", "min", { stack: "band", lineStyle: { opacity: 0 } }),
        { name: "spread", type: "line", stack: "band", showSymbol: false, data: bins.map((bin) => 100 * (bin.max - bin.min)), lineStyle: { opacity: 0 }, areaStyle: { color: color("wait"), opacity: 0.28 } },
        line("mean", "mean"),
      ],
    };
  }
  function histogram(rows) {
    const counts = new Array(50).fill(0);
    for (const row of rows) ++counts[Math.min(49, Math.floor(row.share * 50))];
    return {
      xAxis: axis({ type: "category", data: counts.map((_, i) => `${2 * i}`), name: "% of its time in MPI", nameLocation: "middle", nameGap: 26, nameTextStyle: { color: color("muted"), align: "center" } }),
      yAxis: axis({ type: "value", name: "ranks", minInterval: 1 }),
      grid: { left: 8, right: 20, top: 34, bottom: 28, containLabel: true },
      tooltip: { trigger: "axis", renderMode: "richText", confine: true, backgroundColor: color("surface"), borderColor: color("line"), textStyle: { color: color("text") }, formatter: (at) => `${at[0].dataIndex * 2} to ${at[0].dataIndex * 2 + 2} % in MPI\n${format.grouped(at[0].value)} ranks` },
      series: [{ type: "bar", data: counts, itemStyle: { color: color("wait") }, barCategoryGap: "12%" }],
    };
  }

  function efficiencies(found) {
    const rows = [
      ["Parallel efficiency", "parallel_efficiency"],
      ["Load balance", "load_balance"],
      ["Communication efficiency", "communication_efficiency"],
      ["Serialisation efficiency", "serialisation_efficiency"],
      ["Transfer efficiency", "transfer_efficiency"],
    ];
    return found.map((world) => element("div", { class: "panel detail" },
      found.length > 1 ? element("h3", {}, `World ${world.world}`) : null,
      element("dl", {}, rows.flatMap(([title, key]) => [
        element("dt", {}, tare.word(title)),
        element("dd", {}, world[key] === null ? "not known" : format.percent(world[key]), element("span", { class: "muted" }, `  ${world[key] === null && key.match(/^(ser|trans)/) ? world.not_replayed ?? "" : tare.words[title]}`))]))));
  }

  function draw(into, content) {
    const { overview } = content;
    const rows = table(content.ranks);
    const ofRanks = rows.filter((row) => row.rank >= 0);
    const hasWorlds = overview.worlds > 1;
    for (const row of rows) row.mpi_mean_ns = row.useful_ns === null ? null : Math.max(row.net_ns - row.useful_ns, 0);
    into.append(element("h2", {}, "Imbalance"),
      element("p", { class: "lead" }, !overview.uses_mpi ? "How the processes differ. None of them has called MPI." : "How the ranks differ. The efficiencies are those of POP: each says which part of the time is left when one kind of loss is taken away."));
    if (!rows.length) return;
    into.append(...efficiencies(overview.efficiency));
    const panel = element("div", { class: "panel" });
    if (ofRanks.length) into.append(panel);
    if (overview.share_unknown) {
      panel.append(element("p", {}, `How long ranks are in MPI is not known: ${overview.share_unknown}.`));
    } else if (!ofRanks.length) {
      // Nothing was between MPI_Init and MPI_Finalize.
    } else if (ofRanks.length <= FEW) {
      panel.append(element("h3", {}, "Time of each rank, between MPI_Init and MPI_Finalize"));
      const made = tare.chart(panel, "Bars: time of each rank outside and inside MPI; the table below has the numbers", () => bars(ofRanks, hasWorlds));
      made.holder.style.height = `${Math.max(170, 90 + 26 * ofRanks.length)}px`;
    } else {
      const timed = ofRanks.filter((row) => row.share !== null);
      const bins = bands(timed);
      panel.append(element("h3", {}, "Share of MPI by rank: least, mean and most of neighbouring ranks"));
      tare.chart(panel, "Share of MPI by rank; the table below has the numbers", () => band(bins, hasWorlds));
      const spread = element("div", { class: "panel" }, element("h3", {}, "How many ranks are how long in MPI"));
      into.append(spread);
      tare.chart(spread, "Histogram of the share of MPI over ranks", () => histogram(timed));
    }
    const holder = element("div", {});
    into.append(element("h3", {}, overview.uses_mpi ? "All ranks" : "All processes"), holder);
    tare.table(holder, {
      name: "ranks", label: "ranks", rows, sort: [ofRanks.length ? "rank" : "pid", "asc"],
      text: (row) => `${row.rank} ${row.pid} ${row.host} ${row.state}`,
      columns: [
        ...(hasWorlds ? [{ title: "World", field: "world" }] : []),
        ...(ofRanks.length ? [{ title: "Rank", field: "rank", kind: "rank" }] : []),
        ...(ofRanks.length < rows.length ? [{ title: "Process", field: "pid", of: (row) => String(row.pid) }] : []),
        { title: "Host", field: "host", kind: "text" }, { title: "State", field: "state", kind: "text" },
        { title: "Calls", field: "calls" }, { title: "Net time", field: "net_ns", kind: "time" },
        ...(overview.uses_mpi ? [{ title: "MPI time", field: "mpi_ns", kind: "time" }, { title: "MPI share", field: "share", kind: "share" }] : []), { title: "Cost", field: "cost", kind: "share" },
      ],
    });
  }
  tare.sections.push({ id: "imbalance", title: "Imbalance", draw });
})();
