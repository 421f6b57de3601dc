"""Which packages a verb needs, and the one line that says what to install."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec

from paramedic.api.command_line.errors import MissingExtraError
from paramedic.api.settings.schema import Settings

AGENT = ("psutil",)
KAFKA = ("kafka",)
COLLECT = ("numpy",)
DECODE = ("numpy",)
DIAGNOSE = ("numpy",)
REMEDIATE = ("sqlalchemy",)
SIMULATE = ("numpy",)
RECORDINGS = ("numpy", "pyarrow")
FIGURES = ("matplotlib",)
MODELS = ("numpy", "safetensors")
DRIFT = ("numpy", "pyarrow", "safetensors", "torch")
TRAIN = ("numpy", "pyarrow", "safetensors", "torch", "pytorch_lightning")
SERVE = ("fastapi", "pydantic", "prometheus_client", "sqlalchemy", "uvicorn")
RUN = (*AGENT, *DIAGNOSE, *REMEDIATE, *SERVE)
UP = (*DIAGNOSE, *REMEDIATE, *SERVE)
DEMO = (*RUN, "rich")
BENCH = ("numpy", "pytorch_lightning", "rich", "sklearn", "torch")
_OF_OTHER_EXTRAS = {
    "pynvml": "nvml",
    "prometheus_client": "api",
    "matplotlib": "figures",
    "safetensors": "models",
    "torch": "models",
    "pytorch_lightning": "models",
}
"""Packages that the extra of a verb may not bring."""
_OF_PLATFORM = ("api", "figures", "models")


def of_ring(settings: Settings) -> Sequence[str]:
    """What a run or `up` needs to keep its last hours."""
    return RECORDINGS if settings.recording.ring_bytes else ()


def of_bus(settings: Settings) -> Sequence[str]:
    """What the bus of these settings needs."""
    return KAFKA if settings.bus.address.startswith("kafka") else ()


def of_metrics(flags: Namespace) -> Sequence[str]:
    """What `--metrics-port` needs, where it is asked for."""
    return () if flags.metrics_port is None else ("prometheus_client",)


def is_installed(package: str) -> bool:
    """Whether a package could be imported, found out without importing it."""
    return find_spec(package) is not None


def require(
    verb: str,
    packages: Iterable[str],
    extra: str,
    installed: Callable[[str], bool] = is_installed,
) -> None:
    """Raise MissingExtraError, naming the extra, when a package is not installed."""
    missing = [package for package in dict.fromkeys(packages) if not installed(package)]
    if missing:
        beside = [_OF_OTHER_EXTRAS[package] for package in missing if package in _OF_OTHER_EXTRAS]
        is_there = extra.startswith("platform")  # which brings all but hardware's own
        needed = (one for one in beside if not (is_there and one in _OF_PLATFORM))
        wanted = dict.fromkeys([*extra.split(","), *needed])
        raise MissingExtraError(
            f"{verb} needs {', '.join(missing)}: pip install 'paramedic[{','.join(wanted)}]'"
        )
