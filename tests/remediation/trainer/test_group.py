"""Every wait inside a generation ends at once when the generation ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
import torch
import torch.distributed as dist

from paramedic.remediation.trainer.collective_log import CollectiveLog
from paramedic.remediation.trainer.errors import GenerationBrokenError, SetupError
from paramedic.remediation.trainer.interruptible_group import InterruptibleGroup
from paramedic.remediation.trainer.staging import stage
from remediation.trainer.groups import connected_group

_AT_ONCE_SECONDS = 5.0


@pytest.fixture
def pair() -> Iterator[list[InterruptibleGroup]]:
    members = connected_group(2)
    yield members
    for member in members:
        member.retire().join(30)


def outcome_of(wait: Callable[[], object]) -> tuple[threading.Thread, list[BaseException | None]]:
    """Run something that waits in a thread, and keep how it ended."""
    outcome: list[BaseException | None] = []

    def run() -> None:
        try:
            wait()
        except RuntimeError as error:
            outcome.append(error)
        else:
            outcome.append(None)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome


def test_a_sum_reaches_every_member(pair: list[InterruptibleGroup]) -> None:
    tensors = [torch.tensor([1.0]), torch.tensor([2.0])]
    works = [member.allreduce([tensor]) for member, tensor in zip(pair, tensors, strict=True)]
    for work in works:
        assert work.wait()
    assert [tensor.item() for tensor in tensors] == [3.0, 3.0]
    assert [work.get_future().wait()[0].item() for work in works] == [3.0, 3.0]


def test_a_message_reaches_its_member(pair: list[InterruptibleGroup]) -> None:
    got = torch.zeros(3)
    receiving = pair[1].recv([got], 0, 0)
    pair[0].send([torch.ones(3)], 1, 0).wait()
    receiving.wait()
    assert got.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "begin",
    [
        lambda group: group.allreduce([torch.zeros(1000)]),
        lambda group: group.recv([torch.zeros(4)], 1, 0),
        lambda group: group.barrier(dist.BarrierOptions()),
    ],
    ids=["allreduce", "recv", "barrier"],
)
def test_the_button_wakes_a_member_that_waits_for_an_absent_one(
    pair: list[InterruptibleGroup], begin: Callable[[InterruptibleGroup], dist.Work]
) -> None:
    thread, outcome = outcome_of(begin(pair[0]).wait)
    pair[0].interruption.press("the other one died")
    thread.join(_AT_ONCE_SECONDS)
    assert isinstance(outcome[0], GenerationBrokenError)


def test_the_peers_of_a_member_that_gave_up_see_it_too(pair: list[InterruptibleGroup]) -> None:
    thread, outcome = outcome_of(pair[1].allreduce([torch.zeros(10)]).wait)
    pair[0].interruption.press("gave up")
    thread.join(_AT_ONCE_SECONDS)
    assert isinstance(outcome[0], GenerationBrokenError)


def test_half_a_message_keeps_nobody_waiting(pair: list[InterruptibleGroup]) -> None:
    # More than the sockets hold, to a receiver that asks for it and then goes away.
    megabytes = torch.ones(8 * 2**20)
    sending, sent = outcome_of(pair[0].send([megabytes], 1, 0).wait)
    receiving, received = outcome_of(pair[1].recv([torch.empty_like(megabytes)], 0, 0).wait)
    pair[1].interruption.press("died in the middle")
    receiving.join(_AT_ONCE_SECONDS)
    pair[0].interruption.press("the supervisor ended it")
    sending.join(_AT_ONCE_SECONDS)
    assert [len(received), len(sent)] == [1, 1]


def test_a_future_of_an_ended_generation_carries_an_error(pair: list[InterruptibleGroup]) -> None:
    future = pair[0].allreduce([torch.zeros(1)]).get_future()
    pair[0].interruption.press("over")
    with pytest.raises(RuntimeError, match="generation 0 ended: over"):
        future.wait()


def test_an_ended_generation_never_writes_to_the_caller_s_tensors(
    pair: list[InterruptibleGroup],
) -> None:
    mine, theirs = torch.tensor([1.0]), torch.tensor([2.0])
    work = pair[0].allreduce([mine])
    pair[0].interruption.press("over")
    with pytest.raises(RuntimeError):
        pair[1].allreduce([theirs]).wait()
    with pytest.raises(GenerationBrokenError):
        work.wait()
    assert (mine.item(), theirs.item()) == (1.0, 2.0)


def test_nothing_new_can_begin_in_an_ended_generation(pair: list[InterruptibleGroup]) -> None:
    pair[0].interruption.press("over")
    with pytest.raises(GenerationBrokenError):
        pair[0].allreduce([torch.zeros(1)])


def test_bytes_and_times_are_noted() -> None:
    now = iter([10.0, 10.5, 11.0, 14.0])
    log = CollectiveLog(lambda: next(now))
    first = log.begin(100)
    second = log.begin(20)
    log.end(first)
    log.end(second)
    times = log.drain()
    assert times.durations_seconds == (1.0, 3.5)
    assert times.exposed_seconds == 3.5
    assert times.bytes_carried == 120
    assert log.drain().bytes_carried == 0


def test_results_go_to_the_caller_s_tensors_only_on_delivery() -> None:
    outputs, source = [[torch.zeros(2), torch.zeros(2)]], [torch.ones(2)]
    staged = stage((outputs, source), outputs)
    staged.arguments[0][0][1].fill_(5)
    assert outputs[0][1].tolist() == [0, 0]
    staged.deliver()
    assert outputs[0][1].tolist() == [5, 5]
    assert staged.size_bytes == 3 * 8


def test_a_tensor_elsewhere_than_in_memory_is_refused() -> None:
    with pytest.raises(SetupError, match="tensor on meta"):
        stage(([torch.zeros(1, device="meta")],), [])
