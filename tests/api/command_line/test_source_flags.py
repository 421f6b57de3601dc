"""What `collect` and `up` are asked to read, and what they refuse before anything is started."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from paramedic.api.command_line.dispatch import dispatch
from paramedic.api.command_line.parser import build_parser
from paramedic.api.command_line.source_flags import source_request
from paramedic.api.command_line.surroundings import Surroundings
from paramedic.api.command_line.verbs import Call
from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.source_request import AccessRequest, SourceRequest

EVERYTHING = (
    "--prometheus", "https://prometheus:9090/x", "--matchers", 'cluster="a"',
    "--exporters", "hosts.txt", "--kernel-log", "a=/var/log/kern.log", "--kernel-log", "journal",
    "--nvml", "--kafka", "broker:9092", "--kafka-topic", "metrics", "--kafka-topic", "more",
    "--kafka-format", "telegraf", "--user", "me", "--password-file", "secret",
    "--ca-file", "ca.pem", "--certificate-file", "us.pem", "--key-file", "key.pem",
    "--tenant", "ml", "--no-verify",
)  # fmt: skip
PARSER = build_parser()


def asked(folder: Path, *flags: str, **environment: str) -> SourceRequest:
    around = Surroundings(folder, environment, io.StringIO(), io.StringIO())
    parsed = PARSER.parse_args(["collect", *flags])
    return source_request(Call(parsed, None, Settings(), around))


def test_every_flag_reaches_the_request(tmp_path: Path) -> None:
    request = asked(tmp_path, *EVERYTHING)
    assert request == SourceRequest(
        prometheus="https://prometheus:9090/x",
        matchers='cluster="a"',
        exporters=Path("hosts.txt"),
        kernel_logs=("a=/var/log/kern.log", "journal"),
        nvml=True,
        kafka="broker:9092",
        topics=("metrics", "more"),
        topic_format="telegraf",
        access=AccessRequest(
            user="me",
            password_file=Path("secret"),
            ca_file=Path("ca.pem"),
            certificate_file=Path("us.pem"),
            key_file=Path("key.pem"),
            tenant="ml",
            verify=False,
        ),
    )


@pytest.mark.parametrize(
    "flags",
    [EVERYTHING, ("--prometheus", "http://p"), ("--nvml",), ("--kernel-log", "/dev/kmsg"),
     ("--exporters", "h", "--token-file", "t")],
)  # fmt: skip
def test_a_process_of_ours_is_asked_for_the_same(tmp_path: Path, flags: tuple[str, ...]) -> None:
    request = asked(tmp_path, *flags)
    assert asked(tmp_path, *request.flags()) == request


def test_without_flags_nothing_is_asked_for(tmp_path: Path) -> None:
    assert asked(tmp_path).is_empty
    assert asked(tmp_path, "--kafka", "broker:9092").is_empty


def test_secrets_of_the_environment_are_not_shown(tmp_path: Path) -> None:
    request = asked(tmp_path, "--prometheus", "http://p", PARAMEDIC_SOURCE_TOKEN="s3cret")
    assert "s3cret" not in repr(request)
    assert "s3cret" not in " ".join(request.flags())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("collect",), "collect needs a source"),
        (("up",), "--prometheus URL, --exporters FILE or --kafka HOST:PORT"),
        (("collect", "--prometheus", "http://p"), "collect needs the address of a bus"),
        (("up", "--prometheus", "http://me:pw@p:9090"), "--user and --password-file"),
        (("up", "--kafka-topic", "t"), "--kafka-topic needs --kafka HOST:PORT"),
        (("up", "--prometheus", "http://p", "--user", "me"), "--user needs --password-file"),
        (
            (
                "up",
                "--prometheus",
                "http://p",
                "--user",
                "me",
                "--password-file",
                "p",
                "--token-file",
                "t",
            ),
            "keep one",
        ),
        (("up", "--prometheus", "ftp://p"), "http(s)://host:port"),
        (("up", "--prometheus", "http://p:99999"), "'http://p:99999': Port out of range 0-65535"),
        (("up", "--prometheus", "http://[p"), "'http://[p': Invalid IPv6 URL: write http(s)"),
        (("up", "--kafka", "h:99999"), "argument --kafka: '99999' is no port: give a number"),
        (("up", "--kafka", "h:9,9092"), "argument --kafka: '9092' is no HOST:PORT"),
        (("up", "--exporters", "nothere.txt"), "nothere.txt"),
        (("up", "--kernel-log", "a="), "--kernel-log 'a='"),
        (("up", "--prometheus", "http://p", "--role-labels", "stage"), "'stage' is no ROLE=LABEL"),
        (
            ("up", "--prometheus", "http://p", "--role-labels", "stage=pp"),
            "role 'stage' is not known",
        ),
        (
            ("up", "--prometheus", "http://p", "--set", "collect.idle_seconds=3600"),
            "idle_seconds is 3600",
        ),
        (("up", "--prometheus", "http://127.0.0.1:9", "--port", "0"), "--prometheus: "),
        (("remediate", "--run-folder", "x", "--bus", "kafka://b:1"), "--control-socket"),
    ],
)
def test_what_cannot_work_is_one_line_and_code_2(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    around = Surroundings(tmp_path, {}, io.StringIO(), io.StringIO())
    assert dispatch([*arguments, "--debug"], around) == 2
    said = around.stderr.getvalue()  # type: ignore[attr-defined]  # it is a StringIO
    assert said.count("\n") == 1
    assert words in said
    assert "pw" not in said
    assert not (tmp_path / "paramedic-runs").exists()
