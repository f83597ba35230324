// What a timeline shows, from the page's own blocks or from the server: bins, single calls, messages.
(() => {
  "use strict";
  const ACTIVITIES = ["send", "receive", "exchange", "wait", "collective", "one-sided", "file", "other", "tare"];
  const FLUSH = 65534;
  const NO_FUNCTION = 65535;
  const CALLS = [["start", Float64Array], ["duration", Float64Array], ["bytes", Float64Array], ["row", Uint32Array], ["site", Int32Array], ["peer", Int32Array], ["function", Uint16Array]];
  const MESSAGES = [["sent", Float64Array], ["duration", Float64Array], ["bytes", Float64Array], ["from", Uint32Array], ["to", Uint32Array], ["tag", Int32Array]];

  function columnsOf(buffer, offset, count, kinds) {
    const columns = { count };
    for (const [name, kind] of kinds) {
      columns[name] = new kind(buffer, offset, count);
      offset += Math.ceil((count * kind.BYTES_PER_ELEMENT) / 8) * 8;
    }
    return columns;
  }
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
  function binsOf(buffer, offset, rows, columns) {
    const cells = rows * columns;
    const padded = Math.ceil(cells / 8) * 8;
    const shares = ACTIVITIES.map((_, i) => new Uint8Array(buffer, offset + i * padded, cells));
    return { rows, columns, shares, functions: new Uint16Array(buffer, offset + ACTIVITIES.length * padded, cells) };
  }
  function chosen(columns, kinds, indices) {
    const made = { count: indices.length };
    for (const [name, kind] of kinds) {
      made[name] = new kind(indices.length);
      for (let i = 0; i < indices.length; ++i) made[name][i] = columns[name][indices[i]];
    }
    return made;
  }

  class Embedded {
    constructor(about, bins, calls, messages) {
      this.about = about;
      this.group = about.bins.group;
      this.base = binsOf(bins, 0, about.bins.rows, about.bins.columns);
      this.all = fromPlanes(calls, about.calls.count, CALLS);
      this.messages = messages && fromPlanes(messages, about.messages.count, MESSAGES);
      this.isWhole = about.calls.min_ns === 0 || about.calls.count >= about.events;
      // Calls lie row by row, in the order of time.
      this.firsts = new Map();
      for (let i = 0; i < this.all.count; ++i) if (i === 0 || this.all.row[i] !== this.all.row[i - 1]) this.firsts.set(this.all.row[i], i);
    }
    static async open() {
      const about = await tare.data.json("timeline");
      if (about === null) return null;
      const [bins, calls, messages] = await Promise.all(["timeline-bins", "timeline-calls", "timeline-messages"].map((name) => tare.data.bytes(name)));
      return new Embedded(about, bins, calls, messages);
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
      const { sent, duration, from: source, to: target, count } = this.messages;
      const found = [];
      for (let i = 0; i < count; ++i) {
        if (sent[i] >= to || sent[i] + duration[i] < from) continue;
        const isIn = (row) => row >= first && row < first + rows;
        if (isIn(source[i]) || isIn(target[i])) found.push(i);
      }
      if (found.length > most) found.sort((a, b) => duration[b] - duration[a]).length = most;
      return chosen(this.messages, MESSAGES, found);
    }
    leftOut() {
      const { about } = this;
      const said = [];
      if (!this.isWhole) said.push(`Of ${tare.format.grouped(about.events)} events this file holds the ${tare.format.grouped(about.calls.count)} calls of ${tare.format.duration(about.calls.min_ns)} and longer; shorter ones are in bins of ${tare.format.duration(about.length_ns / about.bins.columns)}.`);
      if (this.group > 1) said.push(`A row stands for ${this.group} locations.`);
      if (about.messages && about.messages.count < about.messages.matched) said.push(`Of ${tare.format.grouped(about.messages.matched)} messages it holds the ${tare.format.grouped(about.messages.count)} that took longest.`);
      if (said.length) said.push("tare view shows everything.");
      return said.join(" ");
    }
  }

  class Served {
    constructor(about) {
      this.about = about;
      this.group = 1;
    }
    static async open() {
      const about = await tare.data.json("timeline");
      return about === null ? null : new Served(about);
    }
    async picture({ first, rows, group, from, to, columns }) {
      const buffer = await tare.data.bytes("picture", { first, rows, group, from: Math.floor(from), to: Math.ceil(to), columns });
      const [isCalls, count] = new Uint32Array(buffer, 0, 2);
      return isCalls ? { calls: columnsOf(buffer, 8, count, CALLS), bins: null } : { calls: null, bins: binsOf(buffer, 8, rows, columns) };
    }
    async lines({ first, rows, from, to }, most) {
      const buffer = await tare.data.bytes("messages", { first, rows, from: Math.floor(from), to: Math.ceil(to), most });
      return buffer === null ? null : columnsOf(buffer, 8, new Uint32Array(buffer, 0, 1)[0], MESSAGES);
    }
    leftOut() {
      return "";
    }
  }

  tare.timelineData = { open: () => (tare.data.isServed ? Served : Embedded).open(), ACTIVITIES, FLUSH, NO_FUNCTION };
})();
