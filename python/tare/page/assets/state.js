// What the page shows, in the fragment of its address, so that a link shows the same: #section?key=value&...
(() => {
  "use strict";
  const heard = [];
  function parse() {
    const [section, query] = location.hash.slice(1).split("?", 2);
    return { section: section || "", values: new URLSearchParams(query || "") };
  }
  let current = parse();
  function write() {
    const query = current.values.toString();
    history.replaceState(null, "", `#${current.section}${query ? `?${query}` : ""}`);
  }
  tare.state = {
    get: (key) => current.values.get(key),
    set(key, value) {
      if (value === null || value === undefined || value === "") current.values.delete(key);
      else current.values.set(key, value);
      write();
    },
    section: () => current.section,
    setSection(section) {
      if (section === current.section) return;
      current.section = section;
      write();
    },
    onChange: (listener) => heard.push(listener),
  };
  addEventListener("hashchange", () => {
    const came = parse();
    // A link to a section keeps what is chosen elsewhere.
    if (![...came.values].length && [...current.values].length && !location.hash.includes("?")) {
      came.values = current.values;
    }
    current = came;
    write();
    for (const listener of heard) listener();
  });
})();
