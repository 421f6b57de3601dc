"""What ends a generation, and what a waiting worker is given."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.remediation.trainer.control_messages import Abort, Assign, Stop, SupervisorMessage
from paramedic.remediation.trainer.errors import (
    GenerationBrokenError,
    StopRequestedError,
    SupervisorLostError,
)
from paramedic.remediation.trainer.interruption import Interruption
from paramedic.remediation.trainer.mailbox import Mailbox


def assign(generation: int) -> Assign:
    return Assign(generation, 0, 1, "127.0.0.1", None)


def attached(mailbox: Mailbox, generation: int) -> Interruption:
    interruption = Interruption(generation)
    mailbox.attach(interruption)
    return interruption


def test_an_abort_presses_the_button_of_its_generation() -> None:
    mailbox = Mailbox()
    interruption = attached(mailbox, 4)
    mailbox.deliver(Abort(3))
    assert interruption.cause is None
    mailbox.deliver(Abort(4))
    assert isinstance(interruption.cause, GenerationBrokenError)


def test_an_abort_that_came_before_the_generation_was_entered_still_counts() -> None:
    mailbox = Mailbox()
    mailbox.deliver(assign(2))
    mailbox.deliver(Abort(2))
    assert attached(mailbox, 2).cause is not None


def test_an_assignment_ends_every_older_generation() -> None:
    mailbox = Mailbox()
    interruption = attached(mailbox, 1)
    mailbox.deliver(assign(2))
    assert interruption.cause is not None


def test_a_late_abort_of_an_old_generation_leaves_the_new_one_alone() -> None:
    mailbox = Mailbox()
    mailbox.deliver(assign(5))
    interruption = attached(mailbox, 5)
    mailbox.deliver(Abort(4))
    assert interruption.cause is None


@given(st.lists(st.integers(0, 6).map(assign) | st.integers(0, 6).map(Abort), max_size=12))
def test_only_the_newest_living_generation_is_handed_out(messages: list[SupervisorMessage]) -> None:
    mailbox = Mailbox()
    for message in messages:
        mailbox.deliver(message)
    assigned = [m.generation for m in messages if isinstance(m, Assign)]
    aborted = [m.generation for m in messages if isinstance(m, Abort)]
    newest = max(assigned, default=-1)
    if newest > max(aborted, default=-1):
        assert mailbox.wait_for_assignment(after=-1).generation == newest
    else:
        mailbox.deliver(Stop())
        with pytest.raises(StopRequestedError):
            mailbox.wait_for_assignment(after=-1)


def test_a_waiting_worker_is_woken_by_its_assignment() -> None:
    mailbox = Mailbox()
    got: list[int] = []
    thread = threading.Thread(target=lambda: got.append(mailbox.wait_for_assignment(0).generation))
    thread.start()
    mailbox.deliver(assign(0))
    mailbox.deliver(assign(1))
    thread.join(10)
    assert got == [1]


def test_stop_and_loss_press_the_button_and_end_the_wait() -> None:
    for end, error in ((Mailbox.deliver, StopRequestedError), (Mailbox.lose, SupervisorLostError)):
        mailbox = Mailbox()
        interruption = attached(mailbox, 0)
        end(mailbox, Stop() if error is StopRequestedError else "gone")  # type: ignore[arg-type]
        assert interruption.cause is not None
        with pytest.raises(error):
            mailbox.check()
        with pytest.raises(error):
            mailbox.wait_for_assignment(after=-1)


def test_the_end_of_the_connection_after_a_stop_is_still_a_stop() -> None:
    mailbox = Mailbox()
    mailbox.deliver(Stop())
    mailbox.lose("closed")
    with pytest.raises(StopRequestedError):
        mailbox.check()


def test_a_button_wakes_each_watcher_once_and_no_forgotten_one() -> None:
    interruption = Interruption(0)
    woken: list[str] = []
    interruption.watch(lambda _cause: woken.append("kept"))
    token = interruption.watch(lambda _cause: woken.append("forgotten"))
    interruption.forget(token)
    interruption.press("first")
    interruption.press("second")
    assert woken == ["kept"]
    assert "first" in str(interruption.cause)


def test_nothing_can_start_to_wait_after_the_button_was_pressed() -> None:
    interruption = Interruption(7)
    interruption.press("over")
    with pytest.raises(GenerationBrokenError, match="generation 7 ended: over"):
        interruption.watch(lambda _cause: None)
