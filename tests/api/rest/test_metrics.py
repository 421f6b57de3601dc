"""The metrics page: what it counts, and that Prometheus can read it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from paramedic.api.rest.application import create_app
from paramedic.remediation.store.store import Store


def samples(client: Any) -> dict[str, float]:
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    return {
        f"{sample.name}{sorted(sample.labels.values())}": sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def test_it_counts_what_is_stored(client: Any) -> None:
    found = samples(client)
    goodput = found.pop("paramedic_job_goodput_ratio['llama']")
    assert 0.0 < goodput < 1.0
    assert found == {
        "paramedic_build_info['1.2.3']": 1.0,
        "paramedic_service_silent_seconds['remediate']": 0.5,
        "paramedic_verdicts['P1', 'firing', 'hang']": 2.0,
        "paramedic_verdict_changes_total['firing']": 2.0,
        "paramedic_incidents_open['P1', 'llama']": 2.0,
        "paramedic_actions['planned', 'replace_rank']": 2.0,
        "paramedic_job_info['llama', 'training']": 1.0,
        "paramedic_job_generation['llama']": 2.0,
        "paramedic_job_step['llama']": 17.0,
    }


def test_everything_has_help(client: Any) -> None:
    families = list(text_string_to_metric_families(client.get("/metrics").text))
    assert len(families) == 10
    assert all(family.documentation for family in families)


def test_an_empty_store_has_a_page_too(store: Store, client_of: Any) -> None:
    client = client_of(create_app(store, version="1"))
    assert samples(client) == {"paramedic_build_info['1']": 1.0}


def test_two_applications_in_one_process_do_not_disturb_each_other(
    store: Store, client_of: Any
) -> None:
    first = client_of(create_app(store, version="1"))
    second = client_of(create_app(store, version="2"))
    assert samples(first) != samples(second)


def test_every_metric_is_described_in_the_readme(client: Any) -> None:
    readme = Path(__file__).parents[3] / "api" / "README.md"
    described = set(re.findall(r"^\| `(paramedic_\w+)` \|", readme.read_text(), re.MULTILINE))
    families = text_string_to_metric_families(client.get("/metrics").text)
    names = {sample.name for family in families for sample in family.samples}
    assert names == described
