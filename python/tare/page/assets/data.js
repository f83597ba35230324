// Where data come from: blocks in the page itself, or the server that the page came from. They are there in one or more
// times (recorded, corrected, compensated), of which the page shows one: those that the address names, or the first.
(() => {
  "use strict";
  const { source, times: offered } = document.documentElement.dataset;
  const isServed = source === "served";
  const allTimes = offered.split(" ");
  const wantedTimes = () => (allTimes.includes(tare.state.get("times")) ? tare.state.get("times") : allTimes[0]);
  const times = wantedTimes();

  function bytesOf(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
    return bytes;
  }
  async function embedded(name) {
    const block = document.getElementById(`data-${times}-${name}`);
    if (block === null) return null;
    const stream = new DecompressionStream("deflate");
    const writer = stream.writable.getWriter();
    const failed = Promise.all([writer.write(bytesOf(block.textContent)), writer.close()]);
    block.remove(); // its memory is needed no more
    const [found] = await Promise.all([new Response(stream.readable).arrayBuffer(), failed]);
    return found;
  }
  async function fetched(name, query = {}) {
    const asked = new URLSearchParams(query).toString();
    const answer = await fetch(`data/${times}/${name}${asked ? `?${asked}` : ""}`);
    if (answer.status === 204) return null; // this run has none
    if (!answer.ok) throw new Error((await answer.text()) || `the server answered ${answer.status}`);
    return answer.arrayBuffer();
  }
  const bytes = isServed ? fetched : embedded;
  tare.data = {
    isServed,
    bytes,
    times,
    allTimes,
    wantedTimes,
    async json(name, query) {
      const found = await bytes(name, query);
      return found === null ? null : JSON.parse(new TextDecoder().decode(found));
    },
  };
})();
