"""Which page is asked for, and what stands on it at this moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor

from paramedic.ingest.synthetic.cluster import SyntheticCluster
from paramedic.ingest.synthetic.exposition.dialects import Dialect
from paramedic.ingest.synthetic.exposition.gpu_page import Attribution, GpuPages
from paramedic.ingest.synthetic.exposition.node_page import NodePages
from paramedic.ingest.synthetic.reading import Second
from paramedic.ingest.synthetic.serving.addresses import GPU_PAGE, NODE_PAGE


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request gets."""

    status: int
    body: bytes


_UNKNOWN = Answer(404, b"no such page\n")
_AWAY = Answer(503, b"the exporter does not answer in this second\n")


class Pages:
    """All pages of the cluster; each is rendered at most once a second, when it is asked for.

    The page that is asked for in some second of the clock carries the readings of that second.
    """

    def __init__(
        self,
        cluster: SyntheticCluster,
        dialect: Dialect,
        attribution: Attribution,
        clock: Callable[[], float],
        speed: float = 1.0,
    ) -> None:
        config = cluster.config
        self._cluster = cluster
        self._gpu_pages = GpuPages(config, cluster.layout, dialect, attribution)
        self._node_pages = NodePages(config, cluster.layout)
        self._numbers: dict[str, int] = {
            name: number for number, name in enumerate(cluster.layout.nodes)
        }
        self._clock = clock
        self._speed = speed
        self._started = clock()
        self._rendered: dict[tuple[int, str], Answer] = {}
        self._offset = -1

    def answer(self, path: str, node: str | None = None) -> Answer:
        """The page at a path; `node` where the port has told it already."""
        path = path.partition("?")[0]
        if node is None:
            node, _, rest = path.removeprefix("/").partition("/")
            path = "/" + rest
        number = self._numbers.get(node)
        if number is None or path not in (GPU_PAGE, NODE_PAGE):
            return _UNKNOWN
        second = self._current()
        key = number, path
        if key not in self._rendered:
            self._rendered[key] = self._render(second, number, path)
        return self._rendered[key]

    def _current(self) -> Second:
        now = self._started + (self._clock() - self._started) * self._speed
        offset = max(0, self._offset, floor(now) - self._cluster.config.first_second)
        if offset != self._offset:
            self._offset = offset
            self._rendered.clear()
        return self._cluster.second(offset)

    def _render(self, second: Second, number: int, path: str) -> Answer:
        seen = second.sight.gpu_page if path == GPU_PAGE else second.sight.node_page
        if not seen[number]:
            return _AWAY
        pages = self._gpu_pages if path == GPU_PAGE else self._node_pages
        return Answer(200, pages.render(second, number).encode())
