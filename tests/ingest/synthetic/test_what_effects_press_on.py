"""Each effect presses on the causes it names, at its place, the harder the stronger it is."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.synthetic.clusters import configured
from paramedic.ingest.contract import NodeName
from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.faults import in_counters, on_cards, on_hosts, on_links
from paramedic.ingest.synthetic.faults.catalogue import FAULTS, Effect
from paramedic.ingest.synthetic.faults.in_counters import driver_error
from paramedic.ingest.synthetic.faults.place import Cards
from paramedic.ingest.synthetic.faults.plan import FaultPlan, Intermittence, Symptom
from paramedic.ingest.synthetic.faults.planned import PlannedFault
from paramedic.ingest.synthetic.faults.tensor_loss import tensor_loss
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.randomness import Dice

NODES, GPUS = 3, 2
CARD: Cards = (1, 1)
NODE: Cards = (1, slice(None))
MORE, LESS = 1.0, -1.0
PRESSED_ON: dict[Effect, dict[str, float]] = {
    tensor_loss: {"tensor_share": LESS},
    on_cards.slower_work: {"work_slowdown": MORE},
    on_cards.launch_gaps: {"launch_gap_ratio": MORE},
    on_cards.lower_clock: {"clock_limit_ratio": LESS},
    on_cards.power_brake: {"power_limit_ratio": LESS},
    on_cards.poor_cooling: {"cooling_ratio": MORE},
    on_cards.hot_memory: {"memory_heat_celsius": MORE},
    on_cards.narrow_pcie: {"pcie_ratio": LESS},
    on_cards.narrow_nvlink: {"nvlink_ratio": LESS, "work_slowdown": MORE},
    on_cards.fallback: {"tensor_share": LESS},
    on_cards.leaking_card: {"leaked_bytes": MORE},
    on_cards.scrubbing: {"scrubbing_ratio": MORE},
    on_hosts.stolen_processor: {"stolen_cpu_ratio": MORE},
    on_hosts.leaking_memory: {"leaked_memory_ratio": MORE},
    on_hosts.foreign_writing: {"disk_bytes_per_second": MORE},
    on_hosts.slow_reading: {"read_slowdown": MORE},
    on_hosts.slow_writing: {"storage_slowdown": MORE},
    on_hosts.slow_loading: {"loading_seconds": MORE},
    on_hosts.restless_kernel: {"switches_per_second": MORE},
    on_hosts.warm_air: {"ambient_celsius": MORE},
    on_links.narrow_nic: {"nic_ratio": LESS},
    on_links.crowded_fabric: {"fabric_ratio": LESS},
    on_links.lost_segments: {"network_loss": MORE},
    on_links.symbol_errors: {"symbol_errors_per_second": MORE},
    in_counters.corrected_errors: {"corrected_errors_per_second": MORE},
    in_counters.uncorrected_errors: {"uncorrected_errors_per_second": MORE},
    in_counters.pcie_replays: {"pcie_replays_per_second": MORE},
    in_counters.nvlink_errors: {"nvlink_errors_per_second": MORE},
}
"""Effects that grow with their strength."""
ALL_OR_NOTHING: dict[Effect, dict[str, float]] = {
    on_hosts.holes_in_telemetry: {"is_seen": LESS},
    on_links.flapping_link: {"nic_ratio": LESS, "link_downs": MORE},
    in_counters.row_remapping: {"row_remap_pending": MORE},
    in_counters.remapping_failure: {"row_remap_failed": MORE},
    in_counters.wants_reset: {"recovery_action": MORE},
    driver_error(79): {"xid": MORE},
}
EVERY = PRESSED_ON | ALL_OR_NOTHING
STRENGTHS = st.integers(5, 100).map(lambda percent: percent / 100)


def departures(causes: Causes) -> dict[str, Floats]:
    """How far each cause that is pressed on is from neutral, by name."""
    neutral = Causes.neutral(NODES, GPUS)
    differences = {
        one.name: np.asarray(getattr(causes, one.name), float) - getattr(neutral, one.name)
        for one in fields(causes) if one.name != "halt"
    }  # fmt: skip
    return {name: one for name, one in differences.items() if one.any()}


def pressed(effect: Effect, strength: float = 0.6, age: int = 0, cards: Cards = CARD) -> Causes:
    causes = Causes.neutral(NODES, GPUS)
    effect(causes, cards, strength, age)
    return causes


def planned(
    effect: str, kind: str, ramp: int = 0, pauses: Intermittence | None = None
) -> FaultPlan:
    return FaultPlan(kind, NodeName("node-0002"), 1, onset=20, strength=0.9, ramp_seconds=ramp,
                     symptoms=(Symptom(effect, 0.9),), intermittence=pauses)  # fmt: skip


def over_time(plan: FaultPlan, first: int, end: int) -> list[dict[str, Floats]]:
    fault = PlannedFault(plan, Layout(configured(NODES, GPUS).shape, Dice(0)))
    found = []
    for second in range(first, end):
        causes = Causes.neutral(NODES, GPUS)
        fault.press(causes, second)
        found.append(departures(causes))
    return found


def named(effect: Effect) -> str:
    return str(getattr(effect, "__name__", effect))


def test_every_effect_of_the_catalogue_is_tested_here() -> None:
    effects = {
        effect for kind in FAULTS.values() for name, effect in (*kind.effects.items(),
        *kind.flags.items()) if not name.startswith("xid_")
    }  # fmt: skip
    assert effects <= set(EVERY)
    assert len(effects) == len(EVERY) - 1


@pytest.mark.parametrize("effect", EVERY, ids=named)
def test_an_effect_presses_on_the_causes_it_names_and_in_their_direction(effect: Effect) -> None:
    found = departures(pressed(effect))
    assert {name: np.sign(one.sum()) for name, one in found.items()} == EVERY[effect]


@pytest.mark.parametrize("effect", EVERY, ids=named)
def test_an_effect_at_a_card_spares_the_cards_and_nodes_beside_it(effect: Effect) -> None:
    for name, one in departures(pressed(effect)).items():
        place = [[1, 1]] if one.ndim == 2 else [[1]]
        assert np.argwhere(one).tolist() == place, name


@pytest.mark.parametrize("effect", EVERY, ids=named)
def test_an_effect_at_several_whole_nodes_is_the_same_on_all_their_cards(effect: Effect) -> None:
    alone = departures(pressed(effect))
    for name, one in departures(pressed(effect, cards=([0, 2], slice(None)))).items():
        assert not one[1].any(), name
        assert (
            np.unique(one[[0, 2]]).tolist() == [one[0].flat[0]] == [alone[name][CARD[: one.ndim]]]
        )


@settings(max_examples=8)
@given(weak=STRENGTHS, strong=STRENGTHS)
def test_a_stronger_effect_presses_harder_and_causes_stay_possible(
    weak: float, strong: float
) -> None:
    weak, strong = sorted((weak, strong))
    for effect in PRESSED_ON:
        less, more = (departures(pressed(effect, one, 30)) for one in (weak, strong))
        for name, one in more.items():
            by = np.abs(one).max() - np.abs(less[name]).max()
            assert by > 0.0 if strong > weak else by == 0.0, (named(effect), name)
            assert getattr(pressed(effect, strong, 30), name).min() >= 0.0


@pytest.mark.parametrize(("effect", "seconds"), [
    (on_cards.leaking_card, 180), (on_hosts.leaking_memory, 240)])  # fmt: skip
def test_a_leak_grows_evenly_until_it_is_full(effect: Effect, seconds: int) -> None:
    (cause,) = EVERY[effect]
    held = [float(departures(pressed(effect, 1.0, age))[cause].max())
            for age in range(seconds + 5)]  # fmt: skip
    assert np.diff(held[:seconds]) == pytest.approx(np.full(seconds - 1, held[0]))
    assert held[seconds - 1 :] == [held[-1]] * 6


def test_a_stronger_fault_tears_more_holes_into_the_telemetry() -> None:
    effect, ages = on_hosts.holes_in_telemetry, range(53 * 2)
    holes = {strength: [bool(departures(pressed(effect, strength, age))) for age in ages]
             for strength in (0.1, 0.5, 1.0)}  # fmt: skip
    assert [sum(one) / len(ages) for one in holes.values()] == pytest.approx([0.07, 0.35, 0.7],
                                                                             abs=0.02)  # fmt: skip
    assert all(holes[0.5][age] for age in ages if holes[0.1][age])
    assert max(len(run) for run in "".join("#" if h else " " for h in holes[0.1]).split()) == 1


@pytest.mark.parametrize(("strength", "every"), [(1.0, 40), (0.5, 80), (0.05, 400)])
def test_a_flapping_link_goes_down_once_and_comes_back_after_three_seconds(
    strength: float, every: int
) -> None:
    seen = [departures(pressed(on_links.flapping_link, strength, age)) for age in range(every + 3)]
    assert [at for at, one in enumerate(seen) if "link_downs" in one] == [0, every]
    assert [at for at, one in enumerate(seen) if one] == [0, 1, 2, every, every + 1, every + 2]


def test_a_driver_s_error_comes_once_unless_it_is_one_that_repeats() -> None:
    def raised(is_repeated: bool) -> list[int]:
        effect = driver_error(74, is_repeated)
        return [age for age in range(200) if pressed(effect, age=age).xid[CARD] == 74.0]

    assert raised(is_repeated=False) == [0]
    assert raised(is_repeated=True) == [0, 90, 180]


def test_two_reasons_for_a_low_clock_leave_the_lower_of_two_caps() -> None:
    causes = pressed(on_cards.lower_clock, 0.9)
    cap = causes.clock_limit_ratio[CARD]
    on_cards.lower_clock(causes, NODE, 0.3, 0)
    assert causes.clock_limit_ratio[CARD] == cap < causes.clock_limit_ratio[1, 0] < 1.0


@settings(max_examples=12)
@given(ramp=st.integers(1, 40), kind=st.sampled_from(sorted(FAULTS)), data=st.data())
def test_a_ramp_never_falls_and_ends_at_full_strength(
    ramp: int, kind: str, data: st.DataObject
) -> None:
    row = FAULTS[kind].effects
    growing = [name for name, effect in row.items() if effect in PRESSED_ON]
    effect = data.draw(st.sampled_from(growing))
    seen = over_time(planned(effect, kind, ramp), 19, 22 + ramp)
    full = over_time(planned(effect, kind), 19, 22 + ramp)
    cause = next(iter(EVERY[row[effect]]))
    sizes = [float(np.abs(one[cause]).max()) for one in seen[1:]]
    assert seen[0] == {}
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1] or ramp == 1
    assert sizes[ramp - 1 :] == [float(np.abs(one[cause]).max()) for one in full[ramp:]]


@settings(max_examples=5)
@given(period=st.integers(12, 69), on_ratio=st.floats(0.35, 0.8))
def test_what_comes_and_goes_leaves_a_quiet_stretch_in_every_period(
    period: int, on_ratio: float
) -> None:
    plan = planned("hot_memory", "ecc_error", pauses=Intermittence(period, on_ratio))
    is_on = np.array([bool(one) for one in over_time(plan, 20, 20 + 3 * period)])
    rounds = is_on.reshape(3, period)
    assert (rounds == rounds[0]).all()
    number = int(rounds[0].sum())
    assert rounds[0, :number].all()
    assert on_ratio * period <= number < on_ratio * period + 1
    assert period - number >= 2
