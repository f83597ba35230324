// Draws what a timeline shows onto a canvas: bins as stacked shares, calls as bars, messages as lines.
(() => {
  "use strict";
  const { ACTIVITIES, FLUSH, NO_FUNCTION } = tare.timelineData;
  const { format } = tare;

  const packed = new Map();
  function rgba(name) {
    const text = tare.color(name);
    if (!packed.has(text)) {
      const canvas = new OffscreenCanvas(1, 1).getContext("2d");
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      packed.set(text, new Uint32Array(canvas.getImageData(0, 0, 1, 1).data.buffer)[0]);
    }
    return packed.get(text);
  }

  // A column of pixels of each bin: shares stacked from below, the time outside of calls on top.
  function bins(context, of, place, hidden) {
    const { rows, columns, shares } = of;
    const { width, rowHeight, gap } = place;
    const colors = ACTIVITIES.map(rgba);
    const ground = rgba("computing"), surface = rgba("surface");
    const image = context.createImageData(width, Math.max(1, rows * rowHeight));
    const pixels = new Uint32Array(image.data.buffer).fill(surface);
    const height = rowHeight - gap;
    const tops = new Int32Array(ACTIVITIES.length);
    for (let row = 0; row < rows; ++row) {
      for (let x = 0; x < width; ++x) {
        const cell = row * columns + Math.floor((x * columns) / width);
        let sum = 0;
        for (let i = 0; i < ACTIVITIES.length; ++i) {
          if (!hidden.has(ACTIVITIES[i])) sum += shares[i][cell];
          tops[i] = height - Math.min(height, Math.round((sum * height) / 255));
        }
        let y = height - 1;
        const top = row * rowHeight;
        for (let i = 0; i < ACTIVITIES.length; ++i) for (; y >= tops[i]; --y) pixels[(top + y) * width + x] = colors[i];
        for (; y >= 0; --y) pixels[(top + y) * width + x] = ground;
      }
    }
    context.putImageData(image, 0, 0);
  }

  function ground(context, rows, { width, rowHeight, gap }, fill) {
    context.fillStyle = fill;
    for (let row = 0; row < rows; ++row) context.fillRect(0, row * rowHeight, width, rowHeight - gap);
  }

  function calls(context, of, view, place, hidden, about, classOf) {
    const { width, rowHeight, gap, scale } = place;
    const colors = Object.fromEntries(ACTIVITIES.map((name) => [name, tare.color(name)]));
    const perNs = width / (view.to - view.from);
    const height = rowHeight - gap;
    context.font = `${Math.round(11 * scale)}px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = "middle";
    const surface = tare.color("surface");
    for (let i = 0; i < of.count; ++i) {
      const kind = of.function[i] === FLUSH ? "tare" : classOf(of.function[i]);
      if (hidden.has(kind)) continue;
      const left = (of.start[i] - view.from) * perNs;
      const exact = of.duration[i] * perNs;
      const wide = Math.max(1, exact > 4 ? exact - 1 : exact);
      const y = (of.row[i] - view.first) * rowHeight;
      context.fillStyle = colors[kind];
      const x = Math.max(left, -2), right = Math.min(left + wide, width + 2);
      const isFlush = of.function[i] === FLUSH;
      context.fillRect(x, isFlush ? y + height * 0.7 : y, Math.max(1, right - x), isFlush ? height * 0.3 : height);
      if (right - x < 64 * scale || isFlush || height < 12 * scale) continue;
      context.fillStyle = surface;
      const text = about.functions[of.function[i]];
      if (context.measureText(text).width < right - x - 8 * scale) context.fillText(text, Math.max(x, 0) + 4 * scale, y + height / 2);
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

  tare.timelinePaint = { bins, ground, calls, lines, ticks, timeText, format, NO_FUNCTION };
})();
