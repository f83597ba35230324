// Goes to a time and a rank of a timeline.
(() => {
  "use strict";
  const { element, format } = tare;

  function jump(timeline) {
    const field = (label, placeholder) => element("input", { type: "text", class: "short", placeholder, "aria-label": label, title: label });
    const time = field("Time since the start of the run, in seconds, or with a unit: 12.5ms", "1.25 s");
    const rank = field("Rank", "rank");
    const said = element("span", { class: "muted", role: "status" });
    const go = () => {
      said.textContent = "";
      const { about, view, panel } = timeline;
      const found = time.value.trim().match(/^(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s)?$/i);
      const at = found ? format.nsOf(found[1], found[2]) - about.start_ns : NaN;
      const { first: row, wrong } = rank.value.trim() ? timeline.rowsOf(rank.value.trim()) : { first: panel.chosen?.row ?? view.first };
      if (time.value.trim() && !(at >= 0 && at <= about.length_ns)) said.textContent = "No such time in the trace.";
      else if (wrong) said.textContent = wrong;
      else panel.choose(row, time.value.trim() ? at : panel.chosen?.time ?? (view.from + view.to) / 2, true);
    };
    const node = element("span", { class: "group jump", role: "group", "aria-label": "Go to a time and a rank" }, time, rank, element("button", { type: "button", onclick: go }, "Go"), said);
    for (const input of [time, rank]) input.addEventListener("keydown", (event) => event.key === "Enter" && go());
    return { node, focus: () => time.focus() };
  }
  tare.timelineJump = jump;
})();
