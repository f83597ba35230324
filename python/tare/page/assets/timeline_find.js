// The search in a timeline: calls by function, line, duration and peer, or waits; the longest first.
(() => {
  "use strict";
  const { element, format } = tare;
  const LISTED = 10;
  const MAX_WORDS = 30;

  // "MPI_Recv solver.c:12 >2ms peer 3 rank 0 waits"
  function parsed(text, rowsOf) {
    const asked = { words: [], min: 0, peer: -1, first: 0, rows: rowsOf.count, waits: false, wrong: null };
    const take = (pattern, use) => {
      text = text.replace(pattern, (...found) => {
        use(...found);
        return " ";
      });
    };
    take(/>\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)?(?=\s|$)/gi, (_, number, unit) => (asked.min = format.nsOf(number, unit)));
    take(/(?:^|\s)peer[\s:=]*(\d+)(?=\s|$)/gi, (_, rank) => (asked.peer = Number(rank)));
    take(/(?:^|\s)(rank|process)[\s:=]*([\d.:]+)(?=\s|$)/gi, (_, kind, number) => {
      Object.assign(asked, rowsOf.find(kind.toLowerCase() === "process" ? `process ${number}` : number));
    });
    take(/(?:^|\s)waits?(?=\s|$)/gi, () => (asked.waits = true));
    asked.words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
    return asked;
  }

  class Find {
    constructor(timeline) {
      this.timeline = timeline;
      this.found = null;
      this.input = element("input", { type: "search", placeholder: "MPI_Recv solver.c:12 >2ms peer 3", "aria-label": "Search the timeline: function, line, duration over, peer, rank, waits", title: "Words of a function or a place; >2ms: longer than that; peer 3; rank 0; waits: waits instead of calls. Enter searches, and goes to the next" });
      this.input.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        if (this.found && this.searched === this.input.value) this.next(event.shiftKey ? -1 : 1);
        else this.search();
      });
      this.input.addEventListener("search", () => this.input.value === "" && this.search());
      const press = (text, label, act) => element("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
      this.count = element("span", { class: "muted", role: "status" });
      this.tools = element("span", { class: "group timeline-search", role: "search" }, this.input, press("Find", "Search", () => this.search()), press("‹", "Longer one that was found", () => this.next(-1)), press("›", "Next one that was found", () => this.next(1)),
        press("Longest waits", "Search the longest waits", () => this.search("waits")), this.count);
      this.list = element("ol", { class: "found" });
      this.list.hidden = true;
    }
    // `goes`: to the longest that is found.
    async search(text = this.input.value, goes = true) {
      this.input.value = this.searched = text;
      tare.state.set("find", text);
      this.found = null;
      this.list.hidden = true;
      this.timeline.mark(null);
      this.count.textContent = "";
      if (!text.trim()) return;
      const asked = parsed(text, { count: this.timeline.count(), find: (rank) => this.timeline.rowsOf(rank) });
      if (asked.wrong) return void (this.count.textContent = asked.wrong);
      this.count.textContent = "…";
      try {
        const { count, found } = await this.timeline.data.search(asked);
        if (this.searched !== text) return;
        this.take(asked, count, found, goes);
      } catch (error) {
        this.count.textContent = `The search has failed: ${error.message}`;
      }
    }
    take({ waits }, count, found, goes) {
      const order = found ? Array.from(found.start.keys()).sort((a, b) => found.duration[b] - found.duration[a] || found.start[a] - found.start[b]) : [];
      this.found = { of: found, order, count, waits, at: -1 };
      const { panel } = this.timeline;
      this.list.hidden = !order.length;
      this.list.replaceChildren(...order.slice(0, LISTED).map((i, k) => element("li", {},
        element("button", { type: "button", onclick: () => this.go(k) }, `${format.duration(found.duration[i])}${waits ? " of waiting" : ""}: ${panel.at(found, i)}, ${panel.rank(found.row[i], found.start[i])}, ${panel.seconds(found.start[i])}`))));
      this.timeline.mark(found);
      if (order.length && goes) this.go(0);
      else if (order.length) this.count.textContent = format.numberOf(count, waits ? "wait" : "call");
      else this.count.textContent = waits && !found ? "The waits are not known, or not yet." : "Nothing fits.";
    }
    go(k) {
      const { of, order, count, waits } = this.found;
      this.found.at = k;
      const all = format.numberOf(count, waits ? "wait" : "call");
      this.count.textContent = `${format.grouped(k + 1)} of ${all}, longest first${count > order.length ? ` (${format.grouped(order.length)} listed)` : ""}`;
      this.timeline.panel.choose(of.row[order[k]], of.start[order[k]], true);
    }
    next(direction) {
      if (!this.found?.order.length) return this.search();
      const { order, at } = this.found;
      this.go((at + direction + order.length) % order.length);
    }
  }
  tare.TimelineFind = Find;
})();
