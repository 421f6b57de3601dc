"""The summary comes first, then the worst, and what is to be pasted comes together at the end."""

from __future__ import annotations

import json

from ingest.doctor.looked import Exporters, gpu_names, healthy, report
from paramedic.ingest.doctor.checks import Check, Level, Remedy, Report, counted, named
from paramedic.ingest.doctor.telling import lines_of


def lines_without(*words: str) -> list[str]:
    names = [name for name in gpu_names() if not any(word in name for word in words)]
    return list(lines_of(report(Exporters().gpus(names=names))))


def test_two_lines_say_what_was_seen_and_whether_it_holds() -> None:
    assert list(lines_of(report(*healthy())))[:3] == [
        "2 hosts, 4 GPUs, 760 samples in 16 pages",
        "detection within a minute would hold; no warnings",
        "",
    ]
    assert lines_without("TENSOR", "DRAM")[1].startswith(
        "detection within a minute would NOT hold: 2 things missing, "
    )


def test_the_worst_comes_first() -> None:
    levels = [line.partition(" ")[0] for line in lines_without("TENSOR", "GPU_TEMP")[3:]]
    told = [level for level in levels if level in {"missing", "warning", "ok"}]
    assert told == sorted(told, key=["missing", "warning", "ok"].index)
    assert told.count("missing") == 1


def test_what_goes_to_one_place_is_one_block_without_repeats() -> None:
    rows = Remedy("the file", ("row 1",)), Remedy("the file", ("row 2",))
    block = Remedy("elsewhere", ("a:", "  - b"))
    checks = (
        Check("x", Level.WARNING, "one", (rows[0], block)),
        Check("x", Level.MISSING, "two", (rows[1],)),
        Check("y", Level.WARNING, "three", (rows[0], block)),
        Check("z", Level.OK, "four", (Remedy("nowhere", ("not shown",)),)),
    )
    lines = list(lines_of(Report({}, "seen", checks)))
    assert lines[-8:] == ["", "the file:", "    row 2", "    row 1", "", "elsewhere:", "    a:",
                          "      - b"]  # fmt: skip


def test_the_report_is_one_json_object_for_scripts() -> None:
    document = json.loads(json.dumps(report(*healthy()).to_dict()))
    assert document["holds"] is True
    assert document["summary"]["jobs"] == {"llama": 4}
    assert {"subject", "level", "text", "remedies"} == set(document["checks"][0])


def test_words_for_names_and_numbers() -> None:
    assert named(["b", "a", "d", "c"]) == "a, b, c and 1 more"
    assert (counted(1, "host"), counted(1200, "host")) == ("1 host", "1,200 hosts")
