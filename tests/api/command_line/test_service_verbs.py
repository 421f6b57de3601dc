"""`diagnose`, `remediate` and `serve` as they are called: what they refuse, do, and their end."""

from __future__ import annotations

import io
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from api.verdicts import a_verdict
from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.rest.loopback import address_of, loopback_socket
from paramedic.api.wiring.run_folder import database_url
from paramedic.ingest.bus.embedded.broker import EmbeddedBroker
from paramedic.ingest.contract import Event, EventKind, JobName, Start, Topic
from paramedic.remediation.store.store import open_store

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PATIENCE_SECONDS = 60.0


def call(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = dispatch([*arguments, "--debug"], Surroundings(folder, {}, out, err))
    return code, out.getvalue(), err.getvalue()


@contextmanager
def signal_when(ready: Callable[[], object], number: signal.Signals) -> Iterator[None]:
    """Send this process a signal once something is so, or when patience is over."""

    def send() -> None:
        waited = threading.Event()
        for _ in range(int(PATIENCE_SECONDS / 0.02)):
            if ready():
                break
            waited.wait(0.02)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path / "b.sock") as running:
        yield running


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("diagnose",), "diagnose needs the address of a bus that exists: --bus kafka://HOST:PORT"),
        (("diagnose", "--bus", "kafka"), "or the `bus` of a run's run.json"),
        (("diagnose", "--bus", "unix:/b", "--sign-file", ""), "--sign-file: the path is empty"),
        (("diagnose", "--metrics-port", "many"), "argument --metrics-port: 'many' is no port"),
        (("diagnose", "--bus", "unix:/b", "--metrics-port", "99999"),
         "argument --metrics-port: '99999' is no port: give a number from 0 to 65535"),
        (("collect", "--bus", "unix:/b", "--metrics-port", "-5"),
         "argument --metrics-port: '-5' is no port: give a number from 0 to 65535"),
        (("simulate", "--serve", "--port", "65536"), "argument --port: '65536' is no port"),
        (("diagnose", "--bus", "kafka://h:99999"), "needs embedded, kafka or kafka://HOST:PORT"),
        (("remediate", "--observe"), "required: --run-folder"),
        (("remediate", "--run-folder", "r"), "one of the arguments --control-socket --observe"),
        (("remediate", "--run-folder", "r", "--observe", "--control-socket", "c"),
         "not allowed with argument"),
        (("remediate", "--run-folder", "r", "--observe"), "remediate needs the address of a bus"),
        (("serve",), "required: --run-folder"),
        (("serve", "--run-folder", "r"), "r/paramedic.sqlite: no such file: name a run's folder"),
        (("serve", "--run-folder", "r", "--host", "10.0.0.1"), "only loopback addresses"),
        (("remediate", "--run-folder", "no/where", "--observe", "--bus", "unix:/b"),
         "the folder {folder}/no/where does not exist; create it"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_one_line_and_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(tmp_path, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words.replace("{folder}", str(tmp_path)) in err


def test_a_database_that_is_none_is_refused_by_serve(tmp_path: Path) -> None:
    (tmp_path / "paramedic.sqlite").write_bytes(b"notes of mine" * 100)
    code, _out, err = call(tmp_path, "serve", "--run-folder", str(tmp_path), "--port", "0")
    assert code == 2
    assert "is not one of ours" in err


def test_a_descriptor_that_is_no_socket_is_refused_by_serve(tmp_path: Path) -> None:
    open_store(database_url(tmp_path)).close()
    with (tmp_path / "file").open("w") as file:
        code, _out, err = call(
            tmp_path, "serve", "--run-folder", str(tmp_path), "--listen-fd", str(file.fileno())
        )
    assert (code, "is no socket" in err) == (2, True)


@pytest.mark.parametrize("number", SIGNALS)
def test_diagnose_gives_signs_of_life_and_ends_well_on_any_signal(
    tmp_path: Path, broker: EmbeddedBroker, number: signal.Signals
) -> None:
    sign = tmp_path / "diagnose.alive"
    bus = f"unix:{broker.path}"
    with signal_when(sign.exists, number):
        assert call(tmp_path, "diagnose", "--bus", bus, "--sign-file", str(sign)) == (0, "", "")
    assert sign.exists()


@pytest.mark.long
def test_remediate_stores_what_comes_over_the_bus_and_closes_its_database(
    tmp_path: Path, broker: EmbeddedBroker
) -> None:
    verdict, job = a_verdict(), JobName("train")
    started = Event(verdict.onset, EventKind.JOB_STATE, job, details={"state": "training"})
    broker.publish_local(Topic.EVENTS, "train/0", started.to_json())
    broker.publish_local(Topic.VERDICTS, "train/0", verdict.to_json())
    flags = ("--run-folder", str(tmp_path), "--observe", "--bus", f"unix:{broker.path}")
    with signal_when(lambda: is_stored(tmp_path, verdict.id), signal.SIGTERM):
        assert call(tmp_path, "remediate", *flags) == (0, "", "")
    store = open_store(database_url(tmp_path))
    with store.reading() as view:
        assert view.verdicts.document(verdict.id) == verdict.to_json()
        (action,) = view.actions.of_job(job)
    store.close()
    assert (action.kind.value, action.state.value) == ("notify", "skipped")
    assert action.launcher == "observe_only"
    assert [file.name for file in tmp_path.glob("paramedic.sqlite-*")] == []


def is_stored(folder: Path, verdict_id: str) -> bool:
    if not (folder / "paramedic.sqlite").exists():
        return False
    store = open_store(database_url(folder), busy_timeout_seconds=5.0)
    try:
        with store.reading() as view:
            return bool(view.actions.of_job(JobName("train"))) and (
                view.verdicts.get(verdict_id) is not None
            )
    finally:
        store.close()


@pytest.mark.connected
def test_diagnose_answers_metrics_and_refuses_a_port_that_is_taken(
    tmp_path: Path, broker: EmbeddedBroker
) -> None:
    bus = f"unix:{broker.path}"
    with loopback_socket("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        code, _out, err = call(tmp_path, "diagnose", "--bus", bus, "--metrics-port", port)
    assert code == 2
    assert f"--metrics-port {port} of 127.0.0.1 cannot be used" in err
    pages: list[str] = []

    def read() -> bool:
        try:
            pages.append(httpx.get(f"http://127.0.0.1:{port}/metrics").text)
        except httpx.ConnectError:
            return False
        return True

    with signal_when(read, signal.SIGTERM):
        assert call(tmp_path, "diagnose", "--bus", bus, "--metrics-port", port)[0] == 0
    assert "paramedic_diagnose_verdicts_total 0.0" in pages[0]


@pytest.mark.connected
@pytest.mark.parametrize("number", SIGNALS)
def test_serve_answers_from_the_database_of_a_run_and_changes_nothing(
    tmp_path: Path, number: signal.Signals
) -> None:
    store = open_store(database_url(tmp_path))
    verdict = a_verdict()
    with store.writing() as tx:
        tx.verdicts.put(verdict, verdict.to_json())
    store.close()
    found: list[bytes] = []
    with loopback_socket("127.0.0.1", 0) as listener:
        address, own = address_of(listener), os.dup(listener.fileno())

        def ask() -> bool:
            found.append(httpx.get(f"{address}/v1/verdicts/{verdict.id}", timeout=10).content)
            return True

        with signal_when(ask, number):
            code, out, err = call(
                tmp_path, "serve", "--run-folder", str(tmp_path), "--listen-fd", str(own)
            )
    assert (code, out) == (0, "")
    assert err == f"paramedic: API at {address}, documentation at /docs\n"
    assert found == [verdict.to_json()]


@pytest.mark.connected
def test_remediate_serves_what_it_stores_and_says_who_is_alive(
    tmp_path: Path, broker: EmbeddedBroker
) -> None:
    (tmp_path / "diagnose.alive").touch()
    answers: list[httpx.Response] = []
    with loopback_socket("127.0.0.1", 0) as listener:
        address, own = address_of(listener), os.dup(listener.fileno())

        def ask() -> bool:
            answers.append(httpx.get(f"{address}/healthz", timeout=10))
            return True

        with signal_when(ask, signal.SIGTERM):
            code, _out, _err = call(
                tmp_path, "remediate", "--run-folder", str(tmp_path), "--observe", "--serve",
                "--listen-fd", str(own), "--bus", f"unix:{broker.path}",
            )  # fmt: skip
    assert code == 0
    assert set(answers[0].json()["alive"]) == {"database", "remediate", "bus", "diagnose"}
    bus = broker.bus()
    assert bus.subscribe([Topic.VERDICTS], Start.EARLIEST).poll(0.0) == []
