"""How the processes beside a job are started: this interpreter, our command line, every setting."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.settings.schema import describe_settings
from paramedic.api.wiring.run_folder import sign_file

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings
    from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

# -P: the current folder is the user's, and must not offer modules to ours.
INTERPRETER = (sys.executable, "-P", "-m", "paramedic.api.command_line")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def setting_flags(settings: Settings, overrides: Mapping[str, object]) -> tuple[str, ...]:
    """Every setting as a flag, so that neither file nor environment is asked a second time."""
    flags: list[str] = []
    for setting in describe_settings():
        value = overrides.get(
            setting.key, getattr(getattr(settings, setting.section), setting.name)
        )
        flags += ["--set", f"{setting.key}={value}"]
    return tuple(flags)


def service_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without settings (they come as flags), and one thread for arithmetic."""
    variables = {setting.variable for setting in describe_settings()}
    kept = {name: value for name, value in environment.items() if name not in variables}
    return {**kept, **dict.fromkeys(_ONE_THREAD, "1")}


def diagnose_service(
    bus_address: str,
    run_folder: Path,
    settings: Settings,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
) -> ServiceSpec:
    """The diagnosis process of a run: the only one, so it forms no group."""
    from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

    flags = setting_flags(settings, {"bus.address": bus_address, "kafka.group": "off"})
    return ServiceSpec(
        name="diagnose",
        command=(*INTERPRETER, "diagnose", "--sign-file", str(sign_file(run_folder)), *flags),
        environment=service_environment(environment),
        log_path=run_folder / "logs" / "diagnose.log",
        tell=tell,
    )


def collect_service(
    bus_address: str,
    run_folder: Path,
    source_flags: Sequence[str],
    tell_descriptor: int,
    settings: Settings,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
) -> ServiceSpec:
    """The collecting process of a platform for jobs that run already."""
    from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

    signs = ("--sign-file", str(sign_file(run_folder, "collect")))
    own = (*source_flags, *signs, "--tell-fd", str(tell_descriptor))
    flags = setting_flags(settings, {"bus.address": bus_address})
    return ServiceSpec(
        name="collect",
        command=(*INTERPRETER, "collect", *own, *flags),
        environment=service_environment(environment),
        log_path=run_folder / "logs" / "collect.log",
        pass_fds=(tell_descriptor,),
        tell=tell,
    )


def capture_services(
    bus_address: str,
    run_folder: Path,
    settings: Settings,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
) -> tuple[ServiceSpec, ...]:
    """The process that keeps the last hours as recordings; none where none are to be kept."""
    from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

    wanted = settings.recording
    if not wanted.ring_bytes:
        return ()
    ring = ("--ring", "--out", str(run_folder / "ring"))
    cap = ("--cap-gigabytes", str(wanted.ring_bytes / 1e9))
    segments = ("--segment-minutes", str(wanted.segment_seconds / 60))
    flags = setting_flags(settings, {"bus.address": bus_address})
    capture = ServiceSpec(
        name="capture",
        command=(*INTERPRETER, "capture", *ring, *cap, *segments, *flags),
        environment=service_environment(environment),
        log_path=run_folder / "logs" / "capture.log",
        tell=tell,
    )
    return (capture,)


def remediate_service(
    bus_address: str,
    run_folder: Path,
    control_socket: Path | None,
    listen_fd: int,
    settings: Settings,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
) -> ServiceSpec:
    """The remediation process of a run; it serves REST on the socket that it inherits.

    Without a control socket it only observes.
    """
    from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

    launcher = (
        ("--observe",) if control_socket is None else ("--control-socket", str(control_socket))
    )
    own = ("--serve", "--run-folder", str(run_folder), *launcher)
    flags = setting_flags(settings, {"bus.address": bus_address})
    return ServiceSpec(
        name="remediate",
        command=(*INTERPRETER, "remediate", *own, "--listen-fd", str(listen_fd), *flags),
        environment=service_environment(environment),
        log_path=run_folder / "logs" / "remediate.log",
        pass_fds=(listen_fd,),
        tell=tell,
    )
