"""Whatever comes late, twice or never: a slot of the history is what it was when it closed live."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.recordings.recorded import JOB, describe, gpu_row, moment, open_and_play, write_rows
from paramedic.ingest.contract import Entity
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows
from paramedic.models.histories.recorded import history_of

_SECONDS = 50
_NODES = "abc"

Fates = dict[tuple[int, int], float | None]
FATES = st.dictionaries(
    st.tuples(st.integers(0, _SECONDS - 1), st.integers(0, len(_NODES) - 1)),
    st.one_of(st.none(), st.floats(0.0, 12.0)),
    max_size=25,
)
"""Of a second and a node: how much later than usual its row came; None: never."""


def rows_with(fates: Fates) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for second in range(_SECONDS):
        for at, node in enumerate(_NODES):
            delay = fates.get((second, at), 0.0)
            if delay is not None:
                row = gpu_row(second, node, power=100.0 * at + second)
                found.append(row | {"arrived": moment(second + 1.1 + delay)})
    return found


@pytest.mark.long
@settings(max_examples=12)
@given(fates=FATES)
def test_late_and_lost_rows_are_as_the_live_run_had_them(
    tmp_path_factory: pytest.TempPathFactory, fates: Fates
) -> None:
    folder = describe(tmp_path_factory.mktemp("rec"), _NODES)
    write_rows(folder, "gpu", rows_with(fates))
    slots: dict[int, np.ndarray] = {}
    live = JobWindows(WindowConfig(), JOB)
    for batch, now in open_and_play(folder):
        live.accept(batch, now)
        for second in live.advance(now):
            values = live.window_at(Entity.GPU, second).values[:, 0, -1].copy()
            slots[second] = values
    window = history_of(folder).windows[Entity.GPU]
    for at, second in enumerate(window.seconds):
        if second in slots and len(slots[second]) == len(_NODES):
            np.testing.assert_array_equal(window.values[:, 0, at], slots[second])


@settings(max_examples=8)
@given(order=st.permutations(range(12)))
def test_rows_without_arrivals_may_lie_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, order: list[int]
) -> None:
    folder = describe(tmp_path_factory.mktemp("rec"), "a")
    write_rows(folder, "gpu", [gpu_row(second, "a", power=float(second)) for second in order])
    values = history_of(folder).windows[Entity.GPU].values[0, 0]
    np.testing.assert_array_equal(values, np.arange(12))
