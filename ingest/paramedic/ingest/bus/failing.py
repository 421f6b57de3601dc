"""What the fakes of the bus share: they fail when they are told to."""

from __future__ import annotations

from paramedic.ingest.contract import BusUnavailableError


class FailsOnRequest:
    """An in-memory bus that can be made to refuse everything, as an unreachable broker would."""

    _reason: str | None = None

    def fail(self, reason: str) -> None:
        """Refuse everything with this reason until `heal`."""
        self._reason = reason

    def heal(self) -> None:
        """Work again."""
        self._reason = None

    def require_available(self) -> None:
        """Raises BusUnavailableError while the bus is made to fail."""
        if self._reason is not None:
            raise BusUnavailableError(f"the in-memory bus is unavailable: {self._reason}")
