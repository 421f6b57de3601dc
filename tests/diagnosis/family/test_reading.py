"""families.toml: what ships is sound, and what cannot be is refused in one clear line."""

from __future__ import annotations

import math

import pytest

from paramedic.diagnosis.contract import Fault
from paramedic.diagnosis.family.derived import DERIVED
from paramedic.diagnosis.family.errors import KnowledgeError
from paramedic.diagnosis.family.reading import SHIPPED, read_knowledge, shipped_knowledge
from paramedic.diagnosis.family.signature import Extent, Signature
from paramedic.diagnosis.family.symptoms import seen
from paramedic.ingest.catalogue.catalogue import shipped_catalogue

SMALL = """
[[symptom]]
name = "warmer"
direction = "higher"
metrics = ["gpu_temperature_celsius"]
usual = 0.05
why = "heat"

[[sign]]
name = "has_stopped"
usual = 0.05
why = "a stop"

[[family]]
fault = "thermal_throttle"
share = 0.5
extents = { one_gpu = 0.5, several_gpus = 0.25, host = 0.25 }

[[family.mechanism]]
name = "warm"
weight = 1.0
why = "heat"
shows = { warmer = 0.9 }
"""
MACHINES = {
    Fault.ECC_ERROR, Fault.CUDA_EXECUTION_ERROR, Fault.GPU_EXECUTION_ERROR, Fault.PCIE_DOWNGRADE,
    Fault.NIC_DROPOUT, Fault.GPU_CARD_DROP, Fault.NVLINK_ERROR, Fault.AOC_ERROR,
    Fault.STORAGE_ERROR, Fault.MACHINE_UNREACHABLE, Fault.THERMAL_THROTTLE, Fault.HOST_CONTENTION,
    Fault.PROCESS_EXIT, Fault.HANG, Fault.STRAGGLER, Fault.UNKNOWN,
}  # fmt: skip


def test_every_family_of_a_machine_is_known() -> None:
    assert set(shipped_knowledge().faults) == MACHINES


def test_shares_are_those_of_all_faults() -> None:
    families = shipped_knowledge().families
    assert math.isclose(sum(one.share for one in families), 1.0, abs_tol=0.05)
    assert max(families, key=lambda one: one.share).fault is Fault.ECC_ERROR


def test_symptoms_speak_of_metrics_that_the_catalogue_knows_or_that_are_derived() -> None:
    known = shipped_catalogue().metrics
    named = {m for one in shipped_knowledge().symptoms for m in one.metrics}
    assert sorted(named - known.keys()) == sorted(DERIVED)


def test_every_sign_is_one_that_a_signature_can_give() -> None:
    told = Signature(
        Extent.HOST, {}, True, True, frozenset(), frozenset({48, 13, 119, 74, 79, 32}),
        slow_reasons=0xFF, has_stopped=True, has_exited=True, cards_unsteady=True,
    )  # fmt: skip
    signs = [one for one in shipped_knowledge().symptoms if not one.metrics]
    never = [
        one.name
        for one, share in zip(signs, seen(told, signs).tolist(), strict=True)
        if share < 0.5
    ]
    assert never == []


def test_a_small_file_is_read_as_it_stands() -> None:
    knowledge = read_knowledge(SMALL, "mine.toml")
    assert [one.name for one in knowledge.symptoms] == ["warmer", "has_stopped"]
    mechanism = knowledge.families[0].mechanisms[0]
    assert (mechanism.shows, mechanism.hurts) == ({"warmer": 0.9}, 0.0)


def test_a_mechanism_that_hurts_looks_two_ways() -> None:
    text = SMALL + "hurts = 0.25\nfollows = { has_stopped = 0.8, warmer = 0.1 }\n"
    ways = read_knowledge(text, "mine.toml").families[0].mechanisms[0].ways
    assert ways == ((0.75, {"warmer": 0.9}), (0.25, {"has_stopped": 0.8, "warmer": 0.9}))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[[symptom]]", "[symptom", "is not TOML"),
        ("[[sign]]", "[[signal]]", r"needs \[\[symptom\]\]"),
        ('"higher"', '"upward"', "direction = 'upward': needs higher or lower"),
        ("usual", "follows_others = 1\nusual", "follows_others = 1: needs true or false"),
        ("usual = 0.05", "usual = 1.5", "usual = 1.5: needs a number above 0"),
        ('["gpu_temperature_celsius"]', "[]", r"metrics = \[\]: needs a list"),
        ('why = "heat"', "", "why = None: needs some text"),
        ('"thermal_throttle"', '"too_hot"', "fault = 'too_hot': needs a fault family"),
        ("host = 0.25", "host = 0.5", "extents = 1.25: needs shares that add up to 1"),
        (", host = 0.25", "", "needs each of one_gpu, several_gpus, host"),
        ("weight = 1.0", "weight = 0.5", "mechanism.weight = 0.5: needs shares"),
        ("{ warmer = 0.9 }", "{ colder = 0.9 }", "shows = 'colder': needs names of symptoms"),
        ("{ warmer = 0.9 }", "0.9", "shows = 0.9: needs names with a number each"),
        ("[[family.mechanism]]", "[[family.way]]", "mechanism = None: needs at least one table"),
        ('name = "has_stopped"', 'name = "warmer"', "warmer is there twice"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(old: str, new: str, told: str) -> None:
    with pytest.raises(KnowledgeError, match=told) as refused:
        read_knowledge(SMALL.replace(old, new, 1), "mine.toml")
    assert "mine.toml" in str(refused.value)


def test_another_text_has_another_digest() -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    assert read_knowledge(text + "# more\n", "x").digest != shipped_knowledge().digest
