"""The figure of a verdict: the machine against the band of its peers, and the two moments.

Drawn without a display: PNG by Agg, SVG as text that can be searched. The colours are told apart by
people who are colour-blind (Okabe and Ito's), and nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from textwrap import wrap
from typing import IO, TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.dates import DateFormatter
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font

from paramedic.diagnosis.explanation.curves import PRESENCE, Curve
from paramedic.diagnosis.explanation.measures import measure_of
from paramedic.ingest.legible import as_written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from paramedic.diagnosis.explanation.depicting import Scene

FORMATS = ("png", "svg")
BEGAN = "evidence began"
DECIDED = "decided"
_MACHINE = "#D55E00"
_PEERS = "#0072B2"
_MARK = "#222222"
_LEGEND_CHARACTERS = 78
"""As many fit beside each other below the figure, with the lines that they explain."""
_PRESENT = ("silent", "heard")
_STYLE: dict[Any, Any] = {
    "font.size": 10.0,
    "figure.dpi": 120.0,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "paramedic",
}
"""The salt keeps the ids in an SVG the same from one drawing to the next."""


def draw(scene: Scene, curves: Sequence[Curve], form: str, target: IO[bytes]) -> None:
    """Draw the curves, one above the other, as `png` or `svg`."""
    with mpl.rc_context(_STYLE):
        title, machine = _drawable(scene.title), _drawable(scene.machine)
        scene = replace(scene, title=title, machine=machine)
        figure = Figure(figsize=(9.0, 1.6 + 1.9 * max(len(curves), 1)), layout="constrained")
        grid = figure.subplots(max(len(curves), 1), 1, sharex=True, squeeze=False)
        axes: list[Axes] = grid[:, 0].tolist()
        for at, (panel, curve) in enumerate(zip(axes, curves, strict=False)):
            _draw_panel(panel, curve, scene, is_first=at == 0)
        _finish(axes, scene)
        figure.suptitle("\n".join(wrap(scene.title, 92)), fontsize=11.0, x=0.01, ha="left")
        figure.savefig(target, format=form, metadata=_metadata(form))


def _drawable(text: str) -> str:
    """The text with what cannot be seen, or the font has no glyph for, written as Python does."""
    font = get_font(findfont(FontProperties()))
    return "".join(
        one if one.isprintable() and font.get_char_index(ord(one)) else as_written(one)
        for one in text
    )


def _draw_panel(panel: Axes, curve: Curve, scene: Scene, *, is_first: bool) -> None:
    measure = measure_of(curve.metric, _largest(curve))
    times = [datetime.fromtimestamp(second, UTC) for second in curve.seconds.tolist()]
    least, tenth, middle, ninetieth, largest = curve.band * measure.factor
    x: Any = times
    if curve.peers:
        band: dict[str, Any] = {"color": _PEERS, "lw": 0}
        panel.fill_between(x, least, largest, alpha=0.15, label="all its peers", **band)
        panel.fill_between(x, tenth, ninetieth, alpha=0.35, label="10 to 90 % of them", **band)
        middle_is: dict[str, Any] = {"color": _PEERS, "lw": 1.2, "ls": "--"}
        panel.plot(x, middle, marker=".", ms=1.5, label="their median", **middle_is)
    if np.isfinite(curve.machine).any():
        own = curve.machine * measure.factor
        panel.plot(x, own, color=_MACHINE, lw=2.0, marker=".", ms=3.0, label=scene.machine)
    if curve.metric in PRESENCE:
        panel.set_yticks([0, 1], _PRESENT)
        panel.set_ylim(-0.1, 1.1)
    unit = f" [{measure.unit}]" if measure.unit else ""
    against = f", {curve.peers} {scene.peers}" if curve.peers else ""
    panel.set_title(f"{measure.name}{unit}{against}", loc="left", fontsize=10.0)
    panel.grid(axis="y", alpha=0.25)
    _mark(panel, scene, is_first=is_first)


def _mark(panel: Axes, scene: Scene, *, is_first: bool) -> None:
    """The two moments, told apart by their dashes; named in the first panel."""
    for moment, words, dashes, side in (
        (scene.began, BEGAN, ":", "right"),
        (scene.decided, DECIDED, "-", "left"),
    ):
        if moment is None:
            continue
        x: Any = moment
        panel.axvline(x, color=_MARK, lw=1.4, ls=dashes)
        if is_first:
            place = {"right": (-4, 17), "left": (4, 17)}[side]  # above the panel's own name
            panel.annotate(
                f"{words} {moment:%H:%M:%S}",
                (x, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=place,
                textcoords="offset points",
                ha=side,
                va="bottom",
                fontsize=9.0,
            )


def _finish(axes: Sequence[Axes], scene: Scene) -> None:
    clock = DateFormatter("%H:%M:%S", tz=UTC)  # type: ignore[no-untyped-call]
    axes[-1].xaxis.set_major_formatter(clock)
    axes[-1].set_xlabel("time (UTC)")
    handles, labels = axes[0].get_legend_handles_labels()
    if handles:
        whole = ["\n".join(wrap(label, _LEGEND_CHARACTERS)) for label in labels]
        columns = len(whole) if len(" ".join(labels)) < _LEGEND_CHARACTERS else 2
        legend: dict[str, Any] = {"loc": "outside lower left", "frameon": False}
        axes[-1].figure.legend(handles, whole, ncols=columns, **legend)
    else:
        axes[0].text(0.5, 0.5, f"no telemetry of {scene.machine} here", ha="center")


def _largest(curve: Curve) -> float:
    values = np.abs(np.concatenate([curve.machine, curve.band[2]]))
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else 1.0


def _metadata(form: str) -> dict[str, str | None]:
    """Without the time of drawing, so that the same figure is the same file."""
    return {"Date": None, "Creator": "Paramedic"} if form == "svg" else {"Software": "Paramedic"}
