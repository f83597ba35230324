// Charts: ECharts, in the page's colours, drawn when they come into view.
(() => {
  "use strict";
  const { color, element } = tare;
  const drawn = [];

  // As rich text: no HTML is made of names.
  const tooltip = () => ({
    renderMode: "richText",
    confine: true,
    backgroundColor: color("surface"),
    borderColor: color("line"),
    textStyle: { color: color("text"), fontSize: 13 },
  });
  function base() {
    return {
      animation: false,
      aria: { enabled: true },
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: color("text") },
      grid: { left: 8, right: 16, top: 28, bottom: 8, containLabel: true },
      tooltip: tooltip(),
    };
  }
  const axis = (more = {}) => ({
    axisLine: { lineStyle: { color: color("line") } },
    axisTick: { show: false },
    axisLabel: { color: color("muted"), ...(more.axisLabel ?? {}) },
    splitLine: { lineStyle: { color: color("line"), opacity: 0.7 } },
    nameTextStyle: { color: color("muted"), align: "left" },
    ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== "axisLabel")),
  });

  // `options()` is asked again when colours change.
  function chart(into, label, options, { size = "", onClick } = {}) {
    const holder = element("div", { class: `chart ${size}`, role: "img", "aria-label": label });
    into.append(holder);
    const of = { made: null };
    of.draw = () => {
      if (of.made === null) {
        of.made = echarts.init(holder, null, { renderer: "canvas" });
        new ResizeObserver(() => of.made.resize()).observe(holder);
        if (onClick) of.made.on("click", onClick);
      }
      of.made.setOption({ ...base(), ...options() }, true);
      holder.dataset.ready = "1";
    };
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      of.draw();
    }, { rootMargin: "300px" });
    seen.observe(holder);
    drawn.push(of);
    return { holder, redraw: () => of.made && of.draw(), chart: () => of.made };
  }
  const redraw = () => drawn.forEach((of) => of.made && of.draw());
  tare.chart = chart;
  tare.axis = axis;
  tare.tooltip = tooltip;
  tare.redrawCharts = redraw;
  tare.drawCharts = () => drawn.forEach((of) => of.draw()); // also those that have not come into view
  tare.fitCharts = () => drawn.forEach((of) => of.made?.resize());
})();
