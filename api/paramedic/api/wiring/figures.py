"""Draws verdicts for the API, each in a process of its own: remediation must not wait for it."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from paramedic.api.rest.state import NoFigureError
from paramedic.api.wiring.service_commands import INTERPRETER, service_environment

_RING = "ring"
_KEPT = 32
_TIMEOUT_SECONDS = 60.0
_NICE = ("nice", "-n", "10")
Run = Callable[[Sequence[str], Mapping[str, str]], "subprocess.CompletedProcess[str]"]


def figures_of(run_folder: Path, environment: Mapping[str, str]) -> DrawnApart:
    """Draws from the ring of a run."""
    return DrawnApart(run_folder, environment, _run)


@dataclass(slots=True)
class DrawnApart:
    """One figure is drawn at a time, and the newest are kept."""

    run_folder: Path
    environment: Mapping[str, str]
    run: Run
    _kept: dict[tuple[bytes, str], bytes] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def draw(self, verdict: bytes, verdict_id: str, form: str) -> bytes:
        """The figure as `svg` or `png`. Raises NoFigureError."""
        if not (self.run_folder / _RING).is_dir():
            raise NoFigureError(
                "this run keeps no telemetry (recording.ring_bytes): there is nothing to draw from"
            )
        with self._lock:
            drawn = self._kept.get((verdict, form))
            if drawn is None:
                drawn = self._kept[verdict, form] = self._draw(verdict, verdict_id, form)
            while len(self._kept) > _KEPT:
                del self._kept[next(iter(self._kept))]
        return drawn

    def _draw(self, verdict: bytes, verdict_id: str, form: str) -> bytes:
        with TemporaryDirectory(prefix="paramedic-figure-") as place:
            told, figure = Path(place) / "verdict.jsonl", Path(place) / f"figure.{form}"
            told.write_bytes(verdict)
            own = ("--verdicts", str(told), "--recording", str(self.run_folder), "--figure-only")
            command = (*_NICE, *INTERPRETER, "explain", verdict_id, *own, "--figure", str(figure))
            try:
                done = self.run(command, service_environment(self.environment))
            except subprocess.TimeoutExpired as error:
                raise NoFigureError(f"it was not drawn within {error.timeout:g} s") from error
            if done.returncode != 0:
                said = done.stderr.strip().splitlines() or ["no word of why"]
                raise NoFigureError(f"it cannot be drawn: {said[-1].removeprefix('paramedic: ')}")
            return figure.read_bytes()


def _run(
    command: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIMEOUT_SECONDS,
    )
