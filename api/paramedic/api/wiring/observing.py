"""What somebody outside a run needs: its processes, its bus and its launcher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.api.wiring.service_commands import INTERPRETER, service_environment
from paramedic.ingest.contract import JobName, Start, Subscription, TelemetryBatch, Topic

if TYPE_CHECKING:
    from paramedic.remediation.launchers.local.child_process import ChildProcess
    from paramedic.remediation.launchers.port import Placement


def start_verb(
    arguments: Sequence[str], log_path: Path, environment: Mapping[str, str]
) -> ChildProcess:
    """Start one of our verbs as a child whose end follows ours. For the main thread.

    Raises LauncherSetupError when that cannot be done.
    """
    from paramedic.remediation.launchers.local.child_process import ProcessSpec, start_process

    return start_process(
        ProcessSpec(
            command=(*INTERPRETER, *arguments),
            environment=service_environment(environment),
            log_path=log_path,
        )
    )


def subscribe_to_all(bus_address: str) -> Subscription:
    """Telemetry, events and verdicts from the oldest on. Raises BusError."""
    from paramedic.ingest.bus.address import open_bus

    topics = (Topic.TELEMETRY, Topic.EVENTS, Topic.VERDICTS)
    return open_bus(bus_address).subscribe(topics, Start.EARLIEST)


def read_batch(payload: bytes) -> TelemetryBatch:
    """The telemetry batch of a message. Raises ContractError when it is none."""
    from paramedic.ingest.batch.json_form import read_batch as read_either_form

    return read_either_form(payload)


def placements(control_socket: Path, job: str) -> tuple[Placement, ...]:
    """Who carries which rank now. Raises LauncherUnavailableError."""
    from paramedic.remediation.launchers.local.client import LocalLauncher

    return LocalLauncher(control_socket).observe(JobName(job))
