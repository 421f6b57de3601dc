"""Lists of exporters: what can be written, and which line is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.sources.scraping.targets import (
    Target,
    TargetsError,
    read_targets,
    targets_of_lines,
)


def urls(*lines: str) -> list[str]:
    return [target.url for target in targets_of_lines(lines, "hosts.txt")]


@pytest.mark.parametrize(
    ("line", "url", "node"),
    [
        ("node-1:9400", "http://node-1:9400/metrics", "node-1"),
        ("  node-1:9400\t# rack 7", "http://node-1:9400/metrics", "node-1"),
        ("10.0.0.1:9400/gpu", "http://10.0.0.1:9400/gpu", "10.0.0.1"),
        ("[fd00::1]:9400", "http://[fd00::1]:9400/metrics", "fd00::1"),
        ("https://node-1/", "https://node-1/metrics", "node-1"),
        ("http://node-1:5000/x?a=b#c", "http://node-1:5000/x?a=b", "node-1"),
        ("10.0.0.1:9100 node=gpu-7  # rack 7", "http://10.0.0.1:9100/metrics", "gpu-7"),
        ("http://a:1/x?node=b", "http://a:1/x?node=b", "a"),
        ("http://Node-1:9400/metrics", "http://Node-1:9400/metrics", "node-1"),
    ],
)
def test_an_exporter_is_host_and_port_or_a_url(line: str, url: str, node: str) -> None:
    (target,) = targets_of_lines([line], "hosts.txt")
    assert (target.url, target.node) == (url, node)


def test_comments_blank_lines_and_repeats_are_passed_over() -> None:
    lines = ("\ufeff# all of row 3", "", "a:1", "   ", "b:1 # spare", "http://a:1/metrics")
    assert urls(*lines) == ["http://a:1/metrics", "http://b:1/metrics"]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("node-1", "names no port"),
        ("a:1 b:2", "more than one word"),
        ("a:1 node=b c", "more than one word"),
        ("ftp://node-1:21", "no address"),
        ("node-1:port", "node-1:port"),
        ("node-1:99999", "node-1:99999"),
        (":9400", "no address"),
        ("http://", "no address"),
        ("http://[fd00::1", "fd00"),
        ("node-1:0", "no address"),
    ],
)
def test_a_bad_line_is_named_with_its_number(line: str, what: str) -> None:
    with pytest.raises(TargetsError, match=r"hosts\.txt, line 3") as caught:
        urls("a:1", "# b", line)
    assert what in str(caught.value)
    assert "host:port" in str(caught.value)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(TargetsError, match="line 1: take the password out") as caught:
        urls("http://ops:hush@node-1:9400")
    assert "hush" not in str(caught.value)


def test_a_list_without_exporters_is_refused() -> None:
    with pytest.raises(TargetsError, match="no exporter in it"):
        urls("# nothing yet")


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("a:1\nb:2\n")
    assert [target.node for target in read_targets(path)] == ["a", "b"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TargetsError, match="absent"):
        read_targets(tmp_path / "absent")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TargetsError, match="one exporter a line"):
        read_targets(binary)


@given(st.text(max_size=30))
def test_any_line_is_a_target_or_refused(line: str) -> None:
    try:
        targets = targets_of_lines(line.splitlines(), "hosts")
    except TargetsError:
        return
    assert all(isinstance(one, Target) and one.url.startswith("http") for one in targets)
