"""How the members of a new generation agree on one state."""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

import torch

from paramedic.remediation.trainer.errors import StateDamagedError
from paramedic.remediation.trainer.state_encoding import EncodedState, decode_state, encode_state

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch.distributed as dist

    from paramedic.remediation.trainer.protected_state import ProtectedState

_CHUNK_BYTES = 64 * 2**20
_TAG = 0
_NOTICE = struct.Struct("<Q32s")
"""What goes ahead of the state: how many bytes it has, and their SHA-256."""


def exchange(
    group: dist.ProcessGroup, state: ProtectedState, load_checkpoint: Callable[[], None]
) -> None:
    """Bring every member to the newest state that any of them holds.

    The lowest rank with the highest step is the source. When nobody holds state, rank 0 is; it
    loads a checkpoint first, if there is one. Raises GenerationBrokenError, or the RuntimeError
    of a collective, when the generation ends meanwhile.
    """
    steps = _gather_steps(group, state)
    if max(steps) < 0:
        if group.rank() == 0:
            load_checkpoint()
            state.progress.holds_state = True
        steps = _gather_steps(group, state)
    newest = max(steps)
    source = steps.index(newest)
    behind = [rank for rank, step in enumerate(steps) if step != newest]
    if group.rank() == source:
        _send_to_all(group, state, behind)
    elif group.rank() in behind:
        state.restore(decode_state(_receive(group, source)))


def _gather_steps(group: dist.ProcessGroup, state: ProtectedState) -> list[int]:
    held = state.progress.next_step if state.progress.holds_state else -1
    mine = torch.tensor([held], dtype=torch.int64)
    everybody = [torch.zeros_like(mine) for _ in range(group.size())]
    group.allgather([everybody], [mine]).wait()
    return [int(one.item()) for one in everybody]


def _send_to_all(group: dist.ProcessGroup, state: ProtectedState, behind: list[int]) -> None:
    if not behind:
        return
    encoded = encode_state(state.capture())
    data = _flatten(encoded)
    notice = _NOTICE.pack(encoded.size_bytes, bytes.fromhex(encoded.digest()))
    for rank in behind:
        for part in (_tensor_over(bytearray(notice)), *torch.split(data, _CHUNK_BYTES)):
            group.send([part], rank, _TAG).wait()


def _flatten(encoded: EncodedState) -> torch.Tensor:
    data = bytearray(encoded.size_bytes)
    start = 0
    for chunk in encoded.chunks():
        data[start : start + len(chunk)] = chunk
        start += len(chunk)
    return _tensor_over(data)


def _receive(group: dist.ProcessGroup, source: int) -> bytearray:
    notice = bytearray(_NOTICE.size)
    group.recv([_tensor_over(notice)], source, _TAG).wait()
    size, sent = _NOTICE.unpack(notice)
    data = bytearray(size)
    for part in torch.split(_tensor_over(data), _CHUNK_BYTES):
        group.recv([part], source, _TAG).wait()
    got = hashlib.sha256(data).digest()
    if got != sent:
        raise StateDamagedError(
            f"the state of {size} bytes from rank {source} has SHA-256 {got.hex()}, "
            f"sent was {sent.hex()}: it is not used"
        )
    return data


def _tensor_over(data: bytearray) -> torch.Tensor:
    """A view: what is received into the tensor is in the bytes."""
    return torch.frombuffer(data, dtype=torch.uint8)
