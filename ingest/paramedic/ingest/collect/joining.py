"""Puts pieces of a table together: one table an entity, the union of their columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from paramedic.ingest.contract import Entity, Table

if TYPE_CHECKING:
    from paramedic.ingest.contract import NodeName

_RowName = tuple["NodeName", int | None]


def joined(pieces: Sequence[Table]) -> tuple[Table, ...]:
    """One table for each entity, by its name; columns that a piece lacks are NaN there.

    A row that several pieces have is one row: the first value of each metric that is there stays.
    """
    by_entity: dict[Entity, list[Table]] = {}
    for piece in pieces:
        by_entity.setdefault(piece.entity, []).append(piece)
    return tuple(_one(by_entity[entity]) for entity in sorted(by_entity))


def _one(pieces: Sequence[Table]) -> Table:
    if len(pieces) == 1:
        return pieces[0]
    names = [name for piece in pieces for name in _rows(piece)]
    if len(set(names)) < len(names):
        return _merged(pieces, names)
    metrics = dict.fromkeys(metric for piece in pieces for metric in piece.columns)
    return Table(
        entity=pieces[0].entity,
        nodes=tuple(chain.from_iterable(piece.nodes for piece in pieces)),
        indices=None
        if pieces[0].indices is None
        else tuple(chain.from_iterable(piece.indices or () for piece in pieces)),
        columns={metric: _column(pieces, metric) for metric in metrics},
    )


def _column(pieces: Iterable[Table], metric: str) -> tuple[float, ...]:
    return tuple(
        chain.from_iterable(
            piece.columns[metric] if metric in piece.columns else (math.nan,) * len(piece.nodes)
            for piece in pieces
        )
    )


def _merged(pieces: Sequence[Table], names: Sequence[_RowName]) -> Table:
    """Pieces that share rows, as two exporters of one host do."""
    place = {name: at for at, name in enumerate(dict.fromkeys(names))}
    columns: dict[str, list[float]] = {}
    for piece in pieces:
        places = [place[name] for name in _rows(piece)]
        for metric, values in piece.columns.items():
            column = columns.setdefault(metric, [math.nan] * len(place))
            for at, value in zip(places, values, strict=True):
                column[at] = value if math.isnan(column[at]) else column[at]
    return Table(
        entity=pieces[0].entity,
        nodes=tuple(node for node, _ in place),
        indices=None if pieces[0].indices is None else tuple(index or 0 for _, index in place),
        columns={metric: tuple(values) for metric, values in columns.items()},
    )


def _rows(piece: Table) -> Iterable[_RowName]:
    return zip(piece.nodes, piece.indices or (None,) * len(piece.nodes), strict=True)
