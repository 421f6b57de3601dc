"""The synthetic cluster: any second of it, the same whatever was asked before.

The physics goes from second to second, so that a second far ahead has to be lived up to; snapshots
of the state make going back cheap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice

from paramedic.ingest.recordings.description import JobDescription
from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Influence
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.description import describe
from paramedic.ingest.synthetic.errors import ClusterSettingError
from paramedic.ingest.synthetic.layout import Layout
from paramedic.ingest.synthetic.reading import Second
from paramedic.ingest.synthetic.world import State, World

_SNAPSHOTS = 64
_FIRST_SPACING_SECONDS = 64


class SyntheticCluster:
    """N nodes × G GPUs that train one job.

    Raises ClusterSettingError or UnknownFaultError when the configuration cannot be.
    """

    def __init__(self, config: ClusterConfig, more: Sequence[Influence] = ()) -> None:
        """`more`: influences beside the configured weather and faults."""
        self.config = config
        self._world = World(config, more)
        self._snapshots = _Snapshots(self._world.begin())
        self._next = self._snapshots.before(0)
        self._newest: Second | None = None

    @property
    def layout(self) -> Layout:
        """Names and roles."""
        return self._world.layout

    @property
    def job(self) -> JobDescription:
        """The job as recordings describe it."""
        return describe(self.config, self.layout)

    def second(self, offset: int) -> Second:
        """The second so many after the job's start. Raises ClusterSettingError when negative."""
        if offset < 0:
            raise ClusterSettingError(f"second {offset}: the cluster begins with second 0")
        if self._newest is None or self._newest.offset != offset:
            self._newest = self._live_up_to(offset)
        return self._newest

    def seconds(self, first: int = 0, number: int | None = None) -> Iterator[Second]:
        """Second after second, without end where no number is given."""
        offsets = count(first) if number is None else islice(count(first), number)
        return (self.second(offset) for offset in offsets)

    def arrival_seconds(self, second: Second) -> Floats:
        """How long after the second each node's samples arrive."""
        return self._world.observation.arrival_seconds(second.offset)

    def _live_up_to(self, offset: int) -> Second:
        state = self._next
        if state.offset > offset:
            state = self._snapshots.before(offset)
        while True:
            self._snapshots.keep(state)
            state, second = self._world.live(state)
            if second.offset == offset:
                self._next = state
                return second


class _Snapshots:
    """States at regular distances; when there are too many, every other one goes."""

    def __init__(self, beginning: State) -> None:
        self._states = {beginning.offset: beginning}
        self._spacing = _FIRST_SPACING_SECONDS

    def keep(self, state: State) -> None:
        """Keep the state if its second is one of those that are kept."""
        if state.offset % self._spacing == 0:
            self._states[state.offset] = state
        if len(self._states) > _SNAPSHOTS:
            self._spacing *= 2
            kept = self._states.items()
            self._states = {at: one for at, one in kept if at % self._spacing == 0}

    def before(self, offset: int) -> State:
        """The newest kept state from which the second can be reached."""
        return self._states[max(at for at in self._states if at <= offset)]
