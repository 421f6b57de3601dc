"""The door of the trainer library: `join` in place of `dist.init_process_group`.

    from paramedic.remediation.trainer import session

    job = session.join("gloo")
    …                                       # model, DistributedDataParallel, optimizer as usual
    job.protect(model=model, optimizer=optimizer, scheduler=scheduler)

    @job.attempt
    def train_step(step): …                 # returns the loss

    for step in job.steps(1000):
        train_step(step)

Rank and world size can change from step to step, so ask `torch.distributed` for them inside the
step. Collectives belong before the optimizer's step: what fails after it costs the state.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from typing import TYPE_CHECKING

import torch.distributed as dist

from paramedic.remediation.trainer import control_messages
from paramedic.remediation.trainer.checkpoint_files import CheckpointFolder
from paramedic.remediation.trainer.checkpoints import Checkpoints
from paramedic.remediation.trainer.collective_log import CollectiveLog
from paramedic.remediation.trainer.control import ControlConnection, connect
from paramedic.remediation.trainer.environment import WorkerEnvironment, read_environment
from paramedic.remediation.trainer.errors import SetupError
from paramedic.remediation.trainer.mailbox import Mailbox
from paramedic.remediation.trainer.membership import Membership
from paramedic.remediation.trainer.step_meter import StepMeter
from paramedic.remediation.trainer.step_times import SecondOfSteps
from paramedic.remediation.trainer.supervised import Parts, SupervisedSession
from paramedic.remediation.trainer.telemetry import DatagramChannel, Telemetry
from paramedic.remediation.trainer.unsupervised import UnsupervisedSession
from paramedic.remediation.trainer.world import World

if TYPE_CHECKING:
    from collections.abc import MutableMapping

_SUPPORTED = "gloo"


def join(
    backend: str = _SUPPORTED, variables: MutableMapping[str, str] = os.environ
) -> SupervisedSession | UnsupervisedSession:
    """Join the job that this process was started for.

    Without a supervisor this is `dist.init_process_group(backend)`. With one, the process is in a
    world of its own until its first attempt. Raises SetupError when it cannot be supervised.
    """
    worker = read_environment(variables)
    if worker is None:
        dist.init_process_group(backend)
        return UnsupervisedSession()
    if backend != _SUPPORTED:
        raise SetupError(
            f"join({backend!r}): only {_SUPPORTED!r} can be supervised so far; use it, or start "
            "the script without `paramedic run`"
        )
    return _supervised(worker, variables)


def _supervised(
    worker: WorkerEnvironment, variables: MutableMapping[str, str]
) -> SupervisedSession:
    mailbox = Mailbox()
    control = connect(worker.control_socket, mailbox)
    session = SupervisedSession(_assemble(worker, variables, mailbox, control))
    atexit.register(_close, session)
    control.send(control_messages.hello(worker.node, os.getpid()))
    control.start()
    return session


def _close(session: SupervisedSession) -> None:
    # The interpreter sets `last_value` before anything at exit, for an error that nobody caught.
    session.close(getattr(sys, "last_value", None))


def _assemble(
    worker: WorkerEnvironment,
    variables: MutableMapping[str, str],
    mailbox: Mailbox,
    control: ControlConnection,
) -> Parts:
    world, log, second = World(), CollectiveLog(time.monotonic), SecondOfSteps()
    membership = Membership(control, mailbox, world, log)
    membership.stay_alone()
    telemetry = _telemetry(worker, second)
    if telemetry is not None:
        telemetry.start()
    return Parts(
        worker=worker,
        variables=variables,
        mailbox=mailbox,
        control=control,
        world=world,
        membership=membership,
        meter=StepMeter(time.monotonic, log, second),
        second=second,
        telemetry=telemetry,
        checkpoints=_checkpoints(worker, control),
    )


def _telemetry(worker: WorkerEnvironment, second: SecondOfSteps) -> Telemetry | None:
    if worker.telemetry_socket is None:
        return None
    channel = DatagramChannel(worker.telemetry_socket)
    return Telemetry(worker.job, worker.node, second, channel, time.time)


def _checkpoints(worker: WorkerEnvironment, control: ControlConnection) -> Checkpoints | None:
    if worker.checkpoint_folder is None:
        return None
    return Checkpoints(
        CheckpointFolder(worker.checkpoint_folder),
        worker.checkpoint_interval_seconds,
        time.monotonic,
        control.send,
    )
