// The timeline: what each location does, from the whole run down to a single call.
(() => {
  "use strict";
  const { element, format, titles: TITLES } = tare;
  const { ACTIVITIES, OWN, NO_FUNCTION } = tare.timelineData;
  const MAX_ROWS = 48;
  const MAX_LINES = 2500;
  const MAX_PARTS = 20000; // waits, and intervals of the critical path
  // With more rows than fit, so many are shown around what is gone to.
  const ROWS_AROUND = 16;
  const SHORTEST_NS = 50;

  class Timeline {
    constructor(data, content) {
      this.data = data;
      this.about = data.about;
      this.content = content;
      this.since = new Map();
      for (const [row, ns, thread] of this.about.since) {
        if (!this.since.has(row)) this.since.set(row, []);
        this.since.get(row).push({ ns, thread });
      }
      this.lives = new Map(this.about.lives.map(([row, ...life]) => [row, life]));
      this.hasThreads = this.about.threads.some((thread) => thread > 0);
      this.hidden = new Set();
      this.kinds = new Map(content.sites.map((site) => [site.function, site.class]));
      this.shown = null; // what is on the canvas: { view, picture, lines }
      this.view = this.fromState();
      this.shows = { messages: tare.state.get("messages") !== "off", path: tare.state.get("path") === "on" };
      this.asked = 0;
      this.panel = new tare.TimelinePanel(this);
      this.find = new tare.TimelineFind(this);
      this.jump = tare.timelineJump(this);
      this.build();
    }
    classOf = (number) => OWN.get(number) ?? this.kinds.get(this.about.functions[number]) ?? "other";
    functionOf = (number) => TITLES[OWN.get(number)] ?? this.about.functions[number];
    count = () => this.about.ranks.length;
    whole = () => ({ from: 0, to: this.about.length_ns, first: 0, locations: this.count() });

    fromState() {
      const view = this.whole();
      const [from, to] = (tare.state.get("time") ?? "").split("-").map(Number);
      if (to > from) [view.from, view.to] = this.bounded(from - this.about.start_ns, to - this.about.start_ns);
      const [first, last] = (tare.state.get("rows") ?? "").split("-").map(Number);
      if (last >= first && last < this.count()) [view.first, view.locations] = [first, last - first + 1];
      return view;
    }
    bounded(from, to) {
      const length = this.about.length_ns;
      const span = Math.min(Math.max(to - from, SHORTEST_NS), length);
      const start = Math.min(Math.max(from, 0), length - span);
      return [start, start + span];
    }
    // How the locations of the view become rows.
    rows(view = this.view) {
      const group = Math.max(Math.ceil(view.locations / MAX_ROWS), this.data.group);
      return { group, rows: Math.ceil(view.locations / group) };
    }

    build() {
      this.canvas = element("canvas", { tabindex: 0, role: "application", "aria-label": "Timeline. Comma and full stop choose calls, arrow keys move, plus and minus zoom; the question mark lists all keys", class: "lanes" });
      this.overlay = element("canvas", { class: "over", "aria-hidden": "true" });
      this.axis = element("div", { class: "axis", "aria-hidden": "true" });
      this.phases = element("div", { class: "phases", role: "img", "aria-label": this.content.structure.map((phase) => `Phase ${phase.phase} from ${(phase.start_ns / 1e9).toFixed(3)} s`).join(", ") });
      this.phases.hidden = this.content.structure.length < 2;
      this.labels = element("div", { class: "labels" });
      this.thumb = element("div", { class: "thumb" });
      this.track = element("div", { class: "track" }, this.thumb);
      this.hits = element("canvas", { class: "hits", "aria-hidden": "true" });
      this.tip = element("div", { class: "tip", role: "tooltip" });
      this.tip.hidden = true;
      this.status = element("p", { class: "hint", role: "status" });
      const press = (text, label, act) => element("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
      this.toggles = {
        messages: press("Messages", "Show messages as lines", () => this.toggle("messages")),
        path: press("Critical path", "Show the chain of activities that the time of the run depends on", () => this.toggle("path")),
      };
      const tools = element("div", { class: "tools" },
        element("span", { class: "group" }, press("Whole run", "Show the whole run", () => this.go(this.whole())), press("−", "Zoom out", () => this.zoom(2)), press("+", "Zoom in", () => this.zoom(0.5)), press("←", "Earlier", () => this.pan(-0.5)), press("→", "Later", () => this.pan(0.5))),
        this.toggles.messages, this.toggles.path, this.jump.node, press("?", "Keys", tare.timelineKeys.help(this)));
      const legend = element("div", { class: "tools legend-buttons", role: "group", "aria-label": "Shown" },
        ACTIVITIES.filter((name) => this.occurs(name)).map((name) => {
          const button = element("button", { type: "button", "aria-pressed": "true" }, tare.swatch(name), TITLES[name]);
          button.addEventListener("click", () => {
            if (this.hidden.has(name)) this.hidden.delete(name);
            else this.hidden.add(name);
            button.setAttribute("aria-pressed", String(!this.hidden.has(name)));
            this.paint();
          });
          return button;
        }), element("span", { class: "plain" }, tare.swatch("computing"), "Outside of calls"));
      this.stage = element("div", { class: "stage" }, this.canvas, this.overlay, this.tip);
      this.box = element("div", { class: "panel timeline" }, this.track, this.hits, this.axis, this.phases, element("div", { class: "lanes-box" }, this.labels, this.stage));
      this.box.style.setProperty("--labels", `${Math.max(...Array.from({ length: this.count() }, (_, row) => this.name(row, row).length)) * (this.count() > MAX_ROWS ? 2 : 1) + 2.5}ch`);
      this.node = element("div", {}, tools, element("div", { class: "tools" }, this.find.tools), this.find.list, this.box, legend, this.panel.node, this.status, element("p", { class: "hint" }, [this.data.leftOut(), this.ownEvents()].filter(Boolean).join(" ")));
      this.listen();
    }
    // Begin and end of the process of a location.
    life(row) {
      return this.lives.get(row) ?? [0, this.about.length_ns];
    }
    // The same of those that a row of the picture stands for.
    livesOf(view, group, row) {
      const first = view.first + row * group;
      const all = Array.from({ length: Math.max(1, Math.min(group, this.count() - first)) }, (_, i) => this.life(first + i));
      return [Math.min(...all.map(([begin]) => begin)), Math.max(...all.map(([, end]) => end))];
    }
    ownEvents() {
      const { own_events: count } = this.content.overview.cost;
      return count ? `${format.numberOf(count, "event")} of the program itself (regions, phases, markers, counters) ${format.noun(count, "is", "are")} not drawn: tare events lists them, and tare view --in perfetto draws them.` : "";
    }
    occurs(name) {
      if (name === "waiting") return (this.about.waits?.found ?? Number(this.data.isServed)) > 0;
      if (name === "untraced") return this.about.has_gaps;
      if (name === "tare") return this.content.flushes.some((row) => row.flushes);
      return this.content.sites.some((site) => site.class === name);
    }

    listen() {
      const at = (event) => {
        const box = this.canvas.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top, width: box.width };
      };
      const time = ({ x, width }) => this.view.from + ((this.view.to - this.view.from) * x) / width;
      let drag = null;
      this.canvas.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        drag = at(event);
        this.canvas.setPointerCapture(event.pointerId);
      });
      this.canvas.addEventListener("pointermove", (event) => {
        const now = at(event);
        if (drag && Math.abs(now.x - drag.x) > 3) this.drawOver(drag.x, now.x);
        this.hover(now, time(now));
      });
      this.canvas.addEventListener("pointerup", (event) => {
        const now = at(event);
        if (drag && Math.abs(now.x - drag.x) > 3) {
          const [from, to] = [time(drag), time(now)].sort((a, b) => a - b);
          this.go({ ...this.view, from, to });
        }
        else if (drag) this.choose(now, time(now));
        drag = null;
        this.drawOver();
      });
      this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
      this.canvas.addEventListener("dblclick", () => this.zoom(4));
      this.canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.shiftKey && !event.metaKey) return;
        event.preventDefault();
        const step = event.deltaY || event.deltaX;
        if (event.shiftKey) this.pan(Math.sign(step) * 0.15);
        else this.zoom(step > 0 ? 1.35 : 1 / 1.35, time(at(event)));
      }, { passive: false });
      tare.timelineKeys.listen(this);
      new ResizeObserver(() => this.show()).observe(this.stage);
    }
    // What lies over the picture: a frame around what is chosen, and the span that is being drawn (a, b: pixels).
    drawOver(a = 0, b = 0) {
      const context = this.overlay.getContext("2d");
      this.overlay.width = this.stage.clientWidth;
      this.overlay.height = this.canvas.clientHeight;
      context.strokeStyle = tare.color("accent");
      context.lineWidth = 3;
      const { chosen } = this.panel;
      for (const row of chosen ? new Set([chosen.row, chosen.other ?? chosen.row]) : []) {
        const { group, rows } = this.rows(), { from, to, first } = this.view;
        const height = this.height(rows), y = Math.floor((row - first) / group) * height;
        const [left, right] = [chosen.from, chosen.to].map((at) => Math.min(Math.max(((at - from) / (to - from)) * this.overlay.width, -6), this.overlay.width + 6));
        if (row >= first && row < first + this.view.locations) context.strokeRect(left - 1.5, y + 0.5, Math.max(right - left, 1) + 3, height - 2);
      }
      if (a === b) return;
      context.fillStyle = tare.color("accent");
      context.globalAlpha = 0.25;
      context.fillRect(Math.min(a, b), 0, Math.abs(a - b), this.overlay.height);
    }
    // Chooses what lies under the pointer: a message, or what the row does.
    choose(at, time) {
      const { view, lines } = this.shown;
      const message = lines ? this.lineAt(lines, view, at) : -1;
      if (message >= 0) return this.panel.message(lines, message);
      const { rows, group, picture } = this.shown;
      const row = view.first + Math.min(Math.floor((at.y / this.canvas.clientHeight) * rows * group), this.count() - 1 - view.first);
      const call = picture.calls ? this.indexAt(picture.calls, view, row, time) : -1;
      return this.panel.choose(row, call < 0 ? time : picture.calls.start[call]);
    }
    // The message whose line passes within a few pixels; -1: none.
    lineAt(of, view, { x, y, width }) {
      const perNs = width / (view.to - view.from), height = this.height(this.shown.rows);
      const middle = (row) => (row - view.first + 0.5) * height - 1;
      let best = -1, least = 4;
      for (let i = 0; i < of.count; ++i) {
        if (of.from[i] === of.to[i]) continue;
        const [x1, y1] = [(of.sent[i] - view.from) * perNs, middle(of.from[i])];
        const [dx, dy] = [of.duration[i] * perNs, middle(of.to[i]) - y1];
        const part = Math.min(Math.max(((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy), 0), 1);
        const distance = Math.hypot(x - x1 - part * dx, y - y1 - part * dy);
        // Near its ends the calls lie there.
        if (part > 0.02 && part < 0.98 && distance < least) [best, least] = [i, distance];
      }
      return best;
    }

    zoom(factor, around = (this.view.from + this.view.to) / 2) {
      const { from, to } = this.view;
      this.go({ ...this.view, from: around - (around - from) * factor, to: around + (to - around) * factor });
    }
    pan(part) {
      const by = (this.view.to - this.view.from) * part;
      this.go({ ...this.view, from: this.view.from + by, to: this.view.to + by });
    }
    scroll(direction) {
      const { first, locations } = this.view;
      this.go({ ...this.view, first: Math.min(Math.max(0, first + direction * locations), Math.max(0, this.count() - locations)) });
    }
    toggle(what) {
      this.shows[what] = !this.shows[what];
      tare.state.set(what, this.shows[what] === (what === "messages") ? null : this.shows[what] ? "on" : "off");
      this.show();
    }
    // The rows of a label: one thread's, or those of all threads of a rank or process, which lie together; or why there are
    // none.
    rowsOf(label) {
      const { ranks, pids, worlds } = this.about;
      const [, world, isProcess, number, thread] = /^(?:(\d+):)?(process )?(\d+)(?:\.(\d+))?$/.exec(label) ?? [];
      const isOf = (i) => (isProcess ? ranks[i] < 0 && pids[i] : ranks[i]) === Number(number) && (world === undefined || worlds[i] === Number(world));
      const rows = [...ranks.keys()].filter((i) => isOf(i) && (thread === undefined || this.threadsOf(i).includes(Number(thread))));
      if (!rows.length) return { wrong: `There is no ${isProcess ? label : `rank ${label}`} in the trace.` };
      const those = [...new Set(rows.map((i) => `${worlds[i]}:${number}`))];
      return those.length > 1 ? { wrong: `There are several: ${those.map((each) => `rank ${each}`).join(", ")}.` } : { first: rows[0], rows: rows.length };
    }
    // The first of them; -1: none.
    rowOf = (label) => this.rowsOf(label).first ?? -1;
    // The rows of the view, so that one row is single in it.
    rowsAround(row) {
      const { first, locations } = this.view;
      if (this.rows().group === this.data.group && row >= first && row < first + locations) return { first, locations };
      if (this.count() <= MAX_ROWS) return { first: 0, locations: this.count() };
      const begin = Math.min(Math.max(row - ROWS_AROUND, 0), Math.max(this.count() - 2 * ROWS_AROUND, 0));
      return { first: begin, locations: Math.min(2 * ROWS_AROUND, this.count() - begin) };
    }
    // Zooms to a span of a row.
    lookAt(row, from, to) {
      const around = Math.max(1.5 * (to - from), SHORTEST_NS);
      this.go({ from: from - around, to: to + around, ...this.rowsAround(row) });
    }
    // Brings what is chosen into view, as large as it has to be to be seen.
    follow({ row, from, to, other = row }) {
      const { view } = this;
      const isIn = from >= view.from && to <= view.to && this.rows().group === this.data.group && [row, other].every((each) => each >= view.first && each < view.first + view.locations);
      if (isIn && to - from > (view.to - view.from) / 200) return;
      const span = Math.min(view.to - view.from, Math.max(40 * (to - from), SHORTEST_NS));
      const middle = (from + to) / 2, half = Math.max(span / 2, 0.75 * (to - from));
      this.go({ from: middle - half, to: middle + half, ...this.rowsAround(row) });
    }
    // Marks of what a search has found, above the rows.
    mark(found) {
      this.found = found;
      const { hits } = this;
      hits.hidden = !found?.count;
      if (hits.hidden) return;
      hits.width = Math.max(this.stage.clientWidth, 1);
      hits.height = 7;
      const context = hits.getContext("2d"), { from, to } = this.view;
      context.fillStyle = tare.color("accent");
      for (const start of found.start) context.fillRect(((start - from) / (to - from)) * hits.width - 1, 0, 2, 7);
    }
    go(view) {
      [view.from, view.to] = this.bounded(view.from, view.to);
      this.view = view;
      const { start_ns: start, length_ns: length } = this.about;
      const isWhole = view.from === 0 && view.to === length;
      tare.state.set("time", isWhole ? null : `${Math.round(start + view.from)}-${Math.round(start + view.to)}`);
      tare.state.set("rows", view.locations === this.count() ? null : `${view.first}-${view.first + view.locations - 1}`);
      this.tip.hidden = true;
      this.paint(); // what there is, stretched, until the rest is here
      this.show();
    }

    // Asks for what the view needs; of several answers under way the last counts.
    async show() {
      const width = Math.round(this.stage.clientWidth);
      if (!width) return;
      const mine = ++this.asked;
      const view = { ...this.view };
      const { group, rows } = this.rows(view);
      const window = { first: view.first, rows, group, from: view.from, to: view.to, columns: width };
      try {
        const picture = await this.data.picture(window);
        if (mine !== this.asked) return;
        const [lines, waits, path] = await Promise.all([
          this.shows.messages && picture.calls ? this.data.lines(window, MAX_LINES) : null,
          picture.calls ? this.data.waits(window, MAX_PARTS) : null,
          this.shows.path ? this.data.path(window, MAX_PARTS) : null,
        ]);
        if (mine !== this.asked) return;
        this.shown = { view, group, rows, picture, lines, waits, path };
        this.paint();
        this.tell();
      } catch (error) {
        this.status.textContent = `The timeline cannot be shown: ${error.message}`;
      }
    }

    height = (rows) => (rows <= 8 ? 34 : rows <= 16 ? 28 : rows <= 32 ? 21 : 14);

    paint() {
      this.drawFrame();
      if (this.shown === null) return;
      const { view, group, rows, picture, lines, waits, path } = this.shown;
      const scale = Math.min(devicePixelRatio || 1, 2);
      const width = Math.round(this.stage.clientWidth * scale);
      const rowHeight = Math.round(this.height(rows) * scale);
      const lives = (row) => this.livesOf(view, group, row).map((at) => Math.round(((Math.min(Math.max(at, view.from), view.to) - view.from) * width) / (view.to - view.from)));
      const place = { width, rowHeight, gap: Math.max(1, Math.round(2 * scale)), scale, lives };
      const canvas = this.canvas;
      canvas.width = width;
      canvas.height = rows * rowHeight;
      canvas.style.height = `${(rows * rowHeight) / scale}px`;
      const context = canvas.getContext("2d");
      const isSame = view.from === this.view.from && view.to === this.view.to && view.first === this.view.first && view.locations === this.view.locations;
      if (picture.bins && !picture.isFaint) tare.timelinePaint.bins(context, picture.bins, place, this.hidden);
      else {
        if (picture.bins) {
          tare.timelinePaint.bins(context, picture.bins, place, this.hidden);
          context.fillStyle = tare.color("surface");
          context.globalAlpha = 0.55;
          context.fillRect(0, 0, width, rows * rowHeight);
          context.globalAlpha = 1;
        } else tare.timelinePaint.ground(context, rows, place, tare.color("computing"));
        tare.timelinePaint.calls(context, picture.calls, view, place, this.hidden, this.classOf);
        if (waits && !this.hidden.has("waiting")) tare.timelinePaint.waits(context, waits, view, place);
        tare.timelinePaint.names(context, picture.calls, view, place, this.hidden, this.about, this.classOf);
      }
      if (lines) tare.timelinePaint.lines(context, lines, view, place);
      if (path) tare.timelinePaint.path(context, path, view, place, group);
      this.drawOver();
      this.mark(this.found);
      if (isSame) {
        canvas.dataset.ready = "1";
        return;
      }
      // The old picture where it lies in the new view.
      delete canvas.dataset.ready;
      const old = new OffscreenCanvas(width, canvas.height);
      old.getContext("2d").drawImage(canvas, 0, 0);
      const perNs = width / (this.view.to - this.view.from);
      context.clearRect(0, 0, width, canvas.height);
      context.imageSmoothingEnabled = false;
      context.drawImage(old, (view.from - this.view.from) * perNs, 0, (view.to - view.from) * perNs, canvas.height);
    }

    drawFrame() {
      const { from, to, first } = this.view;
      const { group, rows } = this.rows();
      const width = this.stage.clientWidth;
      const { found, step } = tare.timelinePaint.ticks(this.about.start_ns + from, this.about.start_ns + to, Math.max(2, width / 130));
      this.axis.replaceChildren(...found.map((at) => {
        const tick = element("span", {}, tare.timelinePaint.timeText(at, step));
        tick.style.left = `${((at - this.about.start_ns - from) / (to - from)) * 100}%`;
        return tick;
      }));
      this.phases.replaceChildren(...this.content.structure.map((phase) => {
        const [begin, end] = [phase.start_ns, phase.start_ns + phase.duration_ns].map((at) => Math.min(Math.max((at - this.about.start_ns - from) / (to - from), 0), 1));
        const part = element("span", { class: `kind-${phase.kind % 6}`, title: `Phase ${phase.phase}: ${format.duration(phase.duration_ns)}`, width: `${100 * (end - begin)}%` }, phase.phase);
        part.style.left = `${100 * begin}%`;
        part.hidden = end <= begin;
        return part;
      }));
      const { length_ns: length } = this.about;
      this.thumb.style.left = `${(100 * from) / length}%`;
      this.thumb.style.width = `${Math.max(0.3, (100 * (to - from)) / length)}%`;
      const height = this.height(rows);
      this.labels.replaceChildren(...Array.from({ length: rows }, (_, i) => {
        const begin = first + i * group, end = Math.min(begin + group, first + this.view.locations) - 1;
        const label = element("button", { type: "button", title: group > 1 ? "Show these alone" : null, onclick: () => group > 1 && this.go({ ...this.view, first: begin, locations: end - begin + 1 }) }, this.name(begin, end));
        label.style.height = `${height}px`;
        label.style.lineHeight = `${height}px`;
        return label;
      }));
      for (const [what, button] of Object.entries(this.toggles)) button.setAttribute("aria-pressed", String(this.shows[what]));
    }
    // The threads that have a location, one after another.
    threadsOf = (row) => this.since.get(row)?.map(({ thread }) => thread) ?? [this.about.threads[row]];
    threadAt = (row, time) => this.since.get(row)?.findLast(({ ns }) => ns <= time)?.thread ?? this.threadsOf(row)[0];
    isSameProcess = (a, b) => ["worlds", "ranks", "pids"].every((name) => this.about[name][a] === this.about[name][b]);
    processOf(row) {
      const { ranks, pids, worlds } = this.about;
      const world = this.content.overview.worlds > 1 && ranks[row] >= 0 ? `${worlds[row]}:` : "";
      return `${world}${ranks[row] < 0 ? pids[row] : ranks[row]}`;
    }
    // The label of rows: threads are in it where there are several, or where the rows are not all of their process.
    name(begin, end, threads = null) {
      const isOne = this.isSameProcess(begin, end);
      const isCut = (begin > 0 && this.isSameProcess(begin - 1, begin)) || (end + 1 < this.count() && this.isSameProcess(end, end + 1));
      const those = (of) => threads ?? [...Array(end - begin + 1).keys()].flatMap((i) => (this.isSameProcess(begin + i, of) ? this.threadsOf(begin + i) : []));
      const first = those(begin).reduce((a, b) => Math.min(a, b)), last = those(end).reduce((a, b) => Math.max(a, b));
      const shows = isOne ? this.hasThreads : isCut;
      const kind = this.about.ranks[begin] < 0 ? "process " : "";
      if (!isOne) return `${kind}${this.processOf(begin)}${shows ? `.${first}` : ""}–${this.processOf(end)}${shows ? `.${last}` : ""}`;
      return `${kind}${this.processOf(begin)}${shows ? `.${first}${last > first ? `–${last}` : ""}` : ""}`;
    }
    // The same in a sentence; of one row, only the threads that had it in a time.
    named(begin, end, ...times) {
      const name = this.name(begin, end, times.length ? times.map((time) => this.threadAt(begin, time)) : null);
      return this.about.ranks[begin] < 0 ? name : `rank ${name}`;
    }

    hover({ x, y, width }, time) {
      if (this.shown === null) return;
      const { rows, group, picture, view, lines } = this.shown;
      const row = Math.floor((y / this.canvas.clientHeight) * rows);
      if (row < 0 || row >= rows) return;
      const said = this.callAt(picture, view, view.first + row, time) ?? this.binAt(picture, view, rows, row, time) ?? ["Outside of calls"];
      const begin = view.first + row * group;
      this.tip.replaceChildren(
        element("b", {}, said[0]),
        ...said.slice(1).map((line) => element("div", {}, line)),
        element("div", { class: "muted" }, `${this.named(begin, Math.min(begin + group, view.first + view.locations) - 1, ...(group > 1 ? [] : [time]))}, ${((this.about.start_ns + time) / 1e9).toFixed(9)} s`));
      this.tip.hidden = false;
      this.tip.style.left = `${Math.min(x + 14, Math.max(0, width - this.tip.offsetWidth - 4))}px`;
      this.tip.style.top = `${y + 16}px`;
    }
    // The shortest call at a time, give or take a pixel; -1: none.
    indexAt(calls, view, row, time) {
      const slack = (view.to - view.from) / this.stage.clientWidth;
      let best = -1;
      for (let i = 0; i < calls.count; ++i) {
        if (calls.row[i] !== row || calls.start[i] > time + slack || calls.start[i] + Math.max(calls.duration[i], slack) < time) continue;
        if (best < 0 || calls.duration[i] < calls.duration[best]) best = i;
      }
      return best;
    }
    callAt({ calls }, view, row, time) {
      const best = calls ? this.indexAt(calls, view, row, time) : -1;
      if (best < 0) return null;
      const { waits } = this.shown;
      const said = [this.functionOf(calls.function[best]), `${format.duration(calls.duration[best])}, from ${((this.about.start_ns + calls.start[best]) / 1e9).toFixed(9)} s`];
      if (calls.site[best] >= 0) said.push(this.about.places[calls.site[best]]);
      if (calls.peer[best] >= 0) said.push(`${this.classOf(calls.function[best]) === "collective" ? "root" : "peer"} ${calls.peer[best]}`);
      if (calls.bytes[best] >= 0) said.push(format.size(calls.bytes[best]));
      const wait = waits ? waits.row.findIndex((of, i) => of === row && waits.start[i] < calls.start[best] + calls.duration[best] && waits.start[i] + waits.duration[i] > calls.start[best]) : -1;
      if (wait >= 0) said.push(`waits ${format.duration(waits.duration[wait])} for ${this.named(waits.causeRow[wait], waits.causeRow[wait], waits.causeStart[wait])}`);
      return said;
    }
    binAt({ bins }, view, rows, row, time) {
      if (!bins) return null;
      const column = Math.floor((bins.columns * (time - view.from)) / (view.to - view.from));
      const cell = row * bins.columns + Math.min(Math.max(column, 0), bins.columns - 1);
      const shares = ACTIVITIES.map((name, i) => [TITLES[name], bins.shares[i][cell] / 255]).filter(([, share]) => share > 0.002);
      if (!shares.length) return null;
      const of = bins.functions[cell];
      const most = of !== NO_FUNCTION ? [`Mostly ${this.about.functions[of]}`] : shares.length > 1 ? ["Several calls"] : [];
      return [...most, ...shares.map(([title, share]) => `${title} ${format.percent(share)}`), `in ${format.duration((view.to - view.from) / bins.columns)}`];
    }
    tell() {
      const { view, picture, lines, group } = this.shown;
      const { start_ns: start } = this.about;
      const seconds = (ns) => ((start + ns) / 1e9).toFixed(view.to - view.from < 1e6 ? 9 : view.to - view.from < 1e9 ? 6 : 3);
      const what = picture.calls ? format.numberOf(picture.calls.count, "single call") : `bins of ${format.duration((view.to - view.from) / picture.bins.columns)}`;
      const of = lines && lines.count ? `, ${format.numberOf(lines.count, "message")}${lines.count >= MAX_LINES ? " (those that took longest)" : ""}` : "";
      this.status.textContent = `${seconds(view.from)} s to ${seconds(view.to)} s: ${what}${of}${group > 1 ? `; a row stands for ${group} locations` : ""}. ${picture.calls || group > 1 ? "" : "Zoom in for single calls and messages. "}Click for details, drag to zoom, double-click to zoom out; ? lists all keys.`;
    }
  }

  async function draw(into, content) {
    into.append(element("h2", {}, "Timeline"));
    const data = await tare.timelineData.open();
    if (data === null) {
      into.append(element("p", { class: "lead" }, "This run has no trace: tare run --trace records one."));
      return;
    }
    into.append(element("p", { class: "lead" }, "What each location (a thread of a rank) does. Colours are classes of functions; a column is stacked by their shares of its time, until single calls can be told apart. What a call waits for another rank has a colour of its own. Times are seconds since the start of the run."));
    const timeline = new Timeline(data, content);
    into.append(timeline.node);
    tare.timeline = timeline;
    tare.repaint = () => timeline.paint();
    // From other sections: an instance of what they show (instances.py).
    tare.showInstance = ({ row, start_ns: start, duration_ns: duration, what }) => {
      timeline.lookAt(row, start, start + duration);
      if (what === "iteration") timeline.panel.close();
      else timeline.panel.choose(row, start);
      timeline.node.scrollIntoView();
      timeline.canvas.focus({ preventScroll: true });
    };
    const restore = () => {
      const [row, time] = (tare.state.get("at") ?? "").split("-").map(Number);
      if (time >= 0 && row < timeline.count()) timeline.panel.choose(row, time);
    };
    restore();
    if (tare.state.get("find")) timeline.find.search(tare.state.get("find"), false);
    timeline.data.whenFound?.().then(() => timeline.show());
    tare.state.onChange(() => {
      timeline.view = timeline.fromState();
      timeline.show();
      restore();
    });
  }
  tare.sections.push({ id: "timeline", title: "Timeline", draw });
})();
