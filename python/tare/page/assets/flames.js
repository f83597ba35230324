// Where the time outside and inside of calls goes, by the stacks: flame graphs, and the functions.
(() => {
  "use strict";
  const { element, format } = tare;
  const SHADES = [100, 80, 62]; // of the program's functions, so that neighbours differ

  const sum = (values) => values.reduce((all, value) => all + value, 0);
  const signed = (ns) => `${ns < 0 ? "-" : "+"}${format.duration(Math.abs(ns))}`;
  const withError = (text, error) => (error > 0 ? `${text} ± ${format.duration(error)}` : text);

  function shadeOf(text) {
    let hash = 0;
    for (let i = 0; i < text.length; ++i) hash = (hash * 31 + text.charCodeAt(i)) % 9973;
    return SHADES[hash % SHADES.length];
  }
  const mixed = (name, part) => `color-mix(in srgb, var(--${name}) ${part}%, var(--surface))`;

  // What is drawn: the time of all ranks or of one, or one beside the mean of all.
  function graphOf(flames, everyone, of, isBesideMean) {
    const { parent, merged, place, lines } = flames;
    const children = parent.map(() => []);
    for (let node = 1; node < parent.length; ++node) children[parent[node]].push(node);
    const text = (node) => (node === 0 ? (of.rank === undefined ? everyone : `Rank ${of.rank}`) : merged[node] ? `${format.grouped(merged[node])} smaller` : flames.short[node]);
    const mean = (node) => of.time_ns[node] - of.more_ns[node];
    const most = isBesideMean ? Math.max(1, ...of.more_ns.map((ns, node) => (of.certain[node] ? Math.abs(ns) : 0))) : 1;
    const difference = (node) => `${format.duration(Math.abs(of.more_ns[node]))}${of.more_error_ns[node] ? ` (± ${format.duration(of.more_error_ns[node])})` : ""} ${of.more_ns[node] < 0 ? "less" : "more"} than the mean of the ranks${of.certain[node] ? "" : ", which may be chance"}`;
    const time = (node) => withError(format.duration(of.time_ns[node]), of.error_ns[node]);
    const share = (node) => format.percent(of.time_ns[0] ? of.time_ns[node] / of.time_ns[0] : null);
    return {
      parent,
      name: (node) => (node === 0 || merged[node] ? text(node) : `${flames.function[node]} ${flames.short[node]}`),
      text: (node) => (isBesideMean && of.certain[node] ? `${text(node)} ${signed(of.more_ns[node])}` : text(node)),
      width: (node) => (isBesideMean ? of.time_ns[node] + mean(node) : of.time_ns[node]),
      said: (node) => (isBesideMean ? `${time(node)}, ${difference(node)}` : `${time(node)}, ${share(node)}`),
      paint(node) {
        if (!isBesideMean) return { fill: flames.class[node] ? mixed(flames.class[node], 55) : mixed("computing", shadeOf(text(node))) };
        if (!of.certain[node]) return { fill: "var(--faint)" };
        const part = Math.round(25 + 45 * Math.min(1, Math.abs(of.more_ns[node]) / most));
        return { fill: mixed(of.more_ns[node] > 0 ? "wait" : "send", part) };
      },
      facts(node) {
        const itself = of.time_ns[node] - sum(children[node].map((child) => of.time_ns[child]));
        return [
          ["Place", node === 0 || merged[node] ? null : [place[node], lines[node].length ? `line ${lines[node].map(([line]) => line).join(", ")}` : null].filter(Boolean).join(", ") || "not known"],
          ["Time", `${time(node)}, ${share(node)} of all`],
          ["In itself", itself > 0 && itself < of.time_ns[node] ? format.duration(itself) : null],
          ["In calls", of.calls_ns[node] ? format.duration(of.calls_ns[node]) : null],
          ["Mean of the ranks", of.more_ns ? format.duration(mean(node)) : null],
          ["Difference", of.more_ns ? difference(node) : null],
        ].filter(([, value]) => value !== null);
      },
      heading: (node) => (merged[node] ? `${format.numberOf(merged[node], "function call path", "function call paths")} with less time` : node === 0 ? text(node) : flames.function[node]),
    };
  }

  function legend(isBesideMean, classes) {
    const entry = (fill, name) => element("span", { class: "plain" }, fill, name);
    const box = (fill) => element("span", { class: "swatch", color: fill, "aria-hidden": "true" });
    return isBesideMean
      ? [entry(box(mixed("wait", 60)), "more than the mean"), entry(box(mixed("send", 60)), "less"), entry(box("var(--line)"), "no difference, or one that may be chance")]
      : [entry(box(mixed("computing", 100)), "program, by samples"), ...classes.map((name) => entry(box(mixed(name, 55)), `calls: ${tare.titles[name]}`))];
  }

  const CAPTION = "A frame is as wide as the time of a function with all that it calls: processor time in the program's code by samples of the stacks, and time in calls of MPI and other sources as measured, waiting included. All threads count. Time in which a thread had no processor, outside of calls, is not in it.";

  function draw(into, content) {
    const { flames, overview } = content;
    const everyone = overview.uses_mpi ? "All ranks" : "All processes";
    const title = element("h2", {}, "Flame graph");
    into.append(title, element("p", { class: "lead" }, CAPTION));
    const notes = [
      ...flames.limits,
      ...(flames.tare_ns > 0 ? [`${format.duration(flames.tare_ns)} of processor time in tare's own code is left out.`] : []),
    ];
    if (flames.sentences.length) {
      into.append(element("h3", {}, "Ranks that differ from the mean"), element("ul", { class: "differences" }, flames.sentences.map((said) => element("li", {}, said))));
    } else if (flames.ranks.length) {
      into.append(element("p", {}, "No rank differs from the mean of the ranks in a function of the program by more than chance explains."));
    }

    const name = (of) => `${flames.worlds > 1 ? `World ${of.world}, rank` : "Rank"} ${of.rank}`;
    const key = (of) => `${of.world}.${of.rank}`;
    const select = element("select", { "aria-label": "Time of" }, element("option", { value: "" }, everyone), flames.ranks.map((of) => element("option", { value: key(of) }, name(of))));
    const beside = element("button", { type: "button", title: "Colours say where this rank has more time than the mean of all ranks" }, "Beside the mean");
    const search = element("input", { type: "search", placeholder: "Search", "aria-label": "Search functions of the flame graph" });
    const out = element("button", { type: "button", onclick: () => made.zoom(flames.parent[made.top()]) }, "Zoom out");
    const status = element("span", { class: "count", role: "status" });
    const box = element("div", { class: "flame-box" });
    const facts = element("div", { class: "detail flame-facts" });
    const colours = element("p", { class: "legend-buttons" });
    const hint = element("p", { class: "hint" });
    let made = null;
    let of = flames.all;
    let graph = null;
    let drawn = null; // what is chosen of what the address has
    const wanted = () => `${tare.state.get("flames.rank")} ${tare.state.get("flames.mean")} ${tare.state.get("flames.q") ?? ""}`;

    function tell(node) {
      facts.replaceChildren(
        element("h3", {}, graph.heading(node)),
        element("dl", {}, graph.facts(node).flatMap(([what, value]) => [element("dt", {}, what), element("dd", {}, value)])));
    }
    function find() {
      tare.state.set("flames.q", search.value);
      drawn = wanted();
      const found = made.search(search.value);
      status.textContent = "";
      if (!found) return;
      const ns = sum(found.topmost.map((node) => of.time_ns[node]));
      status.textContent = `${format.numberOf(found.frames, "frame")}, ${format.duration(ns)}, ${format.percent(of.time_ns[0] ? ns / of.time_ns[0] : null)}`;
    }
    function show() {
      of = flames.ranks.find((each) => key(each) === tare.state.get("flames.rank")) ?? flames.all;
      const isOfRank = of !== flames.all;
      const isBesideMean = isOfRank && tare.state.get("flames.mean") === "1";
      select.value = isOfRank ? key(of) : "";
      beside.hidden = !isOfRank;
      beside.setAttribute("aria-pressed", String(isBesideMean));
      graph = graphOf(flames, everyone, of, isBesideMean);
      graph.onZoom = (top, narrow) => {
        out.disabled = top === 0;
        hint.textContent = [
          isBesideMean ? `Here a frame is as wide as its time on rank ${of.rank} and the mean of all ${format.grouped(of.ranks)} ranks together.` : null,
          "Click a frame to zoom in. Arrow keys move, Enter zooms, Escape zooms out.",
          narrow ? `${format.numberOf(narrow, "frame is", "frames are")} too narrow to be drawn at this zoom.` : null,
          flames.ranks.length < flames.ranks_in_all ? `To choose from are the ${flames.ranks.length} of ${format.grouped(flames.ranks_in_all)} ranks that differ most.` : null,
        ].filter(Boolean).join(" ");
      };
      box.replaceChildren();
      const label = `Flame graph of ${isOfRank ? name(of) : "all ranks"}${isBesideMean ? ", beside the mean of the ranks" : ""}`;
      made = tare.flameGraph(box, graph, { label, onChoose: tell });
      made.zoom(0);
      colours.replaceChildren(...legend(isBesideMean, content.classes.filter((each) => flames.class.includes(each))));
      find();
    }
    select.addEventListener("change", () => {
      tare.state.set("flames.rank", select.value);
      show();
    });
    beside.addEventListener("click", () => {
      tare.state.set("flames.mean", tare.state.get("flames.mean") === "1" ? null : "1");
      show();
    });
    search.addEventListener("input", find);
    search.value = tare.state.get("flames.q") ?? "";
    into.append(
      element("div", { class: "tools" }, search, flames.ranks.length ? select : null, beside, out, status),
      element("div", { class: "panel" }, box, colours, hint, facts));
    show();
    tare.state.onChange(() => {
      if (wanted() === drawn) return; // what is zoomed to stays
      search.value = tare.state.get("flames.q") ?? "";
      show();
    });

    const holder = element("div", {});
    into.append(element("h3", {}, "Functions"), holder);
    const total = flames.functions_ns;
    const rows = flames.functions.map((row, id) => ({ ...row, id, in: row.source === "program" ? row.file ?? row.object : row.source, share: total && row.contains_others === false ? row.time_ns / total : null }));
    tare.table(holder, {
      name: "functions", label: "functions", rows, sort: ["time_ns", "desc"],
      text: (row) => `${row.function} ${row.in ?? ""}`,
      columns: [
        { title: "Function", field: "function", kind: "text", of: (row) => row.short, hover: (row) => row.function, grow: 4 },
        { title: "In", field: "in", kind: "text", of: (row) => (row.in ?? format.NOTHING).split("/").pop(), hover: (row) => row.in },
        { title: "Calls", field: "calls" },
        { title: "Time", field: "time_ns", kind: "time" },
        { title: "±", field: "error_ns", kind: "time", of: (row) => (row.error_ns ? format.duration(row.error_ns) : format.NOTHING), minWidth: 70 },
        { title: "Share", field: "share", kind: "share" },
        { title: "Whole", field: "with_callees_ns", kind: "time" },
        ...(rows.some((row) => row.rank_mean_ns !== null) ? [
          { title: "Rank mean", field: "rank_mean_ns", kind: "time" },
          { title: "Longest", field: "rank_max_ns", kind: "time" },
          { title: "Of rank", field: "rank_max", kind: "rank", minWidth: 70 },
        ] : []),
      ],
    });
    into.append(element("p", { class: "hint" }, [
      "Functions with a number of calls: time in these calls. Others: processor time in the function itself, by samples; ±: half of its 95 % confidence interval. Whole: with the functions that it calls.",
      flames.functions.length < flames.functions_in_all ? `The ${format.grouped(flames.functions.length)} of ${format.grouped(flames.functions_in_all)} functions with the most time are listed.` : null,
      ...notes,
    ].filter(Boolean).join(" ")));
  }
  tare.sections.push({ id: "flames", title: "Flame graph", draw, wanted: (content) => Boolean(content.flames) });
})();
