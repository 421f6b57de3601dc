"""How many recoveries may follow each other without progress."""

from __future__ import annotations


class RetryBudget:
    """Counts recoveries since the job last got further than ever before."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._spent = 0

    @property
    def spent(self) -> int:
        """Recoveries since the last progress."""
        return self._spent

    def in_vain(self, one: str, many: str, outcome: str) -> str:
        """Why none is left, such as `1 recovery brought no progress`, `no recovery is allowed`."""
        if self._limit == 0:
            return f"no {one} is allowed"
        return f"{self._spent} {one if self._spent == 1 else many} {outcome}"

    def spend(self) -> bool:
        """Take one recovery; False when none is left."""
        if self._spent >= self._limit:
            return False
        self._spent += 1
        return True

    def made_progress(self) -> None:
        """Every rank committed a step that had never been done."""
        self._spent = 0
