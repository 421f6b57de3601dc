"""How far each shard of a large job has come: a slot waits for the shards that are behind.

Shards come over partitions that are read one after another, so after a stall one shard is many
seconds past what has been read of the others, and half of the nodes may be there before them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ShardsSnapshot:
    """The state of ShardProgress."""

    count: int = 1
    floor: int = 0
    newest: Mapping[int, int] = field(default_factory=dict)


class ShardProgress:
    """The newest second of each shard. A job of one shard has nothing to wait for."""

    def __init__(self, patience_seconds: int, snapshot: ShardsSnapshot | None = None) -> None:
        """A shard that is further behind the head of the job than this is not waited for."""
        state = snapshot or ShardsSnapshot()
        self._patience_seconds = patience_seconds
        self._count = state.count
        self._floor = state.floor  # a shard that was not heard of yet is thought to be here
        self._newest = dict(state.newest)

    def snapshot(self) -> ShardsSnapshot:
        """A copy of the state."""
        return ShardsSnapshot(self._count, self._floor, dict(self._newest))

    def hear(self, shard: int, count: int, second: int) -> bool:
        """Note that a shard has come to this second; whether that is news.

        The number of shards is what was said of it with the newest second.
        """
        if count == self._count == 1:
            return False
        if count != self._count and second >= max(self._newest.values(), default=second):
            self._count, self._floor = count, second - 1
            self._newest = {one: at for one, at in self._newest.items() if one < count}
        is_news = second > self._newest.get(shard, self._floor)
        if is_news:
            self._newest[shard] = second
        return is_news

    def bounded(self, head: int) -> int:
        """The head of the job, or of its slowest shard that is waited for."""
        if self._count == 1:
            return head
        reached = (self._newest.get(shard, self._floor) for shard in range(self._count))
        oldest = head - self._patience_seconds
        return min((second for second in reached if oldest <= second < head), default=head)
