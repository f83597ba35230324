// The page of a study: its cells side by side, two of them in full, and the sections of its report.
(() => {
  "use strict";
  const { element, format } = tare;
  const TITLES = { net: "Net time", hook: "Hook time", wrap: "Wrap time", overall: "Overall", "net cpu": "Net processor time", "net overhead by referee": "Net time, by referee" };

  const seconds = (value) => (value === null || value === undefined ? format.NOTHING : value < 0 ? `\u2212${format.duration(-1e9 * value)}` : format.duration(1e9 * value));
  const change = (share) => (share === null || share === undefined ? format.NOTHING : `${share > 0 ? "+" : share < 0 ? "\u2212" : ""}${format.percent2(Math.abs(share))}`);
  const range = (of, show) => (Number.isFinite(of?.low) && Number.isFinite(of?.high) ? `${show(of.low)} to ${show(of.high)}` : format.NOTHING);
  const titleOf = (response) => TITLES[response] ?? response;

  function choice(label, options, value, onChange) {
    const select = element("select", { "aria-label": label, onchange: () => onChange(select.value) }, options.map(([name, title]) => element("option", { value: name }, title)));
    select.value = value;
    return element("label", {}, `${label} `, select);
  }
  // One of the options: that which the address names, else the first.
  function chosen(key, options, first = options[0]) {
    const said = tare.state.get(key);
    return options.includes(said) ? said : first;
  }

  const hasOverhead = (cell, response) => Number.isFinite(cell.overheads[response]?.median);

  // Overheads with their intervals, of the cells of a workload.
  function bars(cells, response) {
    const rows = cells.filter((cell) => hasOverhead(cell, response));
    const of = (cell) => cell.overheads[response];
    return {
      grid: { left: 8, right: 28, top: 8, bottom: 34, containLabel: true },
      xAxis: tare.axis({ type: "value", name: "overhead", nameLocation: "middle", nameGap: 26, axisLabel: { formatter: (value) => `${+(100 * value).toPrecision(3)} %` } }),
      yAxis: tare.axis({ type: "category", inverse: true, data: rows.map((cell) => cell.label), axisLabel: { width: 220, overflow: "truncate" } }),
      series: [
        {
          type: "custom", silent: true, encode: { x: [0, 1], y: 2 },
          data: rows.map((cell, at) => [of(cell).low ?? of(cell).median, of(cell).high ?? of(cell).median, at]),
          renderItem(_, api) {
            const [from, y] = api.coord([api.value(0), api.value(2)]);
            const [to] = api.coord([api.value(1), api.value(2)]);
            const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: tare.color("muted"), lineWidth: 2 } });
            return { type: "group", children: [line(from, y, to, y), line(from, y - 5, from, y + 5), line(to, y - 5, to, y + 5)] };
          },
        },
        {
          type: "scatter", symbolSize: 11, itemStyle: { color: tare.color("send") },
          data: rows.map((cell, at) => [of(cell).median, at]),
          tooltip: { formatter: ({ dataIndex }) => `${rows[dataIndex].label}\n${change(of(rows[dataIndex]).median)} (${range(of(rows[dataIndex]), change)})\n${of(rows[dataIndex]).verdict}` },
        },
      ],
      tooltip: { ...tare.tooltip(), trigger: "item" },
    };
  }

  function drawOverview(into, { study, version }) {
    const facts = [
      `${format.grouped(study.cells.length)} cells`,
      `${format.grouped(study.cells.reduce((sum, cell) => sum + cell.runs, 0))} runs that ended well`,
      `set ${study.set}`, `tare ${version}`,
    ];
    into.append(element("header", { class: "run" }, element("h1", {}, study.title),
      element("p", { class: "facts" }, facts.map((fact) => element("span", {}, fact))),
      study.about ? element("p", { class: "lead" }, study.about) : null));
    for (const warning of study.warnings) into.append(element("p", { class: "notice" }, warning));
  }

  function drawCells(into, { study }) {
    const response = chosen("time", study.responses);
    const percent = `${+(100 * study.confidence).toPrecision(3)} %`;
    const body = element("div", {});
    const fill = (of) => {
      body.replaceChildren();
      for (const workload of new Set(study.cells.map((cell) => cell.workload))) {
        const cells = study.cells.filter((cell) => cell.workload === workload && hasOverhead(cell, of));
        if (!cells.length) continue;
        const panel = element("div", { class: "panel" }, element("h3", {}, `${workload}: overhead in ${titleOf(of).toLowerCase()}`));
        body.append(panel);
        const made = tare.chart(panel, `Overhead of each cell of ${workload} with its interval; the table below has the numbers`, () => bars(cells, of));
        made.holder.style.height = `${Math.max(110, 60 + 30 * cells.length)}px`;
      }
      const holder = element("div", {});
      body.append(element("h3", {}, "All cells"), holder);
      tare.table(holder, {
        name: "cells", label: "cells", sort: null, text: (row) => row.label,
        rows: study.cells.map((cell, id) => ({
          id, cell, label: cell.label, runs: cell.runs,
          ...Object.fromEntries(study.factors.map((name, at) => [`factor${at}`, cell.levels[name]])),
          time: cell.times[of]?.median ?? null, more: cell.overheads[of]?.more ?? null,
          overhead: cell.overheads[of]?.median ?? null, low: cell.overheads[of]?.low ?? null,
          verdict: cell.overheads[of]?.verdict ?? (cell.baseline ? "baseline" : null),
        })),
        columns: [
          ...study.factors.map((name, at) => ({ title: name, field: `factor${at}`, kind: "text", minWidth: 90 })),
          { title: titleOf(of), field: "time", of: (row) => seconds(row.time) },
          { title: "More", field: "more", of: (row) => seconds(row.more) },
          { title: "Overhead", field: "overhead", minWidth: 104, of: (row) => change(row.overhead) },
          { title: "Interval", field: "low", minWidth: 190, of: (row) => range(row.cell.overheads[of], change) },
          { title: "Verdict", field: "verdict", kind: "text" },
          { title: "Runs", field: "runs", minWidth: 60 },
        ],
      });
    };
    const pick = choice("Time", study.responses.map((name) => [name, titleOf(name)]), response, (value) => {
      tare.state.set("time", value === study.responses[0] ? null : value);
      fill(value);
    });
    into.append(element("h2", {}, "Side by side"),
      element("p", { class: "lead" }, `Each combination of factors, against the same without a tool. Points are medians of the differences within blocks; the lines are intervals of ${percent}, where the blocks suffice. Net: between MPI_Init and MPI_Finalize of the slowest rank; hook: inside these two; wrap: before and after. By referee: means of runs of their own, from spells with and without the tool; intervals of 95 %.`),
      element("div", { class: "tools" }, pick), body);
    fill(response);
  }

  // Two cells in full; by default the first one with a tool, and what it is compared with.
  function drawTwo(into, { study }) {
    const names = study.cells.map((_, at) => String(at));
    const bare = String(Math.max(0, study.cells.findIndex((cell) => cell.baseline)));
    const tool = String(Math.max(0, study.cells.findIndex((cell) => !cell.baseline)));
    const body = element("div", {});
    const options = study.cells.map((cell, at) => [String(at), cell.label]);
    const now = { left: chosen("left", names, bare), right: chosen("right", names, tool) };
    function kept(cell) {
      if (!cell.kept.length) return element("p", { class: "muted" }, "The study kept no run of tare of this cell (keep_output = true keeps them).");
      return element("ul", { class: "path" }, cell.kept.map(({ run, link }) => element("li", {},
        element("a", { href: `./${link}` }, run), element("div", { class: "mono muted" }, `tare report ${quoted(run)}`))));
    }
    const quoted = (path) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
    const side = (cell) => element("div", { class: "panel" }, element("h3", {}, cell.label),
      element("p", { class: "muted" }, `${format.grouped(cell.runs)} runs`), kept(cell));
    function fill() {
      const [left, right] = [study.cells[now.left], study.cells[now.right]];
      const [one, other] = [left.kept[0], right.kept[0]];
      const cell = (text) => element("td", { class: "number" }, text);
      const times = study.responses.filter((name) => left.times[name] || right.times[name]);
      body.replaceChildren(
        element("div", { class: "panel" }, element("table", { class: "worst pair" },
          element("thead", {}, element("tr", {}, ["", left.label, "interval", right.label, "interval", "change"].map((title) => element("th", { scope: "col", class: title ? "number" : null }, title)))),
          element("tbody", {}, times.map((name) => {
            const [a, b] = [left.times[name], right.times[name]];
            return element("tr", {}, element("td", {}, titleOf(name)), cell(seconds(a?.median)), cell(range(a, seconds)), cell(seconds(b?.median)), cell(range(b, seconds)),
              cell(a && b && a.median ? change((b.median - a.median) / a.median) : format.NOTHING));
          })))),
        element("div", { class: "two" }, side(left), side(right)),
        one && other && one !== other ? element("p", { class: "hint mono" }, `tare report ${quoted(other.run)} --compare ${quoted(one.run)}`) : "");
    }
    const pick = (which, label) => choice(label, options, now[which], (value) => {
      now[which] = value;
      tare.state.set(which, value === (which === "left" ? bare : tool) ? null : value);
      fill();
    });
    into.append(element("h2", {}, "Two cells"), element("p", { class: "lead" }, "Medians of all runs of each, and the runs that the study kept. The change of medians says less than the differences within blocks above."),
      element("div", { class: "tools" }, pick("left", "Left"), pick("right", "Right")), body);
    fill();
  }

  // What the longest number needs; texts may be cut.
  function widthOf(part, at) {
    const longest = Math.max(part.columns[at].name.length + 2, ...part.rows.map((cells) => cells[at].shown.length));
    return Math.min(20 + 7.6 * longest, part.columns[at].text ? 150 : 190);
  }

  function drawTable(into, part, name) {
    const holder = element("div", {});
    const note = part.note ? element("p", { class: "hint" }, part.note) : null;
    const fill = () => tare.table(holder, {
      name, label: part.title, sort: null, text: (row) => row.text,
      rows: part.rows.map((cells, id) => ({ id, cells, text: cells.map((cell) => cell.shown).join(" "), ...Object.fromEntries(cells.map((cell, at) => [`c${at}`, cell.by])) })),
      columns: part.columns.map((column, at) => ({
        title: column.name, field: `c${at}`, kind: column.text ? "text" : "count", minWidth: widthOf(part, at), of: (row) => row.cells[at].shown,
        hover: (row) => row.cells[at].shown,
      })),
    });
    if (!part.detail) {
      into.append(element("h3", {}, part.title), holder, note ?? "");
      fill();
      return;
    }
    const details = element("details", {}, element("summary", {}, `${part.title}, ${format.numberOf(part.rows.length, "row")}`), holder, note);
    const open = () => details.open && !holder.childElementCount && fill();
    details.addEventListener("toggle", open);
    addEventListener("beforeprint", () => { details.open = true; open(); });
    into.append(details);
  }

  const sectionOf = (section, at) => ({
    id: `section${at}`, title: section.title,
    draw(into) {
      into.append(element("h2", {}, section.title));
      if (section.about) into.append(element("p", { class: "lead" }, section.about));
      section.parts.forEach((part, number) => {
        if (!part.figure) return drawTable(into, part, `t${at}_${number}`);
        into.append(element("figure", {}, element("figcaption", {}, part.title), element("img", { src: part.figure, alt: part.title }), part.note ? element("p", { class: "hint" }, part.note) : null));
      });
    },
  });

  tare.sectionsOf = ({ study }) => [
    { id: "overview", title: "Overview", draw: drawOverview },
    // Results may be none of the cells of the description that came with them.
    ...(study.cells.length ? [{ id: "cells", title: "Side by side", draw: drawCells }, { id: "two", title: "Two cells", draw: drawTwo }] : []),
    ...study.sections.map(sectionOf),
    { id: "study", title: "The study", draw: (into) => into.append(element("h2", {}, "The study"), element("pre", { class: "panel mono" }, study.text.join("\n"))) },
  ];
})();
