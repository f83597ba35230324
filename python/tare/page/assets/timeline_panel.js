// What was chosen in the timeline: a call, a gap between calls, or a message. It stays until it is closed.
(() => {
  "use strict";
  const { element, format, swatch } = tare;
  const { FLUSH } = tare.timelineData;
  const MAX_LISTED = 20;
  const FINALIZE_NS = 1e5; // from its last reading to the begin of MPI_Finalize

  class Panel {
    constructor(timeline) {
      this.timeline = timeline;
      this.about = timeline.about;
      this.chosen = null; // { row, from, to, other }
      this.node = element("div", { class: "panel detail chosen-part", role: "region", "aria-label": "Chosen in the timeline", "aria-live": "polite", tabindex: -1 });
      this.node.hidden = true;
    }
    seconds = (ns) => `${((this.about.start_ns + ns) / 1e9).toFixed(9)} s`;
    at = (of, i) => `${this.timeline.functionOf(of.function[i])}${of.site[i] < 0 ? "" : ` at ${this.about.places[of.site[i]]}`}`;
    rank = (row, ...times) => this.timeline.named(row, row, ...times);
    press = (text, act) => element("button", { type: "button", onclick: act }, text);
    // A button that leads to what is at a time of a row.
    to = (row, time, text) => this.press(text, () => this.choose(row, time, true));

    close() {
      this.chosen = null;
      if (this.node.contains(document.activeElement)) this.timeline.canvas.focus({ preventScroll: true });
      this.node.hidden = true;
      tare.state.set("at", null);
      this.timeline.drawOver();
    }
    show(chosen, swatches, title, facts, buttons = []) {
      this.chosen = chosen;
      tare.state.set("at", `${chosen.row}-${Math.round(chosen.time)}`);
      this.node.hidden = false;
      const hadFocus = this.node.contains(document.activeElement);
      this.node.replaceChildren(
        element("h3", {}, swatches, title),
        element("dl", {}, facts.filter(Boolean).flatMap(([name, ...values]) => [element("dt", {}, name), element("dd", {}, ...values)])),
        element("div", { class: "tools" }, ...buttons,
          this.press("Zoom to it", () => this.zoom()), this.press("← Call before", () => this.step(-1)), this.press("Next call →", () => this.step(1)), this.press("Close", () => this.close())));
      if (hadFocus) this.node.focus({ preventScroll: true });
      this.timeline.drawOver();
    }
    zoom() {
      if (this.chosen) this.timeline.lookAt(this.chosen.row, this.chosen.from, this.chosen.to);
    }

    // Shows what a row does at a time. `follows`: the view moves there, if it is elsewhere.
    async choose(row, time, follows = false) {
      const mine = (this.asked = (this.asked ?? 0) + 1);
      time = Math.min(Math.max(time, 0), this.about.length_ns - 1);
      const calls = await this.timeline.data.around(row, time);
      if (mine !== this.asked) return;
      let before = -1, after = -1, inside = -1;
      for (let i = 0; i < calls.count; ++i) {
        const end = calls.start[i] + calls.duration[i];
        if (calls.start[i] > time) after = i;
        else if (end > time || calls.start[i] === time) inside = inside < 0 || calls.duration[i] < calls.duration[inside] ? i : inside;
        else before = i;
      }
      const endOf = (i) => calls.start[i] + calls.duration[i];
      if (inside < 0) this.showGap(row, time, calls, before < 0 ? null : { i: before, at: endOf(before) }, after < 0 ? null : { i: after, at: calls.start[after] });
      else await this.showCall(row, time, calls, inside, mine);
      if (follows && mine === this.asked) this.timeline.follow(this.chosen);
    }
    showGap(row, time, calls, before, after) {
      const [begin, end] = this.timeline.life(row);
      if (time < begin || time >= end) {
        const [from, to] = time < begin ? [0, begin] : [end, this.about.length_ns];
        this.show({ row, time, from, to }, null, `${time < begin ? "Before the begin" : "Behind the end"} of the process, ${this.rank(row, from, to)}`, [
          ["Takes", `${format.duration(to - from)}, from ${this.seconds(from)} to ${this.seconds(to)}`],
        ]);
        return;
      }
      const from = before?.at ?? begin, to = after?.at ?? end;
      const whole = this.timeline.data.isWhole ?? true;
      this.show({ row, time, from, to }, swatch("computing"), `Outside of calls, ${this.rank(row, from, to)}`, [
        ["Takes", `${format.duration(to - from)}, from ${this.seconds(from)} to ${this.seconds(to)}`],
        before && after ? this.processor(row, from, to, [before, after].map(({ i }) => calls.function[i])) : null,
        ["Behind", before ? this.to(row, calls.start[before.i], this.at(calls, before.i)) : `the begin of the ${begin > 0 ? "process" : "trace"}`],
        ["Before", after ? this.to(row, calls.start[after.i], this.at(calls, after.i)) : `the end of the ${end < this.about.length_ns ? "process" : "trace"}`],
        whole ? null : ["Left out", `calls of less than ${format.duration(this.about.calls.min_ns)} may lie in it`],
      ]);
    }
    // How long the thread was on a processor, as far as readings tell: they are made from MPI_Init to MPI_Finalize, at calls of
    // MPI and of files, of the time since the one before. Shorter times than a millisecond are not looked at. Some time on no
    // processor may be left out, or be that of several gaps together.
    processor(row, from, to, around) {
      const { observed, off_processor: off } = this.about;
      const [begin, end] = observed[row] ?? [0, 0];
      const isRead = around[1] !== FLUSH && !around.some((call) => ["openmp", "untraced"].includes(this.timeline.classOf(call))) && this.timeline.threadAt(row, from) === this.timeline.threadAt(row, to);
      const since = Math.max(from, begin);
      if (!isRead || !off || to > end + FINALIZE_NS || to - since < 1e6) return null;
      let [descheduled, blocked, isAbout] = [0, 0, false];
      for (const [at, offFrom, offTo, ...times] of off) {
        const common = at === row ? Math.min(to, offTo) - Math.max(since, offFrom) : 0;
        if (common <= 0) continue;
        const part = common / (offTo - offFrom);
        if (part < 0.999) isAbout = true;
        descheduled += times[0] * part;
        blocked += times[1] * part;
      }
      const parts = [`${isAbout ? "about" : "at most"} ${format.duration(Math.max(to - since - descheduled - blocked, 0))} on one`];
      if (descheduled) parts.push(`${format.duration(descheduled)} without one, although it could run`);
      if (blocked) parts.push(`${format.duration(blocked)} blocked: asleep, waiting in the kernel, or stopped`);
      if (since > from) parts.push(`not known before ${this.seconds(since)}`);
      return ["Processor", parts.join("; ")];
    }
    async showCall(row, time, calls, i, mine) {
      const { data } = this.timeline;
      const from = calls.start[i], to = from + calls.duration[i];
      const window = { first: row, rows: 1, from, to: to + 1 };
      const [waits, lines] = await Promise.all([data.waits(window, 100), data.lines(window, 1000)]);
      if (mine !== this.asked) return;
      const ofCall = lines ? Array.from(lines.sent.keys()).filter((k) => (lines.from[k] === row && lines.sent[k] === from) || (lines.to[k] === row && lines.sent[k] + lines.duration[k] === to)) : [];
      const messages = ofCall.slice(0, MAX_LISTED).map((k) =>
        this.press(`${lines.from[k] === row ? `to ${this.rank(lines.to[k], lines.sent[k] + lines.duration[k])}` : `from ${this.rank(lines.from[k], lines.sent[k])}`}${lines.bytes[k] >= 0 ? `, ${format.size(lines.bytes[k])}` : ""}`, () => this.message(lines, k, true)));
      const longest = waits && waits.count ? Array.from(waits.duration.keys()).reduce((a, b) => (waits.duration[b] > waits.duration[a] ? b : a)) : -1;
      const kind = this.timeline.classOf(calls.function[i]);
      this.show({ row, time: from, from, to }, swatch(kind), `${this.at(calls, i)}, ${this.rank(row, from)}`, [
        ["Takes", `${format.duration(to - from)}, from ${this.seconds(from)} to ${this.seconds(to)}`],
        longest < 0 ? null : ["Waits", `${format.duration(waits.duration[longest])} for `, this.to(waits.causeRow[longest], waits.causeStart[longest], `${this.rank(waits.causeRow[longest], waits.causeStart[longest])} at ${this.seconds(waits.causeStart[longest])}`), ` (${this.about.wait_kinds[waits.kind[longest]]})`],
        calls.peer[i] >= 0 ? [kind === "collective" ? "Root" : "Peer", String(calls.peer[i])] : null,
        calls.bytes[i] >= 0 ? ["Bytes", format.size(calls.bytes[i])] : null,
        messages.length ? ["Messages", ...messages, ofCall.length > MAX_LISTED ? ` and ${format.grouped(ofCall.length - MAX_LISTED)} more` : ""] : null,
      ], [this.to(row, from - 1, "What is before"), this.to(row, to, "What is behind")]);
    }
    // A message with both of its ends.
    async message(of, i, follows = false) {
      const mine = (this.asked = (this.asked ?? 0) + 1);
      const { from: source, to: target } = of;
      const [a, b] = [source[i], target[i]];
      const sent = of.sent[i], taken = sent + of.duration[i], bytes = of.bytes[i], tag = of.tag[i];
      const [begin, end] = await Promise.all([this.timeline.data.around(a, sent), this.timeline.data.around(b, taken - 1)]);
      if (mine !== this.asked) return;
      // The call that begins, or ends, at this time; it may be shorter than those that the file has.
      const called = (calls, is) => {
        const k = Array.from(calls.start.keys()).find(is);
        return k === undefined ? "a call" : this.at(calls, k);
      };
      this.show({ row: a, time: sent, from: sent, to: taken, other: b }, null, `Message from ${this.rank(a, sent)} to ${this.rank(b, taken)}`, [
        ["Takes", `${format.duration(taken - sent)}, from the begin of the sending call to the end of the receiving one`],
        ["Sent", this.to(a, sent, called(begin, (k) => begin.start[k] === sent)), ` begins at ${this.seconds(sent)}`],
        ["Received", this.to(b, taken - 1, called(end, (k) => end.start[k] + end.duration[k] === taken)), ` ends at ${this.seconds(taken)}`],
        bytes >= 0 ? ["Bytes", format.size(bytes)] : null,
        ["Tag", String(tag)],
      ]);
      if (follows && mine === this.asked) this.timeline.follow(this.chosen);
    }
    // The call before, or behind, what is chosen; without a choice, the first of the view.
    async step(direction) {
      if (!this.chosen) return this.choose(this.timeline.view.first, (this.timeline.view.from + this.timeline.view.to) / 2, true);
      const { row, from, to, time } = this.chosen;
      const calls = await this.timeline.data.around(row, direction > 0 ? Math.max(to, time) : from - 1);
      const order = Array.from(calls.start.keys()).sort((a, b) => calls.start[a] - calls.start[b]);
      const next = direction > 0 ? order.find((i) => calls.start[i] > time) : order.reverse().find((i) => calls.start[i] < time);
      if (next !== undefined) await this.choose(row, calls.start[next], true);
    }
    // The same time of a row above or below.
    async move(direction) {
      if (!this.chosen) return this.step(0);
      const row = this.chosen.row + direction;
      if (row >= 0 && row < this.timeline.count()) await this.choose(row, this.chosen.time, true);
    }
  }
  tare.TimelinePanel = Panel;
})();
