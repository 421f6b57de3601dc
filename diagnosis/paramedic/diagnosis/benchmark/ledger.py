"""The ledger of results: a folder in which a run that was killed goes on where it stopped.

    run.json         what was drawn; another draw is refused
    episodes.jsonl   the facts of each episode that was lived
    results.jsonl    one line for each episode × detector

A line that was cut off by the end of its writer counts as not written, and so does a result that
another version of its detector made.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from paramedic.diagnosis.benchmark.episodes import Facts
from paramedic.diagnosis.benchmark.errors import ResultsError
from paramedic.diagnosis.benchmark.results import Result
from paramedic.ingest.contract import why_not
from paramedic.ingest.drafts import reason_of, remedy_for, write_text
from paramedic.ingest.folder_lock import LOCK_FILE
from paramedic.ingest.some_names import some_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import TypeVar

    Kept = TypeVar("Kept")

_RUN, _EPISODES, _RESULTS = "run.json", "episodes.jsonl", "results.jsonl"
REPORT_FILES = ("report.json", "report.txt")
"""What is told at the end lies there as well."""
_OWN = {_RUN, _EPISODES, _RESULTS, *REPORT_FILES, LOCK_FILE}
_MADE_BY = "made_by"
_UNREADABLE = (KeyError, TypeError, ValueError, IndexError)


class ResultsLedger:
    """Reads and appends; one process writes at a time."""

    def __init__(
        self,
        folder: Path,
        drawn: Mapping[str, object],
        makers: Mapping[str, str] | None = None,
    ) -> None:
        """Open the folder or make it; `drawn` must be the same for results to be comparable.

        `makers`: for each detector what tells its version from others (`provenance`). Raises
        ResultsError when the folder holds another run, or cannot be used.
        """
        self._folder = folder
        self._makers = makers or {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._claim(json.dumps(drawn, sort_keys=True))
        except OSError as error:
            raise ResultsError(
                f"{folder} cannot be used for results: {reason_of(error)}:"
                f" {remedy_for(error, 'name another folder')}"
            ) from error
        self.facts: dict[str, Facts] = {}
        self.results: dict[tuple[str, str], Result] = {}
        for facts in self._read(_EPISODES, Facts.from_json):
            self.facts[facts.name] = facts
        self._outdated: set[tuple[str, str]] = set()
        for result, maker in self._read(_RESULTS, _with_maker):
            key = (result.episode, result.detector)
            if maker == self._maker(result):
                self.results[key] = result
            else:
                self._outdated.add(key)

    @property
    def outdated(self) -> list[str]:
        """Detectors of which there are results that another version made, and none instead."""
        return sorted({detector for _episode, detector in self._outdated - self.results.keys()})

    def has(self, episode: str, detector: str) -> bool:
        """Whether the detector has examined the episode."""
        return episode in self.facts and (episode, detector) in self.results

    def add(self, facts: Facts, results: Iterable[Result]) -> None:
        """Keep what came of an episode. Raises ResultsError when it cannot be written."""
        if facts.name not in self.facts:
            self._append(_EPISODES, [facts.to_json()])
            self.facts[facts.name] = facts
        new = list(results)
        self._append(_RESULTS, [self._signed(result) for result in new])
        self.results.update({(one.episode, one.detector): one for one in new})

    def _signed(self, result: Result) -> Mapping[str, object]:
        return {**result.to_json(), _MADE_BY: self._maker(result)}

    def _maker(self, result: Result) -> str:
        return self._makers.get(result.detector, "")

    def _claim(self, drawn: str) -> None:
        file = self._folder / _RUN
        if not file.exists():
            self._require_own()
            write_text(file, drawn + "\n")
        elif _text(file).strip() != drawn:
            raise ResultsError(
                f"{self._folder} holds the results of another run ({file.name} differs from what "
                f"is asked for now: {drawn}): name another folder, or remove that one"
            )

    def _require_own(self) -> None:
        """Nothing of somebody else's lies there."""
        foreign = sorted({one.name for one in self._folder.iterdir()} - _OWN)
        if foreign:
            raise ResultsError(
                f"{self._folder} holds something else ({some_names(foreign)}) and no results: name"
                " a new or an empty folder"
            )

    def _append(self, name: str, lines: Iterable[Mapping[str, object]]) -> None:
        file = self._folder / name
        try:
            with file.open("a", encoding="utf-8") as out:
                out.write("".join(json.dumps(line) + "\n" for line in lines))
        except OSError as error:
            raise ResultsError(
                f"{file} cannot be written: {reason_of(error)}: {remedy_for(error, 'allow it')},"
                " and call the same again: it goes on where it stopped"
            ) from error

    def _read(self, name: str, parse: Callable[[Mapping[str, Any]], Kept]) -> Iterator[Kept]:
        file = self._folder / name
        if not file.exists():
            return
        whole = _without_cut_line(file)
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                yield parse(json.loads(line))
            except _UNREADABLE as error:
                raise ResultsError(
                    f"{file}, line {number} is none of this benchmark's: {why_not(error)}: remove"
                    " the line, and its episode is examined again"
                ) from error


def _with_maker(fields: Mapping[str, Any]) -> tuple[Result, str]:
    return Result.from_json(fields), str(fields.get(_MADE_BY, ""))


def _without_cut_line(file: Path) -> str:
    """The file's whole lines; a cut-off end is taken away, so that the next line starts afresh."""
    text = _text(file)
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        write_text(file, whole)
    return whole


def _text(file: Path) -> str:
    """What the file says. Raises ResultsError when it cannot be read, or is no text."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"{file} cannot be read: {error}: name another folder") from error
