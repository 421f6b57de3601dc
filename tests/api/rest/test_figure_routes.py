"""A verdict's figure over REST: drawn by whoever draws, or a word of why not."""

from __future__ import annotations

from typing import Any

import pytest

from paramedic.api.rest.application import create_app
from paramedic.api.rest.state import NoFigureError


class Pencil:
    """Draws nothing but what it was asked for."""

    def draw(self, verdict: bytes, verdict_id: str, form: str) -> bytes:
        if verdict_id == "V2":
            raise NoFigureError("its telemetry is gone")
        return f"{form} of {len(verdict)} bytes".encode()


@pytest.fixture
def drawing(scene: Any, client_of: Any) -> Any:
    return client_of(create_app(scene.store, version="1", figures=Pencil()))


@pytest.mark.parametrize(("form", "media_type"), [("svg", "image/svg+xml"), ("png", "image/png")])
def test_a_figure_is_drawn_from_the_verdict_as_it_was_told(
    drawing: Any, scene: Any, form: str, media_type: str
) -> None:
    answer = drawing.get(f"/v1/verdicts/V1/figure.{form}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == media_type
    assert answer.text == f"{form} of {len(scene.documents['V1'])} bytes"


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("V2/figure.svg", 404, "its telemetry is gone"),
        ("V9/figure.svg", 404, "no verdict 'V9'"),
        ("V1/figure.gif", 422, "form"),
    ],
)
def test_what_cannot_be_drawn_says_why(drawing: Any, path: str, status: int, words: str) -> None:
    answer = drawing.get(f"/v1/verdicts/{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert words in answer.text


def test_without_telemetry_there_is_nothing_to_draw_from(client: Any) -> None:
    assert "no telemetry is kept here" in client.get("/v1/verdicts/V1/figure.svg").text
