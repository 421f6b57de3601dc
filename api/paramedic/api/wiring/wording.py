"""Numbers with their nouns, as every part has them."""

from __future__ import annotations

from paramedic.ingest.wording import counted

__all__ = ["counted"]
