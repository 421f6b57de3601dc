"""A figure without a display: what is in the file, whatever there is to draw."""

from __future__ import annotations

import io
import struct
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace

import pytest

from diagnosis.explanation.verdict import START, TENSOR, a_verdict, batches
from paramedic.diagnosis.explanation.curves import CurveReader, Whose
from paramedic.diagnosis.explanation.depicting import depiction_of
from paramedic.diagnosis.explanation.figure import draw
from paramedic.ingest.contract import NodeName


def drawn(form: str, *metrics: str) -> bytes:
    depiction = depiction_of(a_verdict(), {}, 1.0)
    whose = Whose(frozenset([NodeName("a")]), 1)
    curves = CurveReader(metrics, whose, range(START + 60, START + 80)).read(batches())
    target = io.BytesIO()
    draw(depiction.scene, curves, form, target)
    return target.getvalue()


@pytest.fixture(scope="module")
def svg() -> bytes:
    return drawn("svg", TENSOR, "heartbeat")


def test_an_svg_says_who_when_and_against_whom(svg: bytes) -> None:
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    said = "\n".join(text.strip() for text in root.itertext())
    for words in (
        "P1 ecc_error: GPU 1 of a lost 41 % tensor activity",
        "evidence began 00:01:12",
        "decided 00:01:21",
        "GPU 1 of a",
        "GPU tensor active [%], 9 peers",
        "heard",
    ):
        assert words in said


def test_a_long_name_stays_within_the_figure() -> None:
    """What is below it is as wide as it, and a legend that is wider would be cut off."""
    scene = depiction_of(a_verdict(), {}, 1.0).scene
    long = replace(scene, machine="median of " + ", ".join(f"gpu-node-{at:04d}" for at in range(9)))
    target = io.BytesIO()
    curves = CurveReader((TENSOR,), Whose(frozenset([NodeName("a")]), 1), range(START, START + 5))
    draw(long, curves.read(batches(5)), "svg", target)
    words = [text.strip() for text in ET.fromstring(target.getvalue()).itertext()]
    assert max(map(len, words)) <= 92
    assert any(one.endswith("gpu-node-0008") for one in words)


def test_a_name_is_drawn_as_it_is_and_what_no_font_draws_as_it_is_written() -> None:
    scene = replace(depiction_of(a_verdict(), {}, 1.0).scene, machine="no\x1b[31m\n\x07$de$ 名")
    target = io.BytesIO()
    curves = CurveReader((TENSOR,), Whose(frozenset([NodeName("a")]), 1), range(START, START + 5))
    draw(scene, curves.read(batches(5)), "svg", target)
    words = [text.strip() for text in ET.fromstring(target.getvalue()).itertext()]
    assert r"no\x1b[31m\n\x07$de$ \u540d" in words


@pytest.mark.long
def test_the_same_figure_is_the_same_file(svg: bytes) -> None:
    assert drawn("svg", TENSOR, "heartbeat") == svg


@pytest.mark.parametrize(
    "metrics",
    [(), pytest.param((TENSOR,), marks=pytest.mark.long)],
    ids=["no telemetry", "one panel"],
)
def test_a_png_is_whole(metrics: tuple[str, ...]) -> None:
    png = drawn("png", *metrics)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert png.endswith(b"IEND" + struct.pack(">I", zlib.crc32(b"IEND")))
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height > 300) == (1080, True)
