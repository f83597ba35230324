// The head of the page, and what a person with little time has to know.
(() => {
  "use strict";
  const { element, format, swatch } = tare;
  const TOP = 5;

  function head(overview, environment) {
    const facts = [
      `${overview.uses_mpi ? format.numberOf(overview.ranks, "rank") : format.numberOf(overview.ranks, "process", "processes")} on ${format.numberOf(overview.hosts, "host")}`,
      overview.wall_ns === null ? null : `${format.duration(overview.wall_ns)} wall time`,
      overview.ending,
      overview.missing ? `${format.numberOf(overview.missing, "rank")} missing` : null,
      ...Object.entries(overview.states).map(([state, count]) => `${format.grouped(count)} ${state}`),
      overview.mpi.join(", "),
      new Date(overview.start_ns / 1e6).toISOString().slice(0, 16).replace("T", " ") + " UTC",
    ].filter(Boolean);
    return element("header", { class: "run" },
      element("h1", {}, overview.program),
      element("p", { class: "facts" }, facts.map((fact) => element("span", {}, fact))),
      element("p", { class: "command mono" }, environment.command.join(" ")));
  }

  const card = (label, value, more, isText) => element("div", { class: "card" },
    element("div", { class: "label" }, tare.word(label)),
    element("div", { class: isText ? "value text" : "value" }, value),
    element("div", { class: "more" }, more));

  // Lines of the program with the most time in MPI: call sites that differ only in how they were reached are one.
  function worst(sites) {
    const lines = new Map();
    for (const site of sites) {
      if (!site.timed || site.outside) continue;
      const key = JSON.stringify([site.function, site.file, site.where]);
      const line = lines.get(key) ?? { function: site.function, where: site.where, class: site.class, time_ns: 0, estimated_calls: 0 };
      line.time_ns += site.time_ns;
      line.estimated_calls += site.estimated_calls;
      lines.set(key, line);
    }
    return [...lines.values()].sort((a, b) => b.time_ns - a.time_ns);
  }

  function loss(parts) {
    const lost = parts.filter((part) => part.name !== "computing");
    return lost.length ? lost.reduce((a, b) => (b.share > a.share ? b : a)) : null;
  }
  const SAYS = {
    imbalance: ["Imbalance", "ranks that compute less wait for those that compute more"],
    waiting: ["Waiting", "for one another, in the order of messages; a faster network would not help"],
    transfer: ["Transfer", "the network, MPI itself, or waiting for a processor"],
    communication: ["Waiting or transfer"],
  };

  // What the cards are of, where a run has several worlds.
  const ofAll = (overview) => (overview.worlds > 1 ? " of all worlds" : "");

  function cards({ overview, sites, world }) {
    const { mpi_share: share, cost, parts } = overview;
    const alone = tare.ofWorld({ overview }, world);
    const ofOne = (text) => (alone ? `${text}.${alone}` : text);
    const [first] = worst(sites);
    const lost = loss(parts);
    const shown = [];
    if (share) {
      const spread = overview.ranks > 1 ? `of the time of a rank${ofAll(overview)} on average; ${format.percent(share.min)} (rank ${share.min_rank}) to ${format.percent(share.max)} (rank ${share.max_rank})` : "of the time";
      shown.push(card("MPI share", format.percent(share.mean), spread));
    } else if (overview.share_unknown) {
      shown.push(card("MPI share", "Not known", overview.share_unknown, true));
    }
    if (first && overview.mpi_ns) {
      shown.push(card("Worst call site", `${first.function}`, `${first.where}: ${format.percent(first.time_ns / overview.mpi_ns)} of the time in MPI${ofAll(overview)}`, true));
    }
    if (lost && lost.name === "imbalance" && overview.ended_early) {
      // The shorter net time of a rank that has ended early is no imbalance.
    } else if (lost && lost.share > 0.02) {
      const [name, why = overview.not_replayed] = SAYS[lost.name];
      shown.push(card("Most is lost by", name, ofOne(`${format.percent(lost.share)} of the time: ${why}`), true));
    } else if (lost) {
      shown.push(card("Most is lost by", "Nothing much", ofOne(`no loss above ${format.percent(lost.share)} of the time`), true));
    }
    const ofWhat = `of ${overview.cost_of} in the code of tare${overview.uses_mpi ? `; ${format.percent2(cost.wall_share)} of all time with MPI_Init and MPI_Finalize` : ""}`;
    shown.push(card("Cost of measuring", format.percent2(cost.net_share), ofWhat));
    return element("div", { class: "cards" }, shown);
  }

  function stack(parts) {
    return element("div", {},
      element("div", { class: "stack", role: "img", "aria-label": parts.map((part) => `${part.title} ${format.percent(part.share)}`).join(", ") },
        parts.filter((part) => part.share > 0).map((part) => element("div", { width: `${100 * part.share}%`, color: `var(--${part.name})`, title: `${part.title}: ${format.percent(part.share)}` }))),
      element("ul", { class: "legend column" }, parts.map((part) => element("li", {},
        swatch(part.name), element("span", {}, part.title), element("b", {}, format.percent(part.share))))));
  }

  function whereTimeGoes({ overview, world }) {
    if (overview.parts.length) return [stack(overview.parts), tare.aloneOf({ overview }, world)];
    const why = overview.share_unknown ? `How long ranks are in MPI is not known: ${overview.share_unknown}.` : "No rank was between MPI_Init and MPI_Finalize for any time.";
    return element("p", { class: "muted" }, why);
  }

  function topSites(sites, total) {
    const rows = worst(sites).slice(0, TOP);
    if (!rows.length || !total) return element("p", { class: "muted" }, "No call of MPI took time.");
    const link = (row) => element("a", { href: `#callsites?sites.q=${encodeURIComponent(`${row.function} ${row.where}`)}` }, row.function);
    return element("table", { class: "worst" }, element("tbody", {}, rows.map((row) => element("tr", {},
      element("td", {}, link(row), " ", element("span", { class: "muted" }, row.where)),
      element("td", { class: "bar" }, element("div", { class: "bar-track" }, element("div", { class: "bar-fill", width: `${100 * row.time_ns / total}%`, color: `var(--${row.class})` }))),
      element("td", { class: "number" }, format.percent(row.time_ns / total)),
      element("td", { class: "number muted" }, format.time(row))))));
  }

  const cost = ({ account }) => element("dl", { class: "facts-list" }, account.flatMap(([name, value]) => [element("dt", {}, name.charAt(0).toUpperCase() + name.slice(1)), element("dd", {}, value)]));

  // A finding leads to its worst instance, if it has one.
  const said = (text, instance) => (instance ? element("a", { href: "#timeline", title: `Show ${tare.instanceNames[instance.what]} in the timeline`, onclick: (event) => {
    event.preventDefault();
    tare.showInstance(instance);
  } }, text) : text);

  function draw(into, content) {
    const { overview, sites } = content;
    into.append(head(overview, content.environment), cards(content));
    for (const note of overview.notes) into.append(element("p", { class: "notice" }, note));
    if (!overview.ranks) return;
    into.append(element("div", { class: "panel" }, element("h3", {}, "What limits this program"),
      element("ol", { class: "findings" }, overview.findings.map((finding, i) => element("li", {}, said(finding.replace(/(\d) %/g, "$1\u00a0%"), content.instances[i])))),
      tare.aloneOf(content, content.world)));
    if (overview.uses_mpi) into.append(element("div", { class: "two" },
      element("div", { class: "panel" }, element("h3", {}, "Where the time goes"), whereTimeGoes(content)),
      element("div", { class: "panel" }, element("h3", {}, `Call sites${ofAll(overview)} with the most time in MPI`),
        overview.measured_only ? element("p", { class: "notice" }, overview.measured_only) : null, topSites(sites, overview.mpi_ns))));
    into.append(element("div", { class: "panel detail" }, element("h3", {}, `Cost of measuring, all ${overview.uses_mpi ? "ranks" : "processes"}`), cost(overview)));
  }
  tare.sections = [{ id: "overview", title: "Overview", draw }];
  tare.instanceNames = { wait: "the longest wait", call: "the longest call", iteration: "the slowest iteration" };
})();
