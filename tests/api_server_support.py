"""A fake API server of Kubernetes on loopback, with a clock of its own that moves when somebody waits."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from carbonopt.planning.controller.kubernetes import merged
from carbonopt.planning.controller.targets import TARGETS, Target

START = datetime(2026, 11, 24, 21, tzinfo=UTC)
Object = dict[str, Any]
Mischief = Callable[[int, str], Any]
"""What to do instead of an answer, of the number and method of a request: a status, a tuple of a status and a
Retry-After, ``"lose"`` to drop the connection, ``"lose answer"`` to do so after the work was done, None to answer."""


class ApiServer:
    """Keeps objects; records each patch that it takes and each start that comes of one."""

    def __init__(self, to: str, objects: list[Object]) -> None:
        self.target: Target = TARGETS[to]
        self.moment = START
        self.objects: dict[str, Object] = {}
        self.patches: list[tuple[str, Object]] = []
        self.starts: list[tuple[str, datetime]] = []
        self.waits: list[float] = []
        self.requests: list[str] = []
        self.mischief: Mischief = lambda _count, _method: None
        self._running: list[tuple[str, str, datetime]] = []
        self._lock = Lock()
        for one in objects:
            self.add(one)

    def add(self, one: Object) -> None:
        """Create an object."""
        found = copy.deepcopy(one)
        meta = found["metadata"]
        meta.setdefault("namespace", "default")
        meta |= {"resourceVersion": "1", "uid": f"uid-{len(self.objects)}-{meta['name']}"}
        self.objects[f"{meta['namespace']}/{meta['name']}"] = found

    @property
    def left(self) -> int:
        """Number of objects that were not started."""
        return sum(self.target.is_held(one) for one in self.objects.values())

    # Clock of the controller, where both are in one process.
    def now(self) -> datetime:
        return self.moment

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.moment += timedelta(seconds=seconds)

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Return status and content."""
        where, _, query = path.partition("?")
        parts = where.strip("/").split("/")
        if parts[0] == "clock":
            if method == "POST":
                self.sleep(body["seconds"])
            return 200, {"now": self.moment.isoformat(), "left": self.left}
        self._end_jobs()
        kind = [self.target.group, self.target.version]
        if parts[1:3] != kind:
            return 404, {"message": "no such resource"}
        if len(parts) == 4:
            return 200, self._page(query)
        name = f"{parts[4]}/{parts[6]}"
        if name not in self.objects:
            return 404, {"message": f"{name} not found"}
        return (200, self.objects[name]) if method == "GET" else self._patched(name, body)

    def _end_jobs(self) -> None:
        """Let jobs end an hour after their start."""
        for name, uid, moment in self._running:
            same = self.objects.get(name, {}).get("metadata", {}).get("uid") == uid
            if same and moment + timedelta(hours=1) <= self.moment:
                done = {"conditions": [{"type": "Complete", "status": "True"}], "phase": "Succeeded"}
                place = self.objects[name]["spec"] if self.target.version == "v1beta1" else self.objects[name]
                place["dispatcherStatus" if self.target.version == "v1beta1" else "status"] = done

    def _page(self, query: str) -> Object:
        """Return two objects at a time."""
        first = next((int(word.split("=")[1]) for word in query.split("&") if word.startswith("continue=")), 0)
        rows = list(self.objects.values())
        more = {"continue": str(first + 2)} if first + 2 < len(rows) else {}
        return {"items": rows[first : first + 2], "metadata": more}

    def _patched(self, name: str, body: Object) -> tuple[int, Object]:
        before = self.objects[name]
        if body["metadata"].pop("resourceVersion") != before["metadata"]["resourceVersion"]:
            return 409, {"message": "the object has been modified"}
        after = merged(before, body)
        after["metadata"]["resourceVersion"] = str(int(before["metadata"]["resourceVersion"]) + 1)
        self.patches.append((name, body))
        if self.target.is_held(before) and not self.target.is_held(after):
            self.starts.append((name, self.moment))
            self._running.append((name, after["metadata"]["uid"], self.moment))
        self.objects[name] = after
        return 200, after

    def handler(self) -> type[BaseHTTPRequestHandler]:
        """Return what serves requests."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                with server._lock:
                    self._serve(body)

            do_PATCH = do_POST = do_GET  # noqa: N815

            def _serve(self, body: Any) -> None:
                trick = None
                if not self.path.startswith("/clock"):
                    server.requests.append(self.command)
                    trick = server.mischief(len(server.requests), self.command)
                if trick == "lose":
                    self.close_connection = True
                    return
                if isinstance(trick, (int, tuple)):
                    status, wait = trick if isinstance(trick, tuple) else (trick, None)
                    self._send(status, {"message": "not now"}, {} if wait is None else {"Retry-After": str(wait)})
                    return
                status, content = server.answer(self.command, self.path, body)
                if trick == "lose answer":
                    self.close_connection = True
                    return
                self._send(status, content, {})

            def _send(self, status: int, content: Any, headers: dict[str, str]) -> None:
                text = json.dumps(content).encode()
                self.send_response(status)
                for key, value in {"Content-Type": "application/json", "Content-Length": len(text), **headers}.items():
                    self.send_header(key, str(value))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@contextmanager
def serving(server: ApiServer, folder: Path) -> Iterator[Path]:
    """Serve on loopback; yield a kubeconfig that leads there."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), server.handler())
    http.daemon_threads = True
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    address = f"http://127.0.0.1:{http.server_address[1]}"
    config = folder / "kubeconfig"
    names = {"clusters": [{"name": "c", "cluster": {"server": address}}], "users": [{"name": "u", "user": {}}]}
    contexts = [{"name": "x", "context": {"cluster": "c", "user": "u"}}]
    content = {"apiVersion": "v1", "kind": "Config", "current-context": "x", "contexts": contexts, **names}
    config.write_text(json.dumps(content))
    try:
        yield config
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def job(name: str, hours: float = 1.0, cpus: int = 1, **metadata: Any) -> Object:
    """Return a Job of batch/v1 that waits."""
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpus}}}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    spec = {"suspend": True, "activeDeadlineSeconds": int(3600 * hours), "template": template}
    meta = {"name": name, "namespace": "data", **metadata}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}
