"""The undisturbed run to compare with: done once, then kept in the user's cache."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.demo.cache_key import ReferenceKey, digest_files, processor_model
from paramedic.api.demo.child import child_verb
from paramedic.api.demo.errors import DemoRunError
from paramedic.api.demo.losses import newest_written_step, read_curve
from paramedic.api.wiring.service_commands import setting_flags

if TYPE_CHECKING:
    from paramedic.api.demo.curve import Curve
    from paramedic.api.demo.request import DemoRequest

_LOOK_SECONDS = 0.5
_LOSSES = "losses"


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where reference runs are kept: `$XDG_CACHE_HOME/paramedic`, else `~/.cache/paramedic`."""
    base = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "paramedic"


def reference_key(request: DemoRequest, script: Path) -> ReferenceKey:
    """What this request's undisturbed run depends on."""
    import paramedic.remediation.trainer as trainer

    library = Path(trainer.__path__[0]).glob("*.py")
    return ReferenceKey(
        script=digest_files([script]),
        trainer_library=digest_files(library),
        steps=request.steps,
        ranks=request.settings.job.ranks,
        torch_version=version("torch"),
        processor=processor_model(Path("/proc/cpuinfo").read_text(encoding="utf-8")),
    )


def reference_curve(request: DemoRequest, script: Path, show: Callable[[str], None]) -> Curve:
    """The undisturbed loss curve, from the cache or from a run that is made now.

    Raises DemoRunError when that run fails.
    """
    cache = cache_folder(request.environment)
    kept = cache / f"reference-{reference_key(request, script).digest()}"
    if not kept.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="making-") as making:
            _make(request, script, Path(making), show)
            _keep(Path(making) / _LOSSES, kept)
    return read_curve(kept)


def training_command(script: Path, steps: int, losses: Path) -> tuple[str, ...]:
    """How the demo's training is started, disturbed or not."""
    return (sys.executable, str(script), "--steps", str(steps), "--losses", str(losses))


def _make(request: DemoRequest, script: Path, folder: Path, show: Callable[[str], None]) -> None:
    log = folder / "run.log"
    losses = folder / _LOSSES
    losses.mkdir()
    arguments = (
        "run", "--bare", "--job", "reference", "--run-folder", str(folder / "run"),
        *setting_flags(request.settings, {"job.spares": 0}),
        "--", *training_command(script, request.steps, losses),
    )  # fmt: skip
    with child_verb(arguments, log, request.environment) as child:
        while not child.is_over(_LOOK_SECONDS):
            step = newest_written_step(losses)
            show(f"undisturbed reference run: step {step or 0} of {request.steps}")
        if child.exit_code != 0:
            raise DemoRunError(
                f"the undisturbed reference run failed with exit code {child.exit_code}: "
                f"{last_line_of(log)}"
            )


def _keep(losses: Path, kept: Path) -> None:
    try:
        losses.rename(kept)
    except OSError:
        # Somebody else made the same run meanwhile, which is as good.
        if not kept.is_dir():
            raise
        shutil.rmtree(losses)


def last_line_of(log: Path) -> str:
    """The last line of a log, for an error message."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "its log is empty"
