"""Families of metrics: values in order, looked up when somebody asks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from paramedic.api.rest.families import counter, counters, gauge, gauges, registry_of

LABELS = st.text(max_size=6)


def page(*families: object) -> str:
    return generate_latest(registry_of(lambda: families)).decode()  # type: ignore[arg-type,return-value]


def test_a_gauge_and_a_counter_are_what_prometheus_takes_them_for() -> None:
    text = page(
        gauge("now", "So it is.", (), [((), 2)]), counter("ever", "So it was.", (), [((), 3)])
    )
    assert "# TYPE now gauge\nnow 2.0\n" in text
    assert "# TYPE ever_total counter\never_total 3.0\n" in text
    assert "# HELP now So it is." in text


@given(st.dictionaries(st.tuples(LABELS, LABELS), st.floats(-1e9, 1e9), max_size=6))
def test_whatever_labels_hold_a_reader_finds_the_same_values(
    values: dict[tuple[str, str], float],
) -> None:
    text = page(gauge("m", "Text.", ("one", "two"), values.items()))
    found = {
        (sample.labels["one"], sample.labels["two"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found == values


def test_the_order_of_the_values_does_not_show() -> None:
    values = [(("b",), 1.0), (("a",), 2.0)]
    forth = page(gauge("m", "Text.", ("l",), values))
    assert forth == page(gauge("m", "Text.", ("l",), list(reversed(values))))
    assert forth.index('l="a"') < forth.index('l="b"')


def test_rows_share_a_prefix() -> None:
    rows = (("lag_seconds", "How late.", 0.5), ("jobs", "How many.", 2))
    assert [family.name for family in gauges("paramedic_x", rows)] == [
        "paramedic_x_lag_seconds",
        "paramedic_x_jobs",
    ]
    assert "paramedic_x_jobs_total 2.0" in page(*counters("paramedic_x", rows))


def test_every_reading_of_the_page_sees_what_is_so_then() -> None:
    now = [1.0]
    registry = registry_of(lambda: [gauge("m", "Text.", (), [((), now[0])])])
    assert b"m 1.0" in generate_latest(registry)
    now[0] = 2.0
    assert b"m 2.0" in generate_latest(registry)
