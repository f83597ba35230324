// Numbers as `tare` prints them (units.py), and pieces of the page; all text by textContent.
const tare = {};
(() => {
  "use strict";
  const NOTHING = "-";
  // As Python rounds: what lies in the middle between two numbers goes to the even one.
  function fixed(value, digits) {
    const scaled = value * 10 ** digits;
    const isInTheMiddle = Number.isInteger(value * 2 ** (digits + 1)) && Math.abs(scaled % 1) === 0.5;
    return (isInTheMiddle ? (2 * Math.round(scaled / 2)) / 10 ** digits : value).toFixed(digits);
  }
  const three = (value) => fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);

  function duration(ns) {
    if (ns === null || ns === undefined) return NOTHING;
    if (ns >= 100e9) return `${Number(fixed(ns / 1e9, 0)).toLocaleString("en-US")} s`;
    for (const [scale, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) if (ns >= scale) return `${three(ns / scale)} ${unit}`;
    return `${fixed(ns, 0)} ns`;
  }
  function size(bytes) {
    if (bytes === null || bytes === undefined) return NOTHING;
    for (const [power, unit] of [[4, "TiB"], [3, "GiB"], [2, "MiB"], [1, "KiB"]]) {
      if (bytes >= 1024 ** power) return `${three(bytes / 1024 ** power)} ${unit}`;
    }
    return `${fixed(bytes, 0)} B`;
  }
  const whole = (bytes) => size(bytes).replace(/\.0+(?= )/, "").replace(/(\.\d)0(?= )/, "$1");
  const sizeRange = (from, to) => (to - from <= 1 ? `${from} B` : `${whole(from)} – ${whole(to)}`);
  const grouped = (number) => (number === null || number === undefined ? NOTHING : Math.round(number).toLocaleString("en-US"));
  // The noun that goes with a number, and both: "1 call", "1,234 calls".
  const noun = (number, one, many = `${one}s`) => (number === 1 ? one : many);
  const numberOf = (number, one, many) => `${grouped(number)} ${noun(number, one, many)}`;
  // What a person writes: a number with a unit, by default seconds.
  const NS = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };
  const nsOf = (number, unit = "s") => Number(number) * NS[unit.toLowerCase()];
  const rank = (number) => (number === null || number === undefined || number < 0 ? NOTHING : String(number));
  // A time of calls, as estimated as `tare profile` says by "~".
  const time = ({ time_ns: ns, estimated_calls: estimated }) => (ns !== null && estimated ? `~${duration(ns)}` : duration(ns));
  const percent = (share) => (share === null || share === undefined ? NOTHING : `${fixed(100 * share, 1)} %`);
  const percent2 = (share) => `${fixed(100 * share, 2)} %`;

  // An element: attributes, then children, of which texts become text.
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (name === "width") made.style.width = value;
      else if (name === "color") made.style.background = value;
      else made.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
    return made;
  }
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  // A word beside numbers, with what it means where that is defined.
  const word = (text) => element("span", { title: tare.words[text] ?? null }, text);
  const swatch = (name) => element("span", { class: "swatch", color: `var(--${name})`, "aria-hidden": "true" });

  // Classes of functions, and what else has a colour in a timeline.
  tare.titles = { send: "Send", receive: "Receive", exchange: "Send and receive", wait: "Wait for requests", collective: "Collective", "one-sided": "One-sided", file: "File", openmp: "OpenMP", other: "Other MPI", tare: "Flush of tare", waiting: "Waiting for a rank", untraced: "Not traced" };
  tare.format = { NOTHING, duration, size, sizeRange, grouped, nsOf, noun, numberOf, percent, percent2, rank, time };
  tare.element = element;
  tare.color = color;
  tare.swatch = swatch;
  // The column that names whose a row is.
  tare.whose = (overview) => (overview.uses_mpi ? { title: "Rank", field: "rank", kind: "rank", minWidth: 70 } : { title: "Process", field: "pid", kind: "rank", minWidth: 70 });
  // What a section has to say of the worlds that it leaves out.
  tare.ofWorld = ({ overview }, world) => (overview.worlds > 1 ? ` This is of world ${world} alone.` : "");
  tare.aloneOf = (of, world) => tare.ofWorld(of, world) && element("p", { class: "hint" }, tare.ofWorld(of, world));
  tare.word = word;
})();
