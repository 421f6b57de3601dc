"""`paramedic decode` prints lines that tools can read, and nothing else on standard output."""

from __future__ import annotations

import gzip
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.wiring.decode import DecodeRequest, decode, read_source
from paramedic.api.wiring.errors import InputError
from paramedic.ingest.contract import NodeName

PAGE = """\
# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
DCGM_FI_DEV_POWER_USAGE{gpu="3",UUID="GPU-a",hostname="n7",pod=""} 412
DCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu="3",UUID="GPU-a",hostname="n7"} 17
DCGM_FI_DEV_MEMORY_TEMP{gpu="3",UUID="GPU-a",hostname="n7"} 9223372036854775794
DCGM_FI_DEV_GPU_TEMP{gpu="3",UUID="GPU-a",hostname="n7"} 82505
DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-a",hostname="n7"} 79
SOMETHING_NEW{gpu="3",UUID="GPU-a",hostname="n7"} 5
go_goroutines 8
"""
LABELS = {"gpu": "3", "UUID": "GPU-a", "hostname": "n7"}

HOMELESS = "paramedic: no_node: nothing tells whose some of this is: name the host with --node\n"
Line = dict[str, object]


def decoded(text: str, node: str | None = None, source: str = "-") -> list[Line]:
    out, err = io.StringIO(), io.StringIO()
    request = DecodeRequest(
        source=source,
        node=None if node is None else NodeName(node),
        folder=Path("/"),
        now_seconds=1767225600.0,
        standard_input=lambda size_bytes: text.encode()[:size_bytes],
    )
    assert decode(request, as_table=False, stdout=out, stderr=err) == 0
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    is_homeless = any(line.get("node", "") is None for line in lines)
    assert err.getvalue() == (HOMELESS if is_homeless else "")
    return lines


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    around = Surroundings(folder, {}, io.StringIO(), io.StringIO())
    code = dispatch(["decode", *arguments], around)
    out, err = around.stdout, around.stderr
    assert isinstance(out, io.StringIO)
    assert isinstance(err, io.StringIO)
    return code, out.getvalue(), err.getvalue()


def test_every_value_is_a_line_as_the_formats_say() -> None:
    lines = decoded(PAGE)
    assert lines[0] == {
        "metric": "gpu_power_watts",
        "value": 412.0,
        "node": "n7",
        "gpu": 3,
        "uuid": "GPU-a",
        "source": "DCGM_FI_DEV_POWER_USAGE",
        "labels": LABELS,
    }
    assert {line["metric"] for line in lines if "metric" in line} == {
        "gpu_power_watts",
        "gpu_pcie_replays_total",
        "gpu_xid",
        "something_new",
    }


