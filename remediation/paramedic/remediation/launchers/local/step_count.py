"""Which steps are known to be done, and how many a recovery had to do again.

`steps_lost` of a generation is the newest step known to be committed in any older one, plus one,
less the first step that the new generation committed (the lowest over its ranks), and never below
zero. It is 0 when training went on with the interrupted step, whether that step was tried again by
all or had been committed by some. What is known comes from `committed`, from the `step` that
`failed` may carry, and from `finished`.
"""

from __future__ import annotations


class StepCount:
    """The newest committed step of the job and the first ones of the running generation."""

    def __init__(self) -> None:
        self._newest: int | None = None
        self._newest_before: int | None = None
        self._first_by_rank: dict[int, int] = {}

    @property
    def has_any(self) -> bool:
        """Whether any rank has ever committed a step."""
        return self._newest is not None

    @property
    def newest(self) -> int | None:
        """The newest step that any rank is known to have committed."""
        return self._newest

    @property
    def first_step(self) -> int:
        """The lowest first step of the running generation; only once a rank has committed."""
        return min(self._first_by_rank.values())

    @property
    def steps_lost(self) -> int:
        """Steps that had been committed and were done again in the running generation."""
        if self._newest_before is None:
            return 0
        return max(0, self._newest_before + 1 - self.first_step)

    @property
    def went_further(self) -> bool:
        """Whether the running generation began with a step that no older one had done."""
        return self._newest_before is None or self.first_step > self._newest_before

    def start_generation(self) -> None:
        """A new generation begins: nobody has committed in it."""
        self._newest_before = self._newest
        self._first_by_rank = {}

    def saw(self, step: int) -> None:
        """Some worker has committed this step, in whichever generation."""
        self._newest = step if self._newest is None else max(self._newest, step)

    def saw_before(self, step: int) -> None:
        """A worker committed this step in an older generation, and it is known only now."""
        self.saw(step)
        before = self._newest_before
        self._newest_before = step if before is None else max(before, step)

    def committed(self, rank: int, step: int) -> int:
        """A rank's first step of the running generation; how many ranks have one now."""
        self.saw(step)
        self._first_by_rank.setdefault(rank, step)
        return len(self._first_by_rank)
