"""A model says which of its metrics lack, and goes on with the others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.registry.models_of_ours import artifact_of
from paramedic.models.registry.fit import fit_of

NAMES = st.sets(st.sampled_from("abcdef"))


def test_everything_there_is_worth_no_word() -> None:
    fit = fit_of(artifact_of(), ["gpu_tensor_active_ratio", "gpu_power_watts"])
    assert (fit.is_whole, fit.remarks) == (True, ())


def test_what_lacks_is_named_and_the_rest_is_used() -> None:
    fit = fit_of(artifact_of(), ["gpu_power_watts"])
    assert fit.usable == ("gpu_power_watts",)
    (remark,) = fit.remarks
    assert remark.startswith("the model was trained on 2 metrics, and 1 of them do not arrive")
    assert remark.endswith("(gpu_tensor_active_ratio): it judges by the other 1")


def test_what_is_new_is_named() -> None:
    (remark,) = fit_of(artifact_of(), ["gpu_power_watts", "gpu_tensor_active_ratio", "x"]).remarks
    assert remark.startswith("1 metrics arrive that the model was not trained on (x)")


def test_what_a_model_derives_from_a_metric_stands_for_the_metric() -> None:
    artifact = artifact_of(metrics=("absence_of:gpu", "gpu_power_watts", "node_mean_of:gpu_x"))
    fit = fit_of(artifact, ["gpu_power_watts", "gpu_x"])
    assert (fit.usable, fit.missing, fit.new) == (("gpu_power_watts", "gpu_x"), (), ())


def test_what_tells_of_the_job_as_a_whole_is_neither_new_nor_missing() -> None:
    fit = fit_of(artifact_of(metrics=("gpu_power_watts", "loss")), ["gpu_power_watts", "step"])
    assert (fit.usable, fit.is_whole, fit.remarks) == (("gpu_power_watts",), True, ())


@given(NAMES, NAMES)
def test_every_metric_is_usable_or_missing_or_new_and_only_one_of_them(
    known: set[str], there: set[str]
) -> None:
    fit = fit_of(artifact_of(metrics=tuple(sorted(known))), there)
    parts = (fit.usable, fit.missing, fit.new)
    assert sorted(name for part in parts for name in part) == sorted(known | there)
    assert set(fit.usable) | set(fit.missing) == known
    assert set(fit.usable) | set(fit.new) == there
