// No text becomes markup: the libraries below write HTML at many places (titles, tooltips, menus, messages), and what they
// write there may be a name that came with the data. An element takes as HTML only what stands here, which is what the
// libraries themselves make; all else is text. Browsers that know Trusted Types hold every other way to the same (document.py).
(() => {
  "use strict";
  const KNOWN = new Set(["", "&nbsp;", "<div class='tabulator-arrow'></div>"]);
  const asMarkup = window.trustedTypes?.createPolicy("tare", { createHTML: (text) => (KNOWN.has(text) ? text : "") }) ?? { createHTML: (text) => text };

  const { set: take, ...innerHTML } = Object.getOwnPropertyDescriptor(Element.prototype, "innerHTML");
  Object.defineProperty(Element.prototype, "innerHTML", {
    ...innerHTML,
    set(given) {
      const text = String(given ?? "");
      if (KNOWN.has(text)) take.call(this, asMarkup.createHTML(text));
      else this.textContent = text;
    },
  });
})();
