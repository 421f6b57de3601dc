"""Ours and its variants share one model."""

from __future__ import annotations

import pickle

import pytest

from paramedic.diagnosis.benchmark.guard import is_variant_of_ours
from paramedic.diagnosis.benchmark.variants import LEFT_OUT, SharedFit, ours_and_variants
from paramedic.models.training.fit_settings import FitSettings

pytestmark = pytest.mark.long  # imports torch and Lightning


def test_ours_is_first_and_all_share_one_fit_even_after_a_journey() -> None:
    there = pickle.loads(pickle.dumps(ours_and_variants(FitSettings())))
    assert there[0].name == "paramedic"
    assert [one.name for one in there[1:]] == list(LEFT_OUT)
    assert all(is_variant_of_ours(name) for name in LEFT_OUT)
    assert len({id(one.fit) for one in there}) == 1


def test_what_has_not_been_trained_says_so() -> None:
    with pytest.raises(ValueError, match="paramedic_whole_job has not been trained"):
        ours_and_variants(FitSettings())[3].examine(None)  # type: ignore[arg-type]


def test_a_model_that_is_there_is_not_fitted_again() -> None:
    fitted = object()
    shared = SharedFit(FitSettings(), fitted)  # type: ignore[arg-type]
    assert shared.once([]) is fitted
