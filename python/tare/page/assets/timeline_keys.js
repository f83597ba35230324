// The keyboard in a timeline, and the help on it.
(() => {
  "use strict";
  const { element } = tare;

  // Keys, what they do, and how it is said. Keys of the canvas alone are those that buttons and lists need as well.
  const keys = (timeline) => [
    [["ArrowLeft", "ArrowRight"], (key) => timeline.pan(key === "ArrowLeft" ? -0.2 : 0.2), "← →", "Earlier, later", true],
    [["+", "=", "ArrowUp"], () => timeline.zoom(0.5), "+ ↑", "Zoom in", true],
    [["-", "ArrowDown"], () => timeline.zoom(2), "− ↓", "Zoom out", true],
    [["Home"], () => timeline.go(timeline.whole()), "Home", "The whole run", true],
    [["PageUp", "PageDown"], (key) => timeline.scroll(key === "PageUp" ? -1 : 1), "Page Up, Page Down", "Other rows", true],
    [[",", "."], (key) => timeline.panel.step(key === "," ? -1 : 1), ", .", "Choose the call before, the next call"],
    [["k", "j"], (key) => timeline.panel.move(key === "k" ? -1 : 1), "k j", "Choose in the row above, below"],
    [["Enter"], () => (timeline.panel.chosen ? timeline.panel.zoom() : timeline.panel.step(0)), "Enter", "Zoom to what is chosen", true],
    [["Escape"], () => (timeline.panel.chosen ? timeline.panel.close() : timeline.go(timeline.whole())), "Escape", "Close what is chosen; else the whole run"],
    [["/"], () => timeline.find.input.focus(), "/", "Search"],
    [["n", "N"], (key) => timeline.find.next(key === "N" ? -1 : 1), "n N", "The next one that was found, the one before"],
    [["w"], () => timeline.find.search("waits"), "w", "The longest waits"],
    [["g"], () => timeline.jump.focus(), "g", "Go to a time and a rank"],
    [["c"], () => timeline.toggle("path"), "c", "Critical path on or off"],
    [["m"], () => timeline.toggle("messages"), "m", "Messages on or off"],
  ];

  function listen(timeline) {
    const all = keys(timeline);
    timeline.node.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("dialog")) return;
      if (event.target.matches("input")) {
        if (event.key !== "Escape") return;
        event.preventDefault(); // or the field would be emptied
        timeline.canvas.focus();
        return;
      }
      const found = all.find(([names, , , , ofCanvas]) => names.includes(event.key) && (!ofCanvas || event.target === timeline.canvas));
      if (!found) return;
      event.preventDefault();
      found[1](event.key);
    });
  }

  function help(timeline) {
    const row = (shown, said) => element("tr", {}, element("th", { scope: "row" }, shown), element("td", {}, said));
    const dialog = element("dialog", { class: "panel keys", "aria-label": "Keys" },
      element("h3", {}, "Keys of the timeline"),
      element("p", { class: "lead" }, "While the timeline is in focus (Tab reaches it)."),
      element("table", {}, element("tbody", {}, keys(timeline).map(([, , shown, said]) => row(shown, said)))),
      element("h3", {}, "Keys of the page"),
      element("table", {}, element("tbody", {}, row("?", "This help"), row("Tab", "The next heading, row, button or field"), row("Enter", "Sort by a heading; choose a row; press a button"))),
      element("p", {}, element("button", { type: "button", onclick: () => dialog.close() }, "Close")));
    document.body.append(dialog);
    const open = () => dialog.open || dialog.showModal();
    document.addEventListener("keydown", (event) => {
      if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
      event.preventDefault();
      open();
    });
    return open;
  }
  tare.timelineKeys = { listen, help };
})();
