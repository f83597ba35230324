// What a timeline shows, from the page's own blocks: what fits into a file of it.
(() => {
  "use strict";
  const { binsOf, CALLS, MESSAGES, WAITS, PATH, ACTIVITIES, NO_FUNCTION } = tare.timelineData;
  const MAX_FOUND = 500;

  // Columns whose bytes stand in planes (timeline.py).
  function fromPlanes(buffer, count, kinds) {
    const planes = new Uint8Array(buffer);
    const columns = { count };
    let offset = 0;
    for (const [name, kind] of kinds) {
      const width = kind.BYTES_PER_ELEMENT;
      const bytes = new Uint8Array(count * width);
      for (let byte = 0; byte < width; ++byte) {
        for (let i = 0, at = byte; i < count; ++i, at += width) bytes[at] = planes[offset + i];
        offset += count;
      }
      columns[name] = new kind(bytes.buffer);
    }
    return columns;
  }
  function chosen(columns, kinds, indices) {
    const made = { count: indices.length };
    for (const [name, kind] of kinds) {
      made[name] = new kind(indices.length);
      for (let i = 0; i < indices.length; ++i) made[name][i] = columns[name][indices[i]];
    }
    return made;
  }

  // The words that are part of each text, as bits: as timeline.py has it for the server.
  const fitting = (words, texts) => texts.map((text) => words.reduce((bits, word, i) => (text.toLowerCase().includes(word) ? bits | (1 << i) : bits), 0));
  // The longest of those that `takes` finds.
  function longest(columns, kinds, most, takes) {
    const found = [];
    for (let i = 0; i < (columns?.count ?? 0); ++i) if (takes(i)) found.push(i);
    const count = found.length;
    if (count > most) found.sort((a, b) => columns.duration[b] - columns.duration[a]).length = most;
    return { count, found: columns ? chosen(columns, kinds, found) : null };
  }

  class Embedded {
    constructor(about, bins, calls, messages, waits, path) {
      this.about = about;
      this.group = about.bins.group;
      this.base = binsOf(bins, 0, about.bins.rows, about.bins.columns);
      this.all = fromPlanes(calls, about.calls.count, CALLS);
      this.messages = messages && fromPlanes(messages, about.messages.count, MESSAGES);
      this.waitLines = waits && fromPlanes(waits, about.waits.count, WAITS);
      this.pieces = path && fromPlanes(path, about.path.count, PATH);
      this.isWhole = about.calls.min_ns === 0 || about.calls.count >= about.records;
      // Calls lie row by row, in the order of time.
      this.firsts = new Map();
      for (let i = 0; i < this.all.count; ++i) if (i === 0 || this.all.row[i] !== this.all.row[i - 1]) this.firsts.set(this.all.row[i], i);
    }
    static async open() {
      const about = await tare.data.json("timeline");
      if (about === null) return null;
      const blocks = ["bins", "calls", "messages", "waits", "path"].map((name) => tare.data.bytes(`timeline-${name}`));
      return new Embedded(about, ...(await Promise.all(blocks)));
    }
    // Calls of a row that touch the span, as a range of indices.
    range(row, from, to) {
      const { start, duration, row: rows, count } = this.all;
      const first = this.firsts.get(row);
      if (first === undefined) return [0, 0];
      let end = count;
      for (const other of this.firsts.values()) if (other > first && other < end) end = other;
      const search = (time) => {
        let low = first, high = end;
        while (low < high) {
          const middle = (low + high) >> 1;
          if (start[middle] < time) low = middle + 1;
          else high = middle;
        }
        return low;
      };
      let at = search(from);
      if (at > first && start[at - 1] + duration[at - 1] >= from && rows[at - 1] === row) --at;
      return [at, search(to)];
    }
    async picture({ first, rows, group, from, to, columns }) {
      const indices = [];
      let few = group === 1;
      for (let row = first; few && row < first + rows; ++row) {
        const [begin, end] = this.range(row, from, to);
        few = indices.length + end - begin <= 40000;
        for (let i = begin; few && i < end; ++i) indices.push(i);
      }
      const calls = few ? chosen(this.all, CALLS, indices) : null;
      const isFine = ((to - from) / columns) < (this.about.length_ns / this.base.columns);
      // Bins stand for short calls that the file leaves out.
      if (calls && (this.isWhole || isFine)) return { calls, bins: this.isWhole ? null : this.bins(first, rows, group, from, to, columns), isFaint: true };
      return { calls: null, bins: this.bins(first, rows, group, from, to, columns) };
    }
    bins(first, rows, group, from, to, columns) {
      const { base, about } = this;
      const shares = ACTIVITIES.map(() => new Uint8Array(rows * columns));
      const functions = new Uint16Array(rows * columns).fill(NO_FUNCTION);
      const width = about.length_ns / base.columns;
      const sum = new Float64Array(ACTIVITIES.length);
      for (let row = 0; row < rows; ++row) {
        const begin = Math.floor((first + row * group) / this.group);
        const end = Math.min(Math.max(begin + 1, Math.ceil(Math.min(first + (row + 1) * group, about.ranks.length) / this.group)), base.rows);
        for (let column = 0; column < columns; ++column) {
          const left = (from + ((to - from) * column) / columns) / width, right = (from + ((to - from) * (column + 1)) / columns) / width;
          sum.fill(0);
          let weight = 0, most = 0, dominant = NO_FUNCTION;
          const counts = new Map();
          for (let b = Math.max(0, Math.floor(left)); b < Math.min(base.columns, Math.ceil(right)); ++b) {
            const overlap = Math.min(right, b + 1) - Math.max(left, b);
            if (overlap <= 0) continue;
            for (let r = begin; r < end; ++r) {
              const cell = r * base.columns + b;
              for (let i = 0; i < sum.length; ++i) sum[i] += overlap * base.shares[i][cell];
              weight += overlap;
              const of = base.functions[cell];
              if (of === NO_FUNCTION) continue;
              const count = (counts.get(of) ?? 0) + overlap;
              counts.set(of, count);
              if (count > most) [most, dominant] = [count, of];
            }
          }
          if (!weight) continue;
          const cell = row * columns + column;
          for (let i = 0; i < sum.length; ++i) shares[i][cell] = sum[i] / weight;
          functions[cell] = dominant;
        }
      }
      return { rows, columns, shares, functions };
    }
    async lines({ first, rows, from, to }, most) {
      if (!this.messages) return null;
      const { sent, duration, from: source, to: target } = this.messages;
      const isIn = (row) => row >= first && row < first + rows;
      return longest(this.messages, MESSAGES, most, (i) => sent[i] < to && sent[i] + duration[i] >= from && (isIn(source[i]) || isIn(target[i]))).found;
    }
    within = ({ row, start, duration }, { first, rows, group = 1, from, to }) => (i) => start[i] < to && start[i] + duration[i] > from && row[i] >= first && row[i] < first + rows * group;
    waits = async (window, most) => this.waitLines && longest(this.waitLines, WAITS, most, this.within(this.waitLines, window)).found;
    path = async (window, most) => this.pieces && longest(this.pieces, PATH, most, this.within(this.pieces, window)).found;
    // The call that has ended, those under way, and the next one, of those that are in the file.
    async around(row, time) {
      const { start, duration } = this.all;
      const [begin, end] = this.range(row, -Infinity, Infinity);
      let before = -1, after = -1;
      const at = [];
      for (let i = begin; i < end && after < 0; ++i) {
        if (start[i] > time) after = i;
        else if (start[i] + duration[i] > time) at.push(i);
        else if (before < 0 || start[i] + duration[i] >= start[before] + duration[before]) before = i;
      }
      return chosen(this.all, CALLS, [before, ...at, after].filter((i) => i >= 0));
    }
    async search({ words, min, peer, first, rows, waits }) {
      const of = waits ? this.waitLines : this.all;
      const { functions, places, ranks } = this.about;
      const all = 2 ** words.length - 1, inFunction = fitting(words, functions), inPlace = fitting(words, places);
      const peerOf = waits ? (i) => ranks[of.causeRow[i]] : (i) => of.peer[i];
      return longest(of, waits ? WAITS : CALLS, MAX_FOUND, (i) => of.duration[i] >= min && of.row[i] >= first && of.row[i] < first + rows && (peer < 0 || peerOf(i) === peer) &&
        ((inFunction[of.function[i]] ?? 0) | (inPlace[of.site[i]] ?? 0)) === all);
    }
    leftOut() {
      const { about } = this;
      const said = [];
      if (!this.isWhole) said.push(`This file holds the ${tare.format.grouped(about.calls.count)} calls of ${tare.format.duration(about.calls.min_ns)} and longer; shorter ones are in bins of ${tare.format.duration(about.length_ns / about.bins.columns)}.`);
      if (this.group > 1) said.push(`A row stands for ${this.group} locations.`);
      if (about.messages && about.messages.count < about.messages.matched) said.push(`Of ${tare.format.grouped(about.messages.matched)} messages it holds the ${tare.format.grouped(about.messages.count)} that took longest.`);
      if (about.waits && about.waits.count < about.waits.found) said.push(`Of ${tare.format.grouped(about.waits.found)} waits it holds the ${tare.format.grouped(about.waits.count)} longest.`);
      if (said.length) said.push("tare view shows everything.");
      return said.join(" ");
    }
  }

  tare.timelineData.Embedded = Embedded;
})();
