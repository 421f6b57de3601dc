"""`paramedic doctor`: one of sources, a page or a place; words on stderr, JSON on stdout."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.wiring.doctor import StorageRequest, look_at_storage
from paramedic.ingest.doctor.storage.measuring import StorageLimits

REFERENCE = Path(os.environ.get("PARAMEDIC_REFERENCE_DATA", "/nonexistent"))
H100_PAGE = REFERENCE / "exporter_kernel_fixtures/dcgm/h100_8gpu_dcgm_exporter_4.x.prom"
PAGE = 'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="a",Hostname="n1",hpc_job="llama"} 412\n'
ANSWER = {
    "status": "success",
    "data": {
        "resultType": "matrix",
        "result": [
            {
                "metric": {"__name__": "DCGM_FI_DEV_POWER_USAGE", "gpu": "0", "Hostname": "n1"},
                "values": [[1_800_000_000 + 30 * at, str(400 + at)] for at in range(5)],
            }
        ],
    },
}


def told(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = dispatch(["doctor", *arguments], Surroundings(folder, {}, out, err))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "doctor needs something to look at"),
        (["--kafka", "h:9092"], "--kafka needs --kafka-topic here"),
        (["page", "--storage", "x"], "name either sources, or one page, or --storage"),
        (["page", "--prometheus", "http://p"], "name either"),
        (["--prometheus", "p"], "http(s)://host:port"),
        (["--exporters", "nowhere.txt"], "nowhere.txt"),
        (["nowhere.prom"], "nowhere.prom cannot be read: No such file"),
        (["--storage", "nowhere"], "No such file or directory: make it"),
        (["--storage", "/proc"], "--storage /proc: "),
        (["--storage", "x", "--nodes", "0"], "'0': give a whole number from 1 on"),
        (["--storage", "x", "--state-gigabytes", "1,,2"], "'' is no number above 0"),
        (["--seconds", "-1"], "no number above 0"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    code, output, errors = told(tmp_path, *arguments)
    assert (code, output) == (2, "")
    assert errors.count("\n") == 1
    assert words in errors


def test_a_page_is_judged_in_words_and_what_is_missing_ends_with_1(tmp_path: Path) -> None:
    (tmp_path / "page.prom").write_text(PAGE)
    code, output, errors = told(tmp_path, "page.prom")
    assert (code, output) == (1, "")
    lines = errors.splitlines()
    assert lines[0] == "1 host, 1 GPU, 1 sample in 1 page"
    assert lines[1].startswith("detection within a minute would NOT hold: 4 things missing")
    assert "    DCGM_FI_PROF_PIPE_TENSOR_ACTIVE, gauge, Tensor core activity." in lines


def test_a_page_is_judged_for_scripts(tmp_path: Path) -> None:
    (tmp_path / "page.prom").write_text(PAGE)
    code, output, errors = told(tmp_path, "page.prom", "--format", "json")
    assert (code, errors) == (1, "")
    document = json.loads(output)
    assert document["holds"] is False
    assert document["summary"]["jobs"] == {"llama": 1}
    assert document["summary"]["cadence_seconds"] is None


def test_a_saved_answer_tells_its_cadence(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(ANSWER))
    _, output, _ = told(tmp_path, "answer.json", "--format", "json")
    assert json.loads(output)["summary"]["cadence_seconds"] == 30


@pytest.mark.parametrize(
    ("text", "words"),
    [("NVRM: Xid (PCI:0000:53:00): 79, GPU has fallen off the bus.\n", "is a log"),
     ("hello\n", "nothing that can be decoded")],
)  # fmt: skip
def test_what_is_no_page_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "file").write_text(text)
    code, _, errors = told(tmp_path, "file")
    assert (code, words in errors) == (2, True)


@pytest.mark.skipif(not H100_PAGE.exists(), reason="PARAMEDIC_REFERENCE_DATA holds no H100 page")
def test_a_page_of_a_true_exporter_is_recognised(tmp_path: Path) -> None:
    code, output, _ = told(tmp_path, str(H100_PAGE), "--format", "json")
    document = json.loads(output)
    assert document["summary"]["exporters"] == ["dcgm-exporter (3.5 to 4.8.2)"]
    assert document["summary"]["gpus"] == 8
    assert (code, document["summary"]["rejected"]) == (1, {})


def stored(folder: Path, *, as_json: bool, nodes: int) -> tuple[str, str]:
    limits = StorageLimits(4 * 1024 * 1024, 1.0, small_files=2)
    request = StorageRequest(folder, limits, (1.0, 10.0), nodes, failures=3.8)
    out, err = io.StringIO(), io.StringIO()
    assert look_at_storage(request, as_json, out, err) == 0
    assert list(folder.iterdir()) == []
    return out.getvalue(), err.getvalue()


def test_a_place_is_a_table_for_people(tmp_path: Path) -> None:
    output, errors = stored(tmp_path, as_json=False, nodes=16)
    lines = errors.splitlines()
    assert output == ""
    assert "small files a second" in lines[0]
    assert lines[1] == ("16 nodes, 3.8 failures a thousand node-days: one failure every 16 days")
    assert lines[3].split() == ["state", "saved", "to", "save", "load", "interval", "lost"]
    assert [line.split()[:4] for line in lines[4:]] == [
        [size, "GB", *layout] for size in ("1", "10")
        for layout in (("own", "disks"), ("one", "store"))
    ]  # fmt: skip


def test_a_place_is_one_object_for_scripts(tmp_path: Path) -> None:
    output, errors = stored(tmp_path, as_json=True, nodes=1)
    document = json.loads(output)
    assert errors == ""
    assert document["storage"]["measured_bytes"] == 4 * 1024 * 1024
    assert [plan["layout"] for plan in document["checkpoints"]] == ["disk", "disk"]
    small, large = document["checkpoints"]
    assert large["save_seconds"] == pytest.approx(10 * small["save_seconds"])
