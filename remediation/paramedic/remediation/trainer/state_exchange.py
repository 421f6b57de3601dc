"""How the members of a new generation agree on one state."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from paramedic.remediation.trainer.errors import StateDamagedError
from paramedic.remediation.trainer.state_encoding import EncodedState, decode_state, encode_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from paramedic.remediation.trainer.protected_state import ProtectedState

_CHUNK_BYTES = 64 * 2**20


def exchange(state: ProtectedState, load_checkpoint: Callable[[], None]) -> None:
    """Bring every member to the newest state that any of them holds.

    The lowest rank with the highest step is the source. When nobody holds state, rank 0 is; it
    loads a checkpoint first, if there is one. Raises GenerationBrokenError, or the RuntimeError
    of a collective, when the generation ends meanwhile.
    """
    steps = _gather_steps(_held_step(state))
    if max(steps) < 0:
        if dist.get_rank() == 0:
            load_checkpoint()
            state.progress.holds_state = True
        steps = _gather_steps(_held_step(state))
    newest = max(steps)
    source = steps.index(newest)
    behind = [rank for rank, step in enumerate(steps) if step != newest]
    if dist.get_rank() == source:
        _send_to_all(state, behind)
    elif dist.get_rank() in behind:
        state.restore(decode_state(_receive(source)))


def _held_step(state: ProtectedState) -> int:
    return state.progress.next_step if state.progress.holds_state else -1


def _gather_steps(step: int) -> list[int]:
    mine = torch.tensor([step], dtype=torch.int64)
    everybody = [torch.zeros_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everybody, mine)
    return [int(one.item()) for one in everybody]


def _send_to_all(state: ProtectedState, behind: list[int]) -> None:
    if not behind:
        return
    encoded = encode_state(state.capture())
    data = _flatten(encoded)
    notice = json.dumps({"bytes": encoded.size_bytes, "sha256": encoded.digest()}).encode()
    for rank in behind:
        _send_notice(notice, rank)
        for chunk in torch.split(data, _CHUNK_BYTES):
            dist.send(chunk, rank)


def _flatten(encoded: EncodedState) -> torch.Tensor:
    data = bytearray(encoded.size_bytes)
    start = 0
    for chunk in encoded.chunks():
        data[start : start + len(chunk)] = chunk
        start += len(chunk)
    return torch.frombuffer(data, dtype=torch.uint8)


def _send_notice(notice: bytes, rank: int) -> None:
    dist.send(torch.tensor([len(notice)], dtype=torch.int64), rank)
    dist.send(torch.frombuffer(bytearray(notice), dtype=torch.uint8), rank)


def _receive(source: int) -> bytearray:
    notice = _receive_notice(source)
    data = bytearray(notice["bytes"])
    for chunk in torch.split(torch.frombuffer(data, dtype=torch.uint8), _CHUNK_BYTES):
        dist.recv(chunk, source)
    digest = hashlib.sha256(data).hexdigest()
    if digest != notice["sha256"]:
        raise StateDamagedError(
            f"the state of {len(data)} bytes from rank {source} has SHA-256 {digest}, "
            f"sent was {notice['sha256']}: it is not used"
        )
    return data


def _receive_notice(source: int) -> dict[str, Any]:
    length = torch.zeros(1, dtype=torch.int64)
    dist.recv(length, source)
    notice = bytearray(int(length.item()))
    dist.recv(torch.frombuffer(notice, dtype=torch.uint8), source)
    parsed: dict[str, Any] = json.loads(notice)
    return parsed
