// Tables: Tabulator, with columns of a few kinds, a search, and the keyboard.
(() => {
  "use strict";
  const { element, format } = tare;
  const SHORT = 40; // so many rows are shown whole
  const MAX_PRINTED = 500; // of longer tables
  const tables = [];

  const KINDS = {
    text: { align: "left", show: (value) => value ?? format.NOTHING },
    count: { show: format.grouped },
    rank: { show: format.rank },
    time: { show: format.duration },
    size: { show: (value) => (value ? format.size(value) : format.NOTHING) },
    share: { show: format.percent },
  };

  function cellOf({ field, kind = "count", hover, of }, row) {
    const value = row[field];
    const shown = element("span", {}, of ? of(row) : KINDS[kind].show(value));
    if (hover) shown.title = hover(row) || "";
    if (kind !== "share" || !(value > 0)) return shown;
    const bar = element("div", { class: "bar-fill", width: `${Math.min(100 * value, 100)}%` });
    return element("div", { class: "cell-share" }, shown, bar);
  }
  function columnOf(column) {
    const { title, field, kind = "count", width, grow, minWidth } = column;
    const isText = KINDS[kind].align === "left";
    // Tabulator takes texts for HTML, elements as they are.
    return {
      title,
      titleFormatter: () => tare.word(title),
      field,
      hozAlign: isText ? "left" : "right",
      headerHozAlign: isText ? "left" : "right",
      sorter: isText ? (a, b) => String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true }) : (a, b) => (a ?? -1) - (b ?? -1),
      headerSortStartingDir: isText ? "asc" : "desc",
      formatter: (cell) => cellOf(column, cell.getRow().getData()),
      headerWordWrap: true, // a heading is never cut: it has as many lines as it needs, and room for its longest word
      width,
      minWidth: Math.max(minWidth ?? (isText ? 130 : 84), 30 + 8.5 * Math.max(...title.split(" ").map((word) => word.length))),
      widthGrow: grow ?? (isText ? 2 : 1),
      resizable: false,
    };
  }

  // On paper nobody scrolls: the rows of a long table, in the order and the choice that it shows.
  function printed(columns, rows) {
    const cells = (tag, of) => columns.map((column) => element(tag, { class: KINDS[column.kind ?? "count"].align === "left" ? "text" : null }, of(column)));
    const lines = rows.slice(0, MAX_PRINTED).map((row) => element("tr", {}, cells("td", (column) => cellOf(column, row))));
    const left = rows.length - lines.length;
    return element("div", { class: "printed" },
      element("table", {}, element("thead", {}, element("tr", {}, cells("th", (column) => tare.word(column.title)))), element("tbody", {}, lines)),
      left > 0 ? element("p", { class: "hint" }, `${format.grouped(left)} more rows are not printed.`) : null);
  }

  // Calls of the table wait until it is built. `options`: name of its state, columns, rows, sort (null: as
  // they come), text(row), onChoose(row).
  function table(into, options) {
    const holder = element("div", {});
    const count = element("span", { class: "count", role: "status" });
    const search = element("input", { type: "search", placeholder: "Search", "aria-label": `Search ${options.label}` });
    if (options.text) into.append(element("div", { class: "tools" }, search, options.tools ?? null, count));
    into.append(holder);
    const said = options.name && tare.state.get(`${options.name}.sort`);
    const [field, dir] = said ? said.split("!") : options.sort ?? [];
    const known = options.columns.some((column) => column.field === field);
    const many = options.rows.length > SHORT;
    const made = new Tabulator(holder, {
      data: options.rows,
      columns: options.columns.map(columnOf),
      layout: "fitColumns",
      height: many ? Math.min(520, 40 * options.rows.length) : undefined,
      renderVertical: many ? "virtual" : "basic",
      initialSort: known ? [{ column: field, dir: dir === "asc" ? "asc" : "desc" }] : options.sort ? [{ column: options.sort[0], dir: options.sort[1] }] : [],
      placeholder: element("div", { class: "tabulator-placeholder-contents" }, options.empty ?? "Nothing here"),
      index: "id",
      columnDefaults: { headerSortTristate: false },
    });
    tables.push({ holder, made, columns: options.columns, many, paper: null });
    const tell = (shown) => {
      const all = options.rows.length;
      count.textContent = shown === all ? format.numberOf(all, "row") : `${format.grouped(shown)} of ${format.numberOf(all, "row")}`;
    };
    const filter = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      made.setFilter((row) => {
        const text = options.text(row).toLowerCase();
        return words.every((word) => text.includes(word));
      });
    };
    made.on("tableBuilt", () => {
      for (const header of holder.querySelectorAll(".tabulator-col[role=columnheader]")) {
        header.tabIndex = 0;
        header.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          header.querySelector(".tabulator-col-content").click();
        });
      }
      search.value = (options.name && tare.state.get(`${options.name}.q`)) || "";
      if (search.value) filter();
      else tell(options.rows.length);
      holder.dataset.ready = "1";
      options.onBuilt?.(made);
    });
    made.on("dataFiltered", (_, rows) => tell(rows.length));
    made.on("dataSorted", (sorters) => {
      if (!options.name || holder.dataset.ready !== "1" || !sorters.length) return;
      const [{ field: by, dir: way }] = sorters;
      const isUsual = by === options.sort?.[0] && way === options.sort[1];
      tare.state.set(`${options.name}.sort`, isUsual ? null : `${by}!${way}`);
    });
    search.addEventListener("input", () => {
      if (options.name) tare.state.set(`${options.name}.q`, search.value);
      filter();
    });
    if (options.onChoose) {
      const choose = (row) => {
        for (const other of holder.querySelectorAll(".chosen")) other.classList.remove("chosen");
        row.getElement().classList.add("chosen");
        options.onChoose(row.getData());
      };
      made.on("rowClick", (_, row) => choose(row));
      made.on("rowTapHold", (_, row) => choose(row));
      holder.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        const at = event.target.closest(".tabulator-row");
        const row = at && made.getRows("visible").find((each) => each.getElement() === at);
        if (row) choose(row);
      });
      made.on("renderComplete", () => {
        for (const row of holder.querySelectorAll(".tabulator-row")) row.tabIndex = 0;
      });
    }
    return made;
  }
  tare.table = table;
  tare.fitTables = (isPaper) => {
    for (const table of tables) {
      const { holder, made, columns, many } = table;
      table.paper?.remove();
      table.paper = null;
      if (holder.dataset.ready !== "1") continue;
      holder.hidden = false;
      if (!(isPaper && many) && holder.clientWidth) made.redraw(true);
      // On paper it has all of its rows and columns.
      const isWide = () => made.getColumns().reduce((sum, column) => sum + column.getWidth(), 0) > holder.clientWidth + 1;
      if (!isPaper || !(many || isWide())) continue;
      holder.hidden = true;
      table.paper = printed(columns, made.getRows("active").map((row) => row.getData()));
      holder.after(table.paper);
    }
  };
})();
