"""Everything that can go wrong inside the trainer library."""

from __future__ import annotations


class TrainerError(Exception):
    """Base of the trainer library's errors.

    TrainerError
    ├── SetupError                  stop: this script or environment cannot be supervised
    ├── StateEncodingError          stop: the protected state holds something that cannot travel
    ├── ControlMessageError         a line on the control socket is not a message
    ├── CheckpointError             a checkpoint file cannot be used; an older one may
    ├── GenerationBrokenError       try again in the next generation
    │   └── StateDamagedError       the state arrived with another digest than it was sent with
    └── LeaveError                  leave the step loop now
        ├── StopRequestedError      the supervisor asked for it
        └── SupervisorLostError     the supervisor is gone
    """


class SetupError(TrainerError):
    """This script or environment cannot be supervised; the message says what to change."""


class StateEncodingError(TrainerError):
    """The protected state holds something that cannot be written; the message says where."""


class ControlMessageError(TrainerError):
    """A line on the control socket is not a message of the protocol."""


class CheckpointError(TrainerError):
    """A checkpoint file cannot be used; the message says which and why."""


class GenerationBrokenError(TrainerError, RuntimeError):
    """A generation ended while this process was part of it or joining it.

    Also a RuntimeError, because that is what torch.distributed raises in the same place.
    """


class StateDamagedError(GenerationBrokenError):
    """The state that a peer sent has another digest than the peer computed."""


class LeaveError(TrainerError):
    """The step loop must be left now."""


class StopRequestedError(LeaveError):
    """The supervisor sent `stop`."""


class SupervisorLostError(LeaveError):
    """The control connection ended without a `stop`."""
