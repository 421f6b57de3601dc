"""Everything that can be set about the pattern model; what must hold fails when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

_COUNTS = (
    "block_slots", "memory_blocks", "trust_blocks", "window_slots", "patch_slots", "newest_slots",
    "rotation_slots", "suspect_slots",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PatternSettings:
    """Features, network and decision. Slots are seconds unless the source is slower."""

    block_slots: int = 10
    """What is known of a row's past is brought up to date every so many slots."""
    memory_blocks: int = 60
    """How far back steady differences and scatter are remembered."""
    trust_blocks: int = 6
    """A row's own past counts in full after so many."""
    largest_departure: float = 8.0
    """Departures of one slot are cut off here, in standard deviations."""
    paces: tuple[int, ...] = (3, 12, 48)
    """Time constants of the running means, in slots."""
    window_slots: int = 60
    patch_slots: int = 5
    """The network reads a window in patches of so many slots."""
    newest_slots: int = 15
    """The network's word is of so many newest slots of a window, given all of it: what is over is
    over."""
    hidden: int = 16
    latent: int = 4
    embedding: int = 3
    rotation_slots: int = 30
    """The network looks at every row at least this often …"""
    suspect_slots: int = 5
    """… and at suspects this often."""
    suspect_nats: float = 6.0
    """A row is suspected in a metric that is so odd."""
    ignored_nats: float = 3.0
    """A metric speaks against a row with what it has beyond this."""
    most_nats: float = 12.0
    """One metric says at most so much."""
    most_nats_a_slot: float = 30.0
    """All metrics of a machine together say at most so much in a slot."""
    most_odd_others: int = 2
    """So many other machines may be as odd in one metric at once; what one more shows befalls the
    job, and is held against nobody."""
    most_odd_share: float = 0.2
    """In a small job they are no more than this share of the others."""
    expected_nats: float = 5.0
    """What a healthy machine may have against it in a slot without being suspected."""
    most_evidence_nats: float = 20_000.0
    accused_share: float = 0.25
    """Who has less evidence than this share of the most that anybody has is no culprit."""
    largest_crowd_share: float = 0.34
    """When more machines than this are accused at once, something befalls the job."""
    use_network: bool = True
    use_calibration: bool = True
    """Without, tails are those of a normal distribution."""
    use_own_past: bool = True
    """Without, what a row has long been different by, and by how much it varies, is not known."""
    use_roles: bool = True
    """Without, all rows of the job are each other's peers."""
    add_metrics: bool = True
    """Without, only the oddest metric counts."""

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be 1 or more, not {getattr(self, name)}")
        if self.window_slots % self.patch_slots:
            raise ValueError(
                f"window_slots ({self.window_slots}) must be a multiple of"
                f" patch_slots ({self.patch_slots})"
            )
        if self.newest_slots % self.patch_slots or self.newest_slots > self.window_slots:
            raise ValueError(
                f"newest_slots ({self.newest_slots}) must be a multiple of patch_slots"
                f" ({self.patch_slots}) and in a window ({self.window_slots})"
            )
        if not self.paces or min(self.paces) < 1:
            raise ValueError(f"paces must be 1 or more, not {self.paces}")

    def as_mapping(self) -> dict[str, int | float | str]:
        """Plain values, as an artifact keeps them."""
        return {**asdict(self), "paces": " ".join(map(str, self.paces))}

    @classmethod
    def of(cls, kept: Mapping[str, int | float | str]) -> PatternSettings:
        """Settings from what an artifact keeps; names of newer versions are left out."""
        names = {field.name for field in fields(cls)}
        known = {name: value for name, value in kept.items() if name in names}
        paces = tuple(int(one) for one in str(known.pop("paces", "3 12 48")).split())
        return cls(paces=paces, **known)  # type: ignore[arg-type]
