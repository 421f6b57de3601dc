"""Jobs and roles are read from labels."""

from __future__ import annotations

import pytest

from paramedic.ingest.collect.configuration import (
    CollectConfig,
    LabelSettings,
    TenancySettings,
)
from paramedic.ingest.collect.errors import CollectSettingError
from paramedic.ingest.collect.labels import job_of, roles_of, roles_of_node

USUAL = LabelSettings()


@pytest.mark.parametrize(
    ("labels", "job"),
    [
        ({"hpc_job": "4711", "training_kubeflow_org_job_name": "llama"}, "4711"),
        ({"hpc_job": "", "training_kubeflow_org_job_name": "llama"}, "llama"),
        ({"hpc_job": "  ", "jobset_sigs_k8s_io_jobset_name": "gpt"}, "gpt"),
        ({"label_training_kubeflow_org_job_name": "llama"}, "llama"),
        ({"exported_hpc_job": "mine", "hpc_job": "the-exporters"}, "mine"),
        ({"exported_label_jobset_sigs_k8s_io_jobset_name": "gpt"}, "gpt"),
        ({"pod": "worker-0", "job": "dcgm-exporter"}, None),
    ],
)
def test_the_first_label_that_names_a_job_wins(labels: dict[str, str], job: str | None) -> None:
    assert job_of(labels, USUAL) == job


def test_labels_of_ones_own_take_the_place_of_the_usual_ones() -> None:
    settings = LabelSettings(job_labels=("workload",))
    assert job_of({"hpc_job": "4711", "workload": "w"}, settings) == "w"
    assert job_of({"hpc_job": "4711"}, settings) is None


def test_a_name_that_is_too_long_for_a_key_is_cut() -> None:
    assert job_of({"hpc_job": "x" * 5000}, USUAL) == "x" * 200


def test_roles_are_numbers_where_the_label_is_one_and_absent_where_it_is_empty() -> None:
    settings = LabelSettings(
        role_labels={"pipeline_stage": "pp", "data_rank": "dp", "switch": "leaf"}
    )
    labels = {"pp": "3", "dp": "", "exported_leaf": "leaf-7"}
    assert roles_of(labels, settings) == {"pipeline_stage": 3, "switch": "leaf-7"}


def test_the_roles_of_a_node_are_told_by_gpu_only_where_its_gpus_differ() -> None:
    details = roles_of_node(
        {0: {"pipeline_stage": 0, "rack": "r1"}, 1: {"pipeline_stage": 1, "rack": "r1"}}
    )
    assert details == {
        "pipeline_stage_of_gpu_0": 0,
        "pipeline_stage_of_gpu_1": 1,
        "rack": "r1",
    }


def test_a_role_that_only_some_gpus_have_is_not_given_to_all() -> None:
    assert roles_of_node({0: {"data_rank": 4}, 1: {}}) == {"data_rank_of_gpu_0": 4}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LabelSettings(role_labels={"stage": "pp"}), "role 'stage'"),
        (lambda: LabelSettings(job_labels=("",)), "empty"),
        (lambda: TenancySettings(idle_seconds=0), "idle_seconds is 0"),
        (lambda: TenancySettings(unlabelled_seconds=1000), "unlabelled_seconds is 1000"),
        (lambda: TenancySettings(used_ratio=-1), "used_ratio is -1"),
        (lambda: CollectConfig(settle_seconds=2), "settle_seconds is 2"),
        (lambda: CollectConfig(buffer_seconds=0), "buffer_seconds is 0"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(CollectSettingError, match=words):
        make()