def test_a_counter_is_printed_as_it_is_under_its_total() -> None:
    (line,) = [one for one in decoded(PAGE) if one.get("metric") == "gpu_pcie_replays_total"]
    assert (line["value"], line["source"]) == (17.0, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER")


def test_the_last_line_says_what_was_left_out_and_what_is_unknown() -> None:
    assert decoded(PAGE)[-1] == {
        "rejected": {"blank_sentinel": 1, "out_of_range": 1},
        "uncatalogued": ["SOMETHING_NEW", "go_goroutines"],
    }


def test_a_standing_xid_is_an_event_beside_its_value() -> None:
    (event,) = [one for one in decoded(PAGE) if one.get("kind") == "xid"]
    assert event == {
        "kind": "xid",
        "node": "n7",
        "gpu": 3,
        "xid": 79,
        "uuid": "GPU-a",
        "source": "DCGM_FI_DEV_XID_ERRORS",
        "sticky": True,
    }


def test_processor_time_is_shown_processor_by_processor() -> None:
    text = "".join(f'node_cpu_seconds_total{{cpu="{n}",mode="idle"}} {n}5\n' for n in range(2))
    lines = decoded(text, node="n1")
    assert [(line["metric"], line["value"]) for line in lines[:-1]] == [
        ("cpu_idle_seconds_total", 5.0),
        ("cpu_idle_seconds_total", 15.0),
    ]


def test_a_computed_metric_names_what_it_was_computed_from() -> None:
    lines = decoded("node_memory_MemTotal_bytes 8e9\nnode_memory_MemAvailable_bytes 2e9\n", "n1")
    assert {str(line["metric"]): line["value"] for line in lines[:-1]} == {
        "memory_available_bytes": 2e9,
        "memory_capacity_bytes": 8e9,
        "memory_used_ratio": 0.75,
    }
    assert lines[-2]["source"] == "memory_available_bytes / memory_capacity_bytes"


def test_without_a_node_there_is_none_and_node_gives_one() -> None:
    text = 'DCGM_FI_DEV_POWER_USAGE{gpu="0"} 5\n'
    assert decoded(text)[0]["node"] is None
    assert decoded(text, node="n9")[0]["node"] == "n9"
    assert decoded(PAGE, node="n9")[0]["node"] == "n7"


def test_an_answer_of_prometheus_has_times_and_shows_counters_as_they_are() -> None:
    metric = {"__name__": "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "gpu": "0", "Hostname": "n1"}
    answer = {"status": "success", "data": {"resultType": "matrix", "result": [
        {"metric": metric, "values": [[0, "5"], [15, "8"]]}
    ]}}  # fmt: skip
    assert [(line["timestamp"], line["value"]) for line in decoded(json.dumps(answer))[:-1]] == [
        ("1970-01-01T00:00:00Z", 5.0),
        ("1970-01-01T00:00:15Z", 8.0),
    ]


def test_a_kernel_log_is_its_events() -> None:
    text = (
        "[Sun Feb 23 16:24:18 2025] NVRM: Xid (PCI:0000:9b:00): 119, pid=1, name=x, Timeout\n"
        "[Sun Feb 23 16:24:19 2025] nothing else\n"
    )
    event, summary = decoded(text, node="n1")
    assert (event["kind"], event["xid"], event["node"]) == ("xid", 119, "n1")
    assert event["timestamp"] == "2025-02-23T16:24:18Z"
    assert summary == {"rejected": {}, "uncatalogued": []}


def test_a_table_of_nvidia_smi_is_read_like_its_exporter() -> None:
    (line, _) = decoded("index, uuid, power.draw [W]\n2, GPU-a, 88.5 W\n", node="n1")
    assert (line["metric"], line["value"], line["gpu"]) == ("gpu_power_watts", 88.5, 2)


def test_an_empty_page_of_an_exporter_is_read_and_says_nothing() -> None:
    assert decoded("# EOF\n") == [{"rejected": {}, "uncatalogued": []}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("DCGM_FI_DEV_SM_CLOCK,  gauge, SM clock (in MHz).\n", "counters file of dcgm-exporter"),
        ("# nThread 1 nGpus 8 minBytes 1 maxBytes 2\n", "nccl-tests"),
        ("dear diary\n", "nothing that can be decoded"),
        ("", "- is empty"),
        ("<html></html>", "a web page"),
    ],
)
def test_what_is_no_telemetry_is_called_what_it_is(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        decoded(text)


def test_a_file_is_read_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(PAGE)
    code, out, err = run(tmp_path, "page.txt")
    assert (code, err) == (0, "")
    assert json.loads(out.splitlines()[0])["metric"] == "gpu_power_watts"


def test_a_table_is_for_people_and_goes_to_standard_error(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(PAGE)
    code, out, err = run(tmp_path, "page.txt", "--format", "table")
    assert (code, out) == (0, "")
    rows = [line.split() for line in err.splitlines()]
    assert rows[0] == ["metric", "value", "node", "gpu", "source"]
    assert ["gpu_power_watts", "412", "n7", "3", "DCGM_FI_DEV_POWER_USAGE"] in rows
    assert any(row[0] == "xid" and "xid=79" in row for row in rows)
    assert 'rejected: {"blank_sentinel": 1, "out_of_range": 1}' in err


@pytest.mark.parametrize(
    "source",
    [
        "nowhere.txt",
        ".",
        "http://127.0.0.1:9/metrics",
        "http://[",
        "http://127.0.0.1:99999/metrics",
    ],
)
def test_what_cannot_be_read_is_one_line_and_exit_code_2(tmp_path: Path, source: str) -> None:
    code, out, err = run(tmp_path, source)
    assert (code, out) == (2, "")
    assert err.startswith(f"paramedic: {source} cannot be read: ")
    assert ("Port out of range 0-65535" in err) == (":99999" in source)
    assert err.count("\n") == 1


def test_a_broken_answer_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text('{"status": "success", "data": {}}')
    code, _out, err = run(tmp_path, "answer.json")
    assert code == 2
    assert "answer.json: not an answer of the Prometheus API" in err


def test_a_log_that_counts_from_boot_tells_no_time() -> None:
    xid = "NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus."
    event, _ = decoded(f"[   12.3] {xid}\n")
    assert "timestamp" not in event
    assert (event["xid"], event["node"]) == (79, None)
    # In UTC these lie before the first year and after the last.
    for written in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        event, _ = decoded(f"kern :err : {written} {xid}\n", "n1")
        assert "timestamp" not in event


def test_xid_lines_that_cannot_be_read_are_counted() -> None:
    log = "[ 1.2] NVRM: Xid (PCI:00\n[ 1.3] NVRM: Xid (PCI:0000:9b:00): many\n[ 1.4] other\n"
    switch = "nvidia-nvswitch0: SXid (PCI:0000:86:00.0): 20034, Data {0x1, 0x2}\n"
    assert decoded(log + switch)[-1]["rejected"] == {"unreadable_xid": 2}


def test_an_entry_of_the_journal_with_no_time_that_can_be_one_costs_no_more(tmp_path: Path) -> None:
    entry = {"MESSAGE": "NVRM: Xid (PCI:0000:9b:00): 79, x", "__REALTIME_TIMESTAMP": "9" * 400}
    (tmp_path / "journal").write_text(json.dumps(entry) + "\n")
    code, out, _err = run(tmp_path, "journal")
    assert code == 0
    assert json.loads(out.splitlines()[-1])["rejected"] == {"unreadable_xid": 1}


def test_a_table_without_a_time_or_a_node_has_neither() -> None:
    line, summary = decoded("index, uuid, power.draw [W], fan.speed [%]\n2, G, 8 W, [N/A]\n")
    assert (line["node"], "timestamp" in line) == (None, False)
    assert summary["rejected"] == {"not_available": 1}


def test_one_bad_time_among_samples_of_unknown_names_is_only_counted() -> None:
    assert decoded("new_name 1 NaN\nup 2\n", "n1") == [
        {"rejected": {"bad_time": 1}, "uncatalogued": ["up"]}
    ]


@pytest.mark.parametrize("stamp", ["NaN", "99999999999999999999"])
def test_where_no_time_is_one_nothing_is_decoded(stamp: str) -> None:
    with pytest.raises(InputError, match="none of its samples has a time"):
        decoded(f'# EOF\nDCGM_FI_DEV_GPU_TEMP{{gpu="0"}} 30 {stamp}\n')
    with pytest.raises(InputError, match="none of its samples has a time"):
        decoded(f"timestamp, uuid, power.draw [W]\n{stamp}, G, 8 W\n")


def test_bytes_that_are_no_text_are_called_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "page.gz").write_bytes(gzip.compress(PAGE.encode()))
    code, out, err = run(tmp_path, "page.gz")
    assert (code, out) == (2, "")
    assert "page.gz is compressed by gzip: unpack it first" in err


@pytest.mark.parametrize("source", ["page", "-", "/dev/zero"])
def test_no_more_is_read_than_the_limit(tmp_path: Path, source: str) -> None:
    (tmp_path / "page").write_text(PAGE)
    with (tmp_path / "page").open("rb") as page:
        asked = DecodeRequest(source, None, tmp_path, 0.0, page.read, limit_bytes=len(PAGE))
        if source != "/dev/zero":
            assert read_source(asked) == PAGE.encode()
            page.seek(0)
        with pytest.raises(InputError, match=f"^{source} holds more than {len(PAGE) - 1} bytes"):
            read_source(replace(asked, limit_bytes=len(PAGE) - 1))


@contextmanager
def exporter(page: str) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/metrics" else 404)
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_unused: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_page_is_fetched_and_its_host_is_the_node(tmp_path: Path) -> None:
    with exporter('DCGM_FI_DEV_POWER_USAGE{gpu="0"} 5\n') as address:
        code, out, _err = run(tmp_path, f"{address}/metrics")
        assert code == 0
        assert json.loads(out.splitlines()[0])["node"] == "127.0.0.1"
        code, _out, err = run(tmp_path, f"{address}/nothing")
        assert code == 2
        assert "404" in err
        asked = DecodeRequest(f"{address}/metrics", None, tmp_path, 0.0, bytes, limit_bytes=20)
        with pytest.raises(InputError, match="/metrics holds more than 20 bytes"):
            read_source(asked)
