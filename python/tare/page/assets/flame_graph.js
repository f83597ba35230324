// A flame graph: the outermost function on top, the functions that it calls below it, each as wide as its time.
(() => {
  "use strict";
  const { element } = tare;
  const NARROWEST = 0.0008; // of the width: below, nothing is drawn

  // `graph`: parent (of each node; the root's is its own), width(node), text(node), said(node) beside it for those who do
  // not see it, name(node) for searches, paint(node), and, if wanted, onZoom(node, how many frames are too narrow).
  // `onChoose(node)` hears of the node that has the focus or is pointed at.
  function flameGraph(into, graph, { label, onChoose }) {
    const children = graph.parent.map(() => []);
    for (let node = 1; node < graph.parent.length; ++node) children[graph.parent[node]].push(node);
    const holder = element("div", { class: "flames mono", role: "tree", "aria-label": label });
    into.append(holder);
    let top = 0; // zoomed to it
    let focus = 0;
    let words = "";
    let shown = new Map(); // node: its button

    const pathOf = (node) => (node === 0 ? [0] : [...pathOf(graph.parent[node]), node]);
    const byWidth = (node) => children[node].filter((child) => graph.width(child) > 0).sort((a, b) => graph.width(b) - graph.width(a));
    const fits = (node) => words !== "" && graph.name(node).toLowerCase().includes(words);

    // Where each node lies: those above the zoomed one have the whole width, others their part of it.
    function placed() {
      const found = pathOf(top).map((node, depth) => ({ node, depth, from: 0, part: 1 }));
      const all = graph.width(top);
      const below = [found[found.length - 1]];
      while (below.length && all > 0) {
        const { node, depth, from } = below.shift();
        let at = from;
        for (const child of byWidth(node)) {
          const part = graph.width(child) / all;
          if (part >= NARROWEST) {
            const place = { node: child, depth: depth + 1, from: at, part };
            found.push(place);
            below.push(place);
          }
          at += part;
        }
      }
      return found;
    }

    function draw() {
      const found = placed();
      const depths = Math.max(...found.map((place) => place.depth)) + 1;
      shown = new Map();
      // In the order of the tree, for those who read it and do not see it.
      const order = new Map();
      const visit = (node) => {
        order.set(node, order.size);
        for (const child of byWidth(node)) visit(child);
      };
      visit(0);
      const within = (node) => 1 + byWidth(node).reduce((all, child) => all + within(child), 0);
      const narrow = within(top) - (found.length - pathOf(top).length + 1);
      found.sort((a, b) => order.get(a.node) - order.get(b.node));
      for (const { node, depth, from, part } of found) {
        const made = element("div", { class: "flame", role: "treeitem", tabindex: -1, "aria-level": depth + 1, "aria-label": `${graph.text(node)}: ${graph.said(node)}`, "data-node": node }, graph.text(node));
        made.style.top = `calc(${depth} * var(--flame))`;
        made.style.left = `${100 * from}%`;
        made.style.width = `${100 * part}%`;
        const { fill, kind } = graph.paint(node);
        made.style.background = fill;
        if (kind) made.classList.add(kind);
        if (fits(node)) made.classList.add("hit");
        if (pathOf(top).includes(node) && node !== top) made.classList.add("above");
        shown.set(node, made);
      }
      holder.style.height = `calc(${depths} * var(--flame))`;
      holder.classList.toggle("searched", words !== "");
      holder.replaceChildren(...shown.values());
      if (!shown.has(focus)) focus = top;
      shown.get(focus).tabIndex = 0;
      return narrow;
    }

    function choose(node, { byKey = false } = {}) {
      if (shown.has(focus)) shown.get(focus).tabIndex = -1;
      focus = node;
      const made = shown.get(node);
      made.tabIndex = 0;
      if (byKey) made.focus();
      onChoose(node);
    }
    function zoom(node, byKey = false) {
      top = node;
      focus = node;
      const narrow = draw();
      choose(node, { byKey });
      graph.onZoom?.(top, narrow);
    }

    const nodeAt = (event) => {
      const at = event.target.closest?.(".flame");
      return at ? Number(at.dataset.node) : null;
    };
    holder.addEventListener("click", (event) => {
      const node = nodeAt(event);
      if (node !== null) zoom(node, true);
    });
    holder.addEventListener("mouseover", (event) => {
      const node = nodeAt(event);
      if (node !== null) onChoose(node);
    });
    holder.addEventListener("mouseleave", () => onChoose(focus));
    holder.addEventListener("focusin", (event) => {
      const node = nodeAt(event);
      if (node !== null && node !== focus) choose(node);
    });
    holder.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const parent = graph.parent[focus];
      const beside = byWidth(parent).filter((node) => shown.has(node));
      const next = {
        ArrowUp: () => parent,
        ArrowDown: () => byWidth(focus).find((node) => shown.has(node)),
        ArrowLeft: () => beside[beside.indexOf(focus) - 1],
        ArrowRight: () => (focus === 0 ? undefined : beside[beside.indexOf(focus) + 1]),
        Home: () => top,
      }[event.key];
      if (next) {
        const node = next();
        if (node !== undefined && shown.has(node)) choose(node, { byKey: true });
      } else if (event.key === "Enter" || event.key === " ") zoom(focus, true);
      else if (event.key === "Escape") zoom(graph.parent[top], true);
      else return;
      event.preventDefault();
    });

    return {
      // The nodes whose text has the words, without those below another such node: their times add up.
      search(text) {
        words = text.trim().toLowerCase();
        draw();
        if (words === "") return null;
        const has = graph.parent.map((_, node) => fits(node));
        const inHit = [];
        for (let node = 0; node < has.length; ++node) inHit[node] = node !== 0 && (has[graph.parent[node]] || inHit[graph.parent[node]]);
        const topmost = has.map((is, node) => (is && !inHit[node] ? node : -1)).filter((node) => node >= 0);
        return { frames: has.filter(Boolean).length, topmost };
      },
      draw,
      zoom,
      top: () => top,
    };
  }
  tare.flameGraph = flameGraph;
})();
