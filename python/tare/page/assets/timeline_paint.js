// Draws what a timeline shows onto a canvas: bins as stacked shares, calls as bars with the part that waits, messages and the
// critical path as lines.
(() => {
  "use strict";
  const { ACTIVITIES, FLUSH, OWN } = tare.timelineData;

  // Colours from below in a column of bins.
  const STACK = ["waiting", ...ACTIVITIES.filter((name) => name !== "waiting")].map((name) => [name, ACTIVITIES.indexOf(name)]);
  // The part of the height of a call that shows how long it waits.
  const WAITING = 0.45;

  const known = new Map();
  function bytesOf(name) {
    const text = tare.color(name);
    if (!known.has(text)) {
      const canvas = new OffscreenCanvas(1, 1).getContext("2d");
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      known.set(text, canvas.getImageData(0, 0, 1, 1).data);
    }
    return known.get(text);
  }
  const rgba = (name) => new Uint32Array(bytesOf(name).buffer)[0];
  // Black or white, whichever has more contrast to a colour (WCAG: 4.5 or more with one of them).
  function textOn(name) {
    const linear = [...bytesOf(name)].slice(0, 3).map((byte) => (byte <= 10 ? byte / 3294.6 : ((byte / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000000" : "#ffffff";
  }

  // A column of pixels of each bin: shares stacked from below, the time outside of calls on top, while the process lives.
  function bins(context, of, place, hidden) {
    const { rows, columns, shares } = of;
    const { width, rowHeight, gap, lives } = place;
    const colors = STACK.map(([name]) => rgba(name));
    const ground = rgba("computing"), surface = rgba("surface");
    const image = context.createImageData(width, Math.max(1, rows * rowHeight));
    const pixels = new Uint32Array(image.data.buffer).fill(surface);
    const height = rowHeight - gap;
    const tops = new Int32Array(STACK.length);
    for (let row = 0; row < rows; ++row) {
      const [begin, end] = lives(row);
      for (let x = 0; x < width; ++x) {
        const cell = row * columns + Math.floor((x * columns) / width);
        let sum = 0;
        for (let i = 0; i < STACK.length; ++i) {
          if (!hidden.has(STACK[i][0])) sum += shares[STACK[i][1]][cell];
          tops[i] = height - Math.min(height, Math.round((sum * height) / 255));
        }
        let y = height - 1;
        const top = row * rowHeight;
        for (let i = 0; i < STACK.length; ++i) for (; y >= tops[i]; --y) pixels[(top + y) * width + x] = colors[i];
        if (x >= begin && x < end) for (; y >= 0; --y) pixels[(top + y) * width + x] = ground;
      }
    }
    context.putImageData(image, 0, 0);
  }

  function ground(context, rows, { rowHeight, gap, lives }, fill) {
    context.fillStyle = fill;
    for (let row = 0; row < rows; ++row) {
      const [begin, end] = lives(row);
      context.fillRect(begin, row * rowHeight, end - begin, rowHeight - gap);
    }
  }

  function calls(context, of, view, { width, rowHeight, gap }, hidden, classOf) {
    const colors = Object.fromEntries(ACTIVITIES.map((name) => [name, tare.color(name)]));
    const perNs = width / (view.to - view.from);
    const height = rowHeight - gap;
    for (let i = 0; i < of.count; ++i) {
      const kind = classOf(of.function[i]);
      if (hidden.has(kind)) continue;
      const left = (of.start[i] - view.from) * perNs;
      const exact = of.duration[i] * perNs;
      const wide = Math.max(1, exact > 4 ? exact - 1 : exact);
      const y = (of.row[i] - view.first) * rowHeight;
      context.fillStyle = colors[kind];
      const x = Math.max(left, -2), right = Math.min(left + wide, width + 2);
      const isFlush = of.function[i] === FLUSH;
      context.fillRect(x, isFlush ? y + height * 0.7 : y, Math.max(1, right - x), isFlush ? height * 0.3 : height);
    }
  }

  // Names of calls, above the part that shows waits.
  function names(context, of, view, { width, rowHeight, gap, scale }, hidden, about, classOf) {
    const perNs = width / (view.to - view.from);
    const above = (rowHeight - gap) * (1 - WAITING);
    if (above < 9 * scale) return;
    context.font = `${Math.round(Math.min(11 * scale, above))}px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = "middle";
    for (let i = 0; i < of.count; ++i) {
      if (OWN.has(of.function[i]) || hidden.has(classOf(of.function[i]))) continue;
      const x = Math.max((of.start[i] - view.from) * perNs, 0);
      const room = Math.min((of.start[i] + of.duration[i] - view.from) * perNs, width) - x - 8 * scale;
      const text = about.functions[of.function[i]];
      if (room < 56 * scale || context.measureText(text).width > room) continue;
      context.fillStyle = textOn(classOf(of.function[i]));
      context.fillText(text, x + 4 * scale, (of.row[i] - view.first) * rowHeight + above / 2);
    }
  }

  // The lower part of a call is hatched as long as it waits.
  function waits(context, of, view, { width, rowHeight, gap, scale }) {
    const perNs = width / (view.to - view.from);
    const tile = new OffscreenCanvas(6 * scale, 6 * scale);
    const on = tile.getContext("2d");
    on.fillStyle = tare.color("waiting");
    on.fillRect(0, 0, 6 * scale, 6 * scale);
    on.strokeStyle = tare.color("surface");
    on.globalAlpha = 0.5;
    on.lineWidth = scale;
    for (const at of [-6, 0, 6]) {
      on.moveTo(at * scale, 6 * scale);
      on.lineTo((at + 6) * scale, 0);
    }
    on.stroke();
    context.fillStyle = context.createPattern(tile, "repeat");
    const height = (rowHeight - gap) * WAITING;
    for (let i = 0; i < of.count; ++i) {
      const left = Math.max((of.start[i] - view.from) * perNs, -2), right = Math.min((of.start[i] + of.duration[i] - view.from) * perNs, width + 2);
      context.fillRect(left, (of.row[i] - view.first + 1) * rowHeight - gap - height, Math.max(1, right - left), height);
    }
  }

  // The critical path: along the foot of its rows, and from row to row where it goes on elsewhere.
  function path(context, of, view, { width, rowHeight, gap, scale }, group) {
    const perNs = width / (view.to - view.from);
    const order = Array.from(of.start.keys()).sort((a, b) => of.start[a] - of.start[b]);
    context.beginPath();
    let before = null;
    for (const i of order) {
      const y = (Math.floor((of.row[i] - view.first) / group) + 1) * rowHeight - gap - 2 * scale;
      const [left, right] = [of.start[i], of.start[i] + of.duration[i]].map((at) => Math.min(Math.max((at - view.from) * perNs, -9), width + 9));
      if (before !== null && Math.abs(left - before) < 2 * scale) context.lineTo(left, y);
      else context.moveTo(left, y);
      context.lineTo(Math.max(right, left + scale), y);
      before = right;
    }
    for (const [color, wide] of [["surface", 5], ["text", 2.5]]) {
      context.strokeStyle = tare.color(color);
      context.lineWidth = wide * scale;
      context.stroke();
    }
  }

  function lines(context, of, view, { width, rowHeight, gap, scale }) {
    const perNs = width / (view.to - view.from);
    const middle = (row) => (row - view.first + 0.5) * rowHeight - gap / 2;
    context.strokeStyle = tare.color("text");
    context.lineWidth = scale;
    context.globalAlpha = of.count > 300 ? 0.35 : 0.75;
    context.beginPath();
    for (let i = 0; i < of.count; ++i) {
      context.moveTo((of.sent[i] - view.from) * perNs, middle(of.from[i]));
      context.lineTo((of.sent[i] + of.duration[i] - view.from) * perNs, middle(of.to[i]));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  // Round steps of time, so that labels do not touch.
  function ticks(from, to, most) {
    const rough = (to - from) / most;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((of) => of * power).find((of) => of >= rough);
    const found = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
    return { step, found };
  }
  function timeText(ns, step) {
    const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9)));
    return `${(ns / 1e9).toFixed(digits)} s`;
  }

  tare.timelinePaint = { bins, ground, calls, names, waits, path, lines, ticks, timeText, textOn };
})();
