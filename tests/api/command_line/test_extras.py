"""What a call needs to be installed, and that what its refusal says to install brings it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from paramedic.api.command_line import extras
from paramedic.api.command_line.errors import MissingExtraError
from paramedic.api.command_line.parser import VERBS, build_parser
from paramedic.api.settings.reading import parse_assignment, read_settings

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
OPTIONAL: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
NAME = re.compile(r"[A-Za-z0-9_.-]+")
OURS = re.compile(r"paramedic\[([a-z,]+)\]")
HOMES = packages_distributions()
KAFKA = "bus.address=kafka://b:1"
CALLS = [
    "run", f"run --set {KAFKA}", "run --set recording.ring_bytes=0",
    "demo", f"demo --set {KAFKA}",
    "up --prometheus http://p", "up --nvml", f"up --exporters h --set {KAFKA}",
    "up --kafka b:1 --kafka-topic t",
    "collect --prometheus http://p", "collect --nvml", "collect --exporters h --metrics-port 1",
    f"collect --kernel-log journal --set {KAFKA}",
    "diagnose", f"diagnose --set {KAFKA}", "diagnose --metrics-port 1",
    "remediate --run-folder r --observe",
    f"remediate --run-folder r --observe --serve --set {KAFKA}",
    "serve --run-folder r", "decode -", "simulate --serve", "simulate --record r",
    "capture --out o", f"capture --out o --set {KAFKA}", "capture --out o --nvml",
    "replay r", "replay r --bus kafka://b:1", "bench detection",
    "explain n --recording r", "explain n --recording r --figure f.svg",
    "models list", "train r --out m", "doctor --recording r",
]  # fmt: skip


def packages(call: str) -> list[str]:
    name, *flags = call.split()
    parsed = build_parser([VERBS[name]]).parse_args([name, *flags])
    settings = read_settings(Path("/"), {}, dict(map(parse_assignment, parsed.assignments)))
    return list(dict.fromkeys(VERBS[name].packages(parsed, settings)))


def refusal(call: str, *, lacking: set[str] | None = None) -> str:
    """The line for an environment that lacks these packages; None: all of them."""
    verb = VERBS[call.split(maxsplit=1)[0]]
    with pytest.raises(MissingExtraError) as refused:
        extras.require(
            verb.name,
            packages(call),
            verb.extra,
            installed=lambda name: lacking is not None and name not in lacking,
        )
    return str(refused.value)


def brought(extra: str) -> Iterator[str]:
    """The distributions that an extra of ours installs."""
    for requirement in OPTIONAL[extra]:
        if (ours := OURS.match(requirement)) is not None:
            for other in ours[1].split(","):
                yield from brought(other)
        elif (name := NAME.match(requirement)) is not None:
            yield name[0].lower().replace("_", "-")


@pytest.mark.parametrize("call", CALLS)
def test_what_the_refusal_says_to_install_brings_what_was_missing(call: str) -> None:
    (named,) = OURS.findall(refusal(call))
    installed = {name for extra in named.split(",") for name in brought(extra)}
    for package in packages(call):
        homes = {name.lower().replace("_", "-") for name in HOMES[package]}
        assert homes & installed, f"{package} is not in paramedic[{named}]"


def test_every_verb_is_asked_for_here() -> None:
    assert {call.split()[0] for call in CALLS} >= set(VERBS) - {"doctor", "maintenance"}


def test_only_what_is_missing_is_named_and_once() -> None:
    assert refusal("run", lacking={"uvicorn", "sqlalchemy"}) == (
        "run needs sqlalchemy, uvicorn: pip install 'paramedic[platform]'"
    )
    assert refusal("collect --nvml", lacking={"pynvml"}) == (
        "collect needs pynvml: pip install 'paramedic[ingest,nvml]'"
    )


def test_a_figure_names_the_extra_that_draws() -> None:
    call = "explain n --recording r --figure f.svg"
    assert refusal(call, lacking={"matplotlib"}).endswith("'paramedic[platform]'")
    with pytest.raises(MissingExtraError, match=r"ingest,figures"):
        extras.require("explain", extras.FIGURES, "ingest", installed=lambda _name: False)


def test_the_platform_has_what_answers_metrics_and_ingest_has_not() -> None:
    lacking = {"prometheus_client"}
    assert refusal("diagnose --metrics-port 1", lacking=lacking).endswith("'paramedic[platform]'")
    collecting = refusal("collect --exporters h --metrics-port 1", lacking=lacking)
    assert collecting.endswith("'paramedic[ingest,api]'")


def test_a_call_asks_for_nothing_that_it_does_not_use() -> None:
    assert packages("run --bare") == packages("maintenance list") == []
    assert "pyarrow" in packages("run")
    assert "pyarrow" not in packages("run --set recording.ring_bytes=0")
    assert "pyarrow" not in packages("up --nvml --set recording.ring_bytes=0")
    assert "fastapi" not in packages("remediate --run-folder r --observe")
    assert "fastapi" in packages("remediate --run-folder r --observe --serve")
    assert packages("simulate --serve") == ["numpy"]
    assert "prometheus_client" not in packages("diagnose")
    assert "matplotlib" not in packages("explain n --recording r")
    assert "torch" in packages("demo")
    for verb in ("demo", "diagnose", "remediate --run-folder r --observe", "replay r"):
        assert "kafka" not in packages(verb)


def test_a_package_is_looked_for_without_being_imported() -> None:
    assert extras.is_installed("json")
    assert not extras.is_installed("a_package_that_nobody_wrote")
