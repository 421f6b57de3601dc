"""Tables of text, and how figures are written in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

UNKNOWN = "-"


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Lines with their cells below each other.

    >>> list(aligned([("a", "bb"), ("ccc", "d")]))
    ['a    bb', 'ccc  d']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def seconds(value: float | None) -> str:
    """Whole seconds."""
    return UNKNOWN if value is None else f"{value:.0f} s"


def share(value: float | None) -> str:
    """A ratio."""
    return UNKNOWN if value is None else f"{value:.2f}"


def finely(value: float | None) -> str:
    """A ratio of which small differences matter."""
    return UNKNOWN if value is None else f"{value:.3f}"
