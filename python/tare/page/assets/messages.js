// Who sends to whom, messages of which size, and how long sampled ones took.
(() => {
  "use strict";
  const { element, format, color, axis } = tare;

  function heat(matrix, which) {
    const count = Math.ceil(matrix.size / matrix.group);
    const name = (i) => (matrix.group === 1 ? String(i) : `${i * matrix.group}–${Math.min((i + 1) * matrix.group, matrix.size) - 1}`);
    const names = Array.from({ length: count }, (_, i) => name(i));
    const most = Math.max(...matrix.cells.map((cell) => cell[which]));
    return {
      grid: { left: 46, right: 132, top: 16, bottom: 44, containLabel: true },
      xAxis: axis({ type: "category", data: names, name: "to rank", nameLocation: "middle", nameGap: 30, nameTextStyle: { color: color("muted"), align: "center" }, splitLine: { show: false } }),
      yAxis: axis({ type: "category", data: names, inverse: true, name: "from rank", nameLocation: "middle", nameGap: 44, nameTextStyle: { color: color("muted"), align: "center" }, splitLine: { show: false } }),
      tooltip: { renderMode: "richText", confine: true, backgroundColor: color("surface"), borderColor: color("line"), textStyle: { color: color("text") },
        formatter: ({ data }) => `${names[data[1]]} to ${names[data[0]]}\n${format.numberOf(data[3], "message")}\n${format.size(data[4])}` },
      visualMap: { min: 0, max: most || 1, calculable: true, orient: "vertical", right: 0, top: "middle", itemHeight: 150, textStyle: { color: color("muted") }, inRange: { color: [color("low"), color("high")] }, dimension: 2,
        formatter: (value) => (which === 3 ? format.size(value) : format.grouped(value)) },
      series: [{ type: "heatmap", data: matrix.cells.map(([from, to, messages, bytes]) => [to, from, which === 3 ? bytes : messages, messages, bytes]), itemStyle: { borderColor: color("surface"), borderWidth: count <= 32 ? 1 : 0 }, emphasis: { itemStyle: { borderColor: color("text"), borderWidth: 1 } } }],
    };
  }

  function drawMatrix(into, content) {
    const { matrix } = content;
    into.append(element("h2", {}, "Communication matrix"));
    if (!matrix) {
      into.append(element("p", { class: "lead" }, "No rank has sent a message to another rank of its world."));
      return;
    }
    const many = matrix.group > 1 ? ` A cell stands for ${matrix.group} ranks on each side.` : "";
    into.append(element("p", { class: "lead" }, `What each rank has sent to each, collectives left out.${tare.ofWorld(content, matrix.world)}${many}`));
    const buttons = [["bytes", "Bytes", 3], ["messages", "Messages", 2]].map(([name, title, which]) => element("button", { type: "button", "data-which": name, onclick: () => choose(name, which) }, title));
    const panel = element("div", { class: "panel" });
    into.append(element("div", { class: "tools" }, element("span", { class: "group", role: "group", "aria-label": "Shown" }, buttons)), panel);
    let which = tare.state.get("matrix") === "messages" ? 2 : 3;
    const made = tare.chart(panel, "Heat map of what each rank has sent to each", () => heat(matrix, which), { size: "tall" });
    function choose(name, column) {
      which = column;
      tare.state.set("matrix", name === "bytes" ? null : name);
      press();
      made.redraw();
    }
    const press = () => buttons.forEach((button) => button.setAttribute("aria-pressed", String((button.dataset.which === "bytes") === (which === 3))));
    press();
    if (matrix.elsewhere) into.append(element("p", { class: "hint" }, `${format.numberOf(matrix.elsewhere, "message")} went to ranks that are not known here: of other worlds, or beyond the table of peers.`));
  }

  function bars(rows, label, value, tip, fill, unit) {
    return {
      grid: { left: 8, right: 16, top: 34, bottom: 8, containLabel: true },
      xAxis: axis({ type: "category", data: rows.map(label), axisLabel: { rotate: rows.length > 9 ? 40 : 0 } }),
      yAxis: axis({ type: "value", name: unit, axisLabel: { formatter: (number) => (unit === "calls" || unit === "messages" ? format.grouped(number) : format.duration(number)) } }),
      tooltip: { trigger: "axis", renderMode: "richText", confine: true, axisPointer: { type: "shadow" }, backgroundColor: color("surface"), borderColor: color("line"), textStyle: { color: color("text") }, formatter: (at) => tip(rows[at[0].dataIndex]) },
      series: [{ type: "bar", data: rows.map(value), itemStyle: { color: color(fill) }, barCategoryGap: "18%" }],
    };
  }

  function drawSizes(into, content) {
    const { sizes, latencies } = content;
    into.append(element("h2", {}, "Sizes and latencies"));
    if (!sizes.length) into.append(element("p", { class: "lead" }, "No call of MPI that was recorded moves data."));
    else {
      into.append(element("p", { class: "lead" }, "Calls that move data, by their bytes."));
      const [calls, times] = [0, 1].map(() => element("div", { class: "panel" }));
      into.append(element("div", { class: "grid2" }, calls, times));
      const label = (row) => format.sizeRange(row.size_from, row.size_to);
      const tip = (row) => `${label(row)}\n${format.numberOf(row.calls, "call")}, ${format.duration(row.time_ns)}\n${format.size(row.bytes)}`;
      calls.append(element("h3", {}, "Calls"));
      times.append(element("h3", {}, "Time in them"));
      tare.chart(calls, "Calls by size", () => bars(sizes, label, (row) => row.calls, tip, "send", "calls"));
      tare.chart(times, "Time by size", () => bars(sizes, label, (row) => row.time_ns, tip, "wait", "time"));
    }
    if (!latencies) {
      into.append(element("p", { class: "hint" }, "Latencies of messages: measure with tare run --sample random:0.01"));
      return;
    }
    const totals = latencies.totals;
    into.append(element("h3", {}, totals ? `Latencies of ${format.numberOf(totals.paired, "sampled message")}, of ${format.grouped(totals.sent)} sent` : "Latencies of messages"));
    for (const limit of latencies.limits) into.append(element("p", { class: "notice" }, limit));
    if (latencies.histogram.length) {
      const panel = element("div", { class: "panel" });
      into.append(panel);
      const label = (bin) => format.duration(bin.from_ns);
      tare.chart(panel, "Histogram of latencies", () => bars(latencies.histogram, label, (bin) => bin.count, (bin) => `${format.duration(bin.from_ns)} to ${format.duration(bin.to_ns)}\n${format.numberOf(bin.count, "message")}`, "receive", "messages"));
    }
    const holder = element("div", {});
    into.append(element("h3", {}, "By sending and receiving call site"), holder);
    tare.table(holder, {
      name: "latencies", label: "latencies", rows: latencies.rows.map((row, id) => ({ ...row, id })), sort: ["mean_ns", "desc"],
      text: (row) => `${row.send} ${row.receive}`, empty: "No sampled message has a pair.",
      columns: [
        { title: "Sent at", field: "send", kind: "text" }, { title: "Received at", field: "receive", kind: "text" },
        { title: "Size", field: "bytes", kind: "size" }, { title: "Sampled", field: "count" },
        { title: "Latency", field: "mean_ns", kind: "time" }, { title: "Longest", field: "max_ns", kind: "time" },
        { title: "Late sender", field: "late_sender_ns", kind: "time" }, { title: "Not posted", field: "unposted_ns", kind: "time" },
        { title: "Not waited for", field: "unwaited_ns", kind: "time" }, { title: "Transfer", field: "transfer_ns", kind: "time" },
      ],
    });
  }
  tare.sections.push({ id: "matrix", title: "Matrix", draw: drawMatrix }, { id: "sizes", title: "Sizes", draw: drawSizes });
})();
