"""The proxy as a process of its own, with an eye on it: what it holds, what its log says, what it costs."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from caller import Caller  # beside this script
from proxying import free, reachable

HERE = Path(__file__).parent
STARTED = 30.0  # seconds a server may take until it answers
HELD = ("requests_under_way", "attempts_under_way", "slots_taken", "slots_waiting", "decision_log_waiting")
LOOKS = 40  # at the metrics of workers, of which any one may answer
_SAMPLE = re.compile(r"^(faultwise_\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)
_TROUBLE = re.compile(r"Traceback|failed here|never retrieved|was destroyed but|could not be taken in")


class House:
    """A running server and its upstreams."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free()
        self.log = folder / "serve.log"
        self._server: subprocess.Popen[bytes] | None = None
        self._origins: dict[int, subprocess.Popen[bytes]] = {}

    def origin(self, port: int | None = None) -> int:
        """Start an upstream."""
        port = port or free()
        self._origins[port] = subprocess.Popen([sys.executable, str(HERE / "origin.py"), str(port)])
        reachable(port)
        return port

    def lose(self, port: int) -> None:
        """Kill an upstream."""
        gone = self._origins.pop(port)
        gone.kill()
        gone.wait()

    def serve(self, file: Path, workers: int, environ: Mapping[str, str] | None = None) -> None:
        """Start the server and wait until each of its workers answers."""
        command = [
            sys.executable,
            "-m",
            "faultwise.server.cli",
            "serve",
            "--config",
            str(file),
            "--port",
            str(self.port),
        ]
        with open(self.log, "ab") as log:
            self._server = subprocess.Popen(
                [*command, "--workers", str(workers)], stderr=log, stdout=log, env={**os.environ, **(environ or {})}
            )
        try:
            reachable(self.port)
        except TimeoutError:
            raise SystemExit(self.log.read_text(encoding="utf-8")[-2000:]) from None
        until = time.monotonic() + STARTED
        while self.said("serving pid=") < workers and time.monotonic() < until:
            time.sleep(0.1)

    @property
    def pid(self) -> int:
        assert self._server is not None, "started"
        return self._server.pid

    @property
    def workers(self) -> list[int]:
        """The processes that serve."""
        below = [pid for pid in _below(self.pid) if b"spawn_main" in _command(pid)]
        return below or [self.pid]

    def signal(self, pid: int, sig: signal.Signals) -> None:
        os.kill(pid, sig)

    def memory(self) -> float:
        """MiB of memory of all processes that serve."""
        return sum(map(_resident, self.workers)) / 1024

    def files(self) -> int:
        """Open files of all processes that serve."""
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.workers)

    def processor(self) -> float:
        """Seconds of processor time of all processes that serve now."""
        return sum(map(_busy, self.workers))

    def troubles(self) -> list[str]:
        """Lines of the log that speak of a fault of ours."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return [line[:300] for line in text.splitlines() if _TROUBLE.search(line)]

    def said(self, words: str) -> int:
        """How many lines of the log hold these words."""
        return self.log.read_text(encoding="utf-8", errors="replace").count(words)

    async def post(self, path: str, body: object) -> object:
        """What the server's own interface answers."""
        caller = Caller(self.port)
        await caller.send("", False, path, json.dumps(body).encode())
        heard = await caller.head()
        heard.body = b"".join([one async for one in caller.pieces(heard)])
        caller.close()
        return json.loads(heard.body)

    async def metrics(self) -> dict[str, float]:
        """Sums over all labels, of whichever worker answers."""
        found: dict[str, float] = {}
        for name, value in _SAMPLE.findall((await Caller(self.port).get("/metrics")).body.decode()):
            found[name] = found.get(name, 0.0) + float(value)
        return found

    async def held(self, patience: float = 10.0) -> dict[str, float]:
        """What is still held when nobody asks for anything any more; empty where nothing is."""
        until = asyncio.get_running_loop().time() + patience
        while True:
            worst: dict[str, float] = {}
            for _ in range(LOOKS if len(self.workers) > 1 else 1):
                found = await self.metrics()
                for name in HELD:
                    value = found[f"faultwise_{name}"]
                    if value:
                        worst[name] = max(worst.get(name, 0.0), value)
            if not worst or asyncio.get_running_loop().time() > until:
                return worst
            await asyncio.sleep(0.25)

    async def asked(self, port: int) -> dict[str, object]:
        """What an upstream saw, and what it still answers."""
        found: dict[str, object] = json.loads((await Caller(port).get("/")).body)
        return found

    def close(self) -> int | None:
        """End everything; the server's exit code."""
        code = None
        if self._server is not None:
            self._server.terminate()
            try:
                code = self._server.wait(40)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
        for origin in self._origins.values():
            origin.kill()
            origin.wait()
        return code


def told(what: str, figures: dict[str, object], file: Path, wrong: Sequence[str]) -> int:
    """Print the figures, keep them in a file; 1 where anything is wrong."""
    for name, value in figures.items():
        print(f"{name:<34} {value}")
    for one in wrong:
        print(f"WRONG: {one}", file=sys.stderr)
    file.write_text(
        json.dumps({**figures, "wrong": list(wrong)}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(f"{what}: {'wrong' if wrong else 'fine'}, figures in {file}")
    return 1 if wrong else 0


def _below(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [int(child) for child in children]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _resident(pid: int) -> float:
    """KiB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0.0)


def _busy(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
