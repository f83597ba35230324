// Puts the page together.
(() => {
  "use strict";
  const { element } = tare;
  const root = document.documentElement;
  const main = document.getElementById("main");
  const loading = document.getElementById("loading");
  const LAST = ["environment"];

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  function paint() {
    const chosen = tare.state.get("theme");
    const isDark = !root.classList.contains("paper") && (chosen ? chosen === "dark" : dark.matches);
    root.dataset.theme = isDark ? "dark" : "light";
    button.textContent = isDark ? "Light" : "Dark";
    tare.redrawCharts();
    tare.repaint?.();
  }
  button.addEventListener("click", () => {
    tare.state.set("theme", root.dataset.theme === "dark" ? "light" : "dark");
    paint();
  });
  dark.addEventListener("change", paint);
  paint();

  // On paper: light colours, and the width of a page. Observers of sizes run too late for printing.
  function fit(isPaper) {
    root.classList.toggle("paper", isPaper);
    tare.fitTables(isPaper);
    tare.fitCharts();
    paint();
  }
  addEventListener("beforeprint", () => {
    tare.drawCharts();
    fit(true);
  });
  addEventListener("afterprint", () => fit(false));

  // Other times are other data: the page begins anew, with all else that is chosen.
  const { times, allTimes, wantedTimes } = tare.data;
  const choice = document.getElementById("times");
  for (const each of allTimes) choice.append(element("option", { value: each }, each));
  choice.value = times;
  document.getElementById("times-choice").hidden = allTimes.length < 2;
  choice.addEventListener("change", () => {
    tare.state.set("times", choice.value === allTimes[0] ? null : choice.value);
    location.reload();
  });

  function follow(links) {
    const seen = new Map();
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) seen.set(entry.target.id, entry.isIntersecting);
      const here = tare.sections.find((section) => seen.get(section.id));
      if (!here) return;
      for (const [id, link] of links) {
        link.classList.toggle("here", id === here.id);
        if (id === here.id) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    }, { rootMargin: "-8% 0px -70% 0px" });
    for (const section of tare.sections) observer.observe(document.getElementById(section.id));
  }
  function go() {
    const at = tare.state.section() && document.getElementById(tare.state.section());
    if (at) at.scrollIntoView();
  }

  async function start() {
    const content = await tare.data.json("content");
    loading.remove();
    tare.words = content.words ?? {};
    const order = (section) => (LAST.includes(section.id) ? 1 : 0);
    tare.sections.sort((a, b) => order(a) - order(b));
    if (tare.sectionsOf) tare.sections = tare.sectionsOf(content);
    const links = new Map();
    tare.sections = tare.sections.filter((section) => !section.wanted || section.wanted(content));
    for (const { id, title, draw } of tare.sections) {
      const section = element("section", { id, class: id === "overview" ? "first" : null, "aria-label": title });
      main.append(section);
      const link = element("a", { href: `#${id}` }, title);
      links.set(id, link);
      document.getElementById("sections").append(element("li", {}, link));
      await draw(section, content);
    }
    follow(links);
    go();
    tare.state.onChange(() => {
      if (wantedTimes() !== times) location.reload();
      paint();
      go();
    });
    root.dataset.ready = "1";
  }
  start().catch((error) => {
    loading.textContent = `This page cannot be shown: ${error.message}`;
    if (!loading.isConnected) main.prepend(loading);
    root.dataset.failed = "1";
    console.error(error.stack);
  });
})();
