// What a timeline shows: bins, single calls, messages, waits and the critical path, as columns of numbers; here from the server.
(() => {
  "use strict";
  const ACTIVITIES = ["send", "receive", "exchange", "wait", "collective", "one-sided", "file", "openmp", "other", "tare", "waiting", "untraced"];
  const FLUSH = 65534;
  // What is no call: its class.
  const OWN = new Map([[FLUSH, "tare"], [65533, "untraced"]]);
  const NO_FUNCTION = 65535;
  const CALLS = [["start", Float64Array], ["duration", Float64Array], ["bytes", Float64Array], ["row", Uint32Array], ["site", Int32Array], ["peer", Int32Array], ["function", Uint16Array]];
  const MESSAGES = [["sent", Float64Array], ["duration", Float64Array], ["bytes", Float64Array], ["from", Uint32Array], ["to", Uint32Array], ["tag", Int32Array]];
  const WAITS = [["start", Float64Array], ["duration", Float64Array], ["causeStart", Float64Array], ["row", Uint32Array], ["causeRow", Uint32Array], ["site", Int32Array], ["function", Uint16Array], ["kind", Uint16Array]];
  const PATH = [["start", Float64Array], ["duration", Float64Array], ["row", Uint32Array]];

  function columnsOf(buffer, offset, count, kinds) {
    const columns = { count };
    for (const [name, kind] of kinds) {
      columns[name] = new kind(buffer, offset, count);
      offset += Math.ceil((count * kind.BYTES_PER_ELEMENT) / 8) * 8;
    }
    return columns;
  }
  function binsOf(buffer, offset, rows, columns) {
    const cells = rows * columns;
    const padded = Math.ceil(cells / 8) * 8;
    const shares = ACTIVITIES.map((_, i) => new Uint8Array(buffer, offset + i * padded, cells));
    return { rows, columns, shares, functions: new Uint16Array(buffer, offset + ACTIVITIES.length * padded, cells) };
  }
  class Served {
    constructor(about) {
      this.about = about;
      this.group = 1;
      this.isServed = true;
    }
    // The server finds messages and waits while the page is shown already.
    async whenFound() {
      while ((await tare.data.bytes("waits", { most: 0 })) === null) await new Promise((resolve) => setTimeout(resolve, 1000));
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
    async listed(name, kinds, query) {
      const buffer = await tare.data.bytes(name, query);
      return buffer === null ? null : columnsOf(buffer, 8, new Uint32Array(buffer, 0, 1)[0], kinds);
    }
    inWindow = ({ first, rows, group = 1, from, to }, most) => ({ first, rows: rows * group, from: Math.floor(from), to: Math.ceil(to), most });
    lines = (window, most) => this.listed("messages", MESSAGES, this.inWindow(window, most));
    waits = (window, most) => this.listed("waits", WAITS, this.inWindow(window, most));
    path = (window, most) => this.listed("path", PATH, this.inWindow(window, most));
    around = (row, time) => this.listed("around", CALLS, { first: row, from: Math.floor(time) });
    async search({ words, min, peer, first, rows, waits }) {
      const buffer = await tare.data.bytes("search", { words: words.join(" "), min: Math.ceil(min), peer, first, rows, waits: Number(waits) });
      if (buffer === null) return { count: 0, found: null };
      const [count, kept] = new Uint32Array(buffer, 0, 2);
      return { count, found: columnsOf(buffer, 8, kept, waits ? WAITS : CALLS) };
    }
    leftOut() {
      return "";
    }
  }

  tare.timelineData = { Served, open: () => tare.timelineData[tare.data.isServed ? "Served" : "Embedded"].open(), binsOf, CALLS, MESSAGES, WAITS, PATH, ACTIVITIES, FLUSH, OWN, NO_FUNCTION };
})();
