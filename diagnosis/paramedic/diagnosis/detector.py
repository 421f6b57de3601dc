"""The detector of one job: settings build it, messages go in, verdicts come out.

    DetectorConfig ──build──▶ JobDetector ──snapshot──▶ DetectorSnapshot ──resume──▶ JobDetector

Silence is judged at the frontier, by what has arrived; ranks in slots of which all of them have
told; machines in closed slots, one after the other; exits by their event. Every message is judged
by itself, so that it makes no difference in which portions messages are fetched.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.admission import Admission
from paramedic.diagnosis.application.settings import ApplicationSettings
from paramedic.diagnosis.application.watch import ApplicationWatch
from paramedic.diagnosis.detector_state import DetectorState
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.downfall import Around
from paramedic.diagnosis.exits import ending_of
from paramedic.diagnosis.explanation.ending import waits_for
from paramedic.diagnosis.explanation.inspecting import Inspection
from paramedic.diagnosis.explanation.ranks import RankEvidence
from paramedic.diagnosis.finding import moment
from paramedic.diagnosis.flight_recorder.watch import JobNow
from paramedic.diagnosis.history.fleet import FleetHistory
from paramedic.diagnosis.history.settings import HistorySettings
from paramedic.diagnosis.history.watch import FailureHistory
from paramedic.diagnosis.job_end import close_after_end, judge_end
from paramedic.diagnosis.job_judging import JobJudging
from paramedic.diagnosis.joining import acquit_joined
from paramedic.diagnosis.known_errors.reading import shipped_known_errors
from paramedic.diagnosis.known_errors.settings import KnownErrorSettings
from paramedic.diagnosis.known_errors.watch import KnownErrorWatch
from paramedic.diagnosis.liveness import Liveness
from paramedic.diagnosis.machine_events import judge_machine_event
from paramedic.diagnosis.machines import KINDS, MachineWatch
from paramedic.diagnosis.maintenance.plan import MaintenancePlan, MaintenanceSettings
from paramedic.diagnosis.maintenance.rows import without_nodes
from paramedic.diagnosis.onlooker import NOBODY
from paramedic.diagnosis.pace import Pace
from paramedic.diagnosis.picture import JobPicture
from paramedic.diagnosis.rank_judging import RankJudging, RankMemory
from paramedic.diagnosis.roles import JobRoles
from paramedic.diagnosis.settings import (
    DepartureSettings,
    SilenceSettings,
    StandstillSettings,
    StragglerSettings,
)
from paramedic.diagnosis.sight import JobSight
from paramedic.diagnosis.silence import SilenceWatch
from paramedic.diagnosis.silent_together import SilentTogether
from paramedic.diagnosis.speed import JobSpeed
from paramedic.diagnosis.stand import judge_stand
from paramedic.diagnosis.standstill import StandstillWatch
from paramedic.diagnosis.straggler import StragglerWatch
from paramedic.ingest.contract import Entity, EventKind
from paramedic.ingest.windows.configuration import WindowConfig
from paramedic.ingest.windows.job import JobWindows
from paramedic.models.peer_deviation import PeerDeviationConfig

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from paramedic.diagnosis.contract import Verdict
    from paramedic.diagnosis.excuses import Hold
    from paramedic.diagnosis.explanation.standing import Standing
    from paramedic.diagnosis.known_errors.entry import KnownErrors
    from paramedic.diagnosis.onlooker import Onlooker
    from paramedic.ingest.contract import Event, JobName, NodeName, TelemetryBatch, Window
    from paramedic.ingest.windows.snapshot import WindowsSnapshot


@dataclass(frozen=True, slots=True)
class DetectorConfig:
    """Settings of the first detector; `build` makes one for a job."""

    windows: WindowConfig = field(default_factory=WindowConfig)
    model: PeerDeviationConfig = field(default_factory=PeerDeviationConfig)
    silence: SilenceSettings = field(default_factory=SilenceSettings)
    standstill: StandstillSettings = field(default_factory=StandstillSettings)
    straggler: StragglerSettings = field(default_factory=StragglerSettings)
    departure: DepartureSettings = field(default_factory=DepartureSettings)
    application: ApplicationSettings = field(default_factory=ApplicationSettings)
    known_error: KnownErrorSettings = field(default_factory=KnownErrorSettings)
    known_errors: KnownErrors = field(default_factory=shipped_known_errors)
    history: HistorySettings = field(default_factory=HistorySettings)
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)

    def build(
        self, job: JobName, onlooker: Onlooker = NOBODY, fleet: FleetHistory | None = None
    ) -> JobDetector:
        """A detector that has seen nothing yet; `fleet` is what is known of other jobs' nodes."""
        history = FailureHistory(job, fleet or FleetHistory(self.history))
        state = self.beginning(job, history)
        return JobDetector(self, JobWindows(self.windows, job), state, onlooker)

    def beginning(
        self,
        job: JobName,
        history: FailureHistory | None = None,
        plan: MaintenancePlan | None = None,
    ) -> DetectorState:
        """What a detector knows at first; what is given outlives a run of its job."""
        history = history or FailureHistory(job, FleetHistory(self.history))
        plan = plan or MaintenancePlan(self.maintenance)
        pace, application = Pace(), ApplicationWatch(self.application)
        speed = JobSpeed(pace, application)
        picture, sight, roles = JobPicture(maintenance=plan), JobSight(), JobRoles(job)
        company = SilentTogether(sight, roles, picture)
        gate = Admission(plan, history.odds_factor, speed.left, company.joined)
        return DetectorState(
            history=history,
            picture=picture,
            liveness=Liveness(self.silence.clock_tolerance_seconds),
            ranks=RankMemory(StragglerWatch(self.straggler)),
            docket=Docket(job, gate),
            roles=roles,
            sight=sight,
            company=company,
            machines=MachineWatch(self.departure),
            application=application,
            pace=pace,
            slot_seconds=self.windows.sampling_seconds,
        )

    def resume(self, snapshot: DetectorSnapshot) -> JobDetector:
        """Go on where a snapshot was taken; the settings must be those it was taken with."""
        config = replace(self.windows, sampling_seconds=snapshot.state.slot_seconds)
        windows = JobWindows.resume(config, snapshot.windows)
        return JobDetector(self, windows, copy.deepcopy(snapshot.state))


@dataclass(frozen=True, slots=True)
class DetectorSnapshot:
    """The whole of a detector at one moment; nothing in it is shared with the detector."""

    windows: WindowsSnapshot
    state: DetectorState


class JobDetector:
    """Process exits, known errors, silence, stragglers and departed machines of one job."""

    name = "paramedic"

    def __init__(
        self,
        config: DetectorConfig,
        windows: JobWindows,
        state: DetectorState,
        onlooker: Onlooker = NOBODY,
    ) -> None:
        self._onlooker = onlooker
        self._config = config
        self._windows = windows
        self._state = state
        self._ranks = RankJudging(config.straggler, config.model.build())
        self._silence = SilenceWatch(config.silence)
        self._job = JobJudging(
            self._silence,
            StandstillWatch(config.standstill, self._silence),
            config.standstill.telemetry_timeout_seconds,
        )
        self._known_errors = KnownErrorWatch(config.known_errors, config.known_error)

    def snapshot(self) -> DetectorSnapshot:
        """A copy of the whole state."""
        return DetectorSnapshot(self._windows.snapshot(), copy.deepcopy(self._state))

    def accept(self, batch: TelemetryBatch, arrived_seconds: float) -> tuple[Verdict, ...]:
        """Take a batch in; returns what it decides.

        Raises ForeignBatchError when the batch is of another job or does not hold together.
        """
        away = self._state.picture.in_maintenance(batch.second)
        self._windows.accept(without_nodes(batch, away), arrived_seconds)
        self._onlooker.see(batch)
        self._state.picture.see(batch.second, batch.generation)
        self._state.sight.see(batch)
        self._state.liveness.observe(batch, self._state.picture.departed)
        verdicts = [*self._job.judge(batch.second, self._state)]
        if self._state.downfall.endings:
            verdicts.extend(self._state.downfall.tick(self._state.sight.head, self._around()))
        if self._state.picture.finished and self._state.docket.open:
            verdicts.extend(close_after_end(moment(self._state.sight.head), self._state))
        if self._state.recorder.held or self._state.docket.open:
            verdicts.extend(self._judge_recorder())
        verdicts.extend(self._state.history.see(batch, self._state.docket))
        for second in self._windows.advance(arrived_seconds):
            verdicts.extend(self._judge_slot(second))
            self._onlooker.slot_closed(self._windows, second)
        verdicts.extend(self._judge_whole({table.entity for table in batch.tables}))
        return self._with_history(verdicts)

    def record(self, event: Event) -> tuple[Verdict, ...]:
        """Take an event in; returns what it decides.

        A job of the same name that starts from generation 0 is another run: all begins anew.
        """
        over: tuple[Verdict, ...] = ()
        if self._state.picture.is_another_run(event):
            over = self._state.docket.close(event.timestamp, "another run of the job has begun")
            self._windows = JobWindows(self._config.windows, event.job)
            state = self._state
            self._state = self._config.beginning(
                event.job, state.history, state.picture.maintenance
            )
        self._onlooker.hear(event)
        self._follow_cadence(event)
        return self._with_history([*over, *self._judge_event(event)])

    def _with_history(self, verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
        """These, and what they say about nodes that have failed before."""
        return (*verdicts, *self._state.history.follow(verdicts, self._state.docket))

    @property
    def rows_late(self) -> int:
        """Rows that came after their second was judged, and were not used."""
        return self._windows.counters().late

    def adopt(self, verdicts: Sequence[Verdict]) -> None:
        """Take these verdicts for the open ones: a predecessor has told them."""
        self._state.docket.adopt(verdicts)

    def standing(self, node: NodeName) -> tuple[Standing, ...]:
        """How all evidence about a node stands now, each kind against what would decide."""
        return self._inspection().standing(node)

    def holds(self, node: NodeName) -> tuple[Hold, ...]:
        """What keeps everything from being said of a node, whatever the evidence."""
        return self._inspection().holds(node)

    def waits_for(self, verdict: Verdict) -> tuple[Hold, ...]:
        """What has to be seen before an open verdict is resolved."""
        state, quiet = self._state, self._config.known_error.quiet_seconds
        watches = state.machines.departures, state.ranks.watch
        return tuple(waits_for(verdict, *watches, state.slot_seconds, quiet))

    def _inspection(self) -> Inspection:
        state, slot, windows = self._state, self._windows.watermark, self._windows
        heard = {kind: windows.window_at(kind, slot) for kind in Entity if slot is not None}
        known = (state.ranks.watch, self._config.straggler, state.picture, slot)
        ranks = RankEvidence(*known, heard.get(Entity.RANK), state.ranks.excuses)
        parts = (state.liveness, self._silence, ranks, state.machines, state.told, heard)
        return Inspection(*parts, state.docket.accused)

    def _follow_cadence(self, event: Event) -> None:
        """Slots are as wide as the job's telemetry is slow; of other widths nothing is kept."""
        width = event.details.get("sampling_seconds")
        if event.kind is not EventKind.JOB_STATE or not isinstance(width, int) or width < 1:
            return
        if width != self._state.slot_seconds:
            self._state.slot_seconds = width
            self._state.machines = MachineWatch(self._config.departure)
            self._state.ranks.judged_second = None
            self._windows.resample(width)

    def _judge_event(self, event: Event) -> tuple[Verdict, ...]:
        picture, docket = self._state.picture, self._state.docket
        was_over = picture.finished
        ending = None if was_over else ending_of(event, picture)
        picture.record(event)
        self._windows.membership(event)
        self._state.roles.hear(event)
        if event.node is not None and event.node in picture.departed:
            self._state.liveness.forget(event.node)
        if was_over and picture.finished:
            return ()
        if picture.finished:
            return judge_end(event, self._state)
        fired = () if ending is None else self._state.downfall.hear(ending, self._around())
        is_blind = self._state.sight.record(event)
        lost = self._job.judge_sight(self._state) if is_blind else ()
        self._state.recorder.hear(event)
        is_aside = event.node in picture.in_maintenance(event.timestamp.timestamp())
        told = () if is_aside else self._known_errors.hear(event, self._state.told, picture, docket)
        return (
            *fired,
            *judge_machine_event(event, picture, docket, self._state.going_on),
            *told,
            *lost,
            *self._judge_recorder(),
            *self._state.application.hear(event, picture, docket),
            *docket.clear_after_recovery(picture),
        )

    def _judge_memory(self, gpus: Window) -> Iterator[Verdict]:
        """Ends that nobody told of, in a job that does not work on."""
        state = self._state
        ends = [*state.memory.look(gpus, state.picture.generation, state.picture.departed)]
        if not state.machines.absences.motion.is_moving:
            for ending in ends:
                yield from state.downfall.hear(ending, self._around())

    def _around(self) -> Around:
        state, settings = self._state, self._config.silence
        return Around(
            state.docket,
            state.going_on,
            state.sight,
            settings.heartbeat_timeout_seconds,
            settings.clock_tolerance_seconds,
            state.slot_seconds,
            state.picture.departed,
        )

    def _judge_recorder(self) -> Iterator[Verdict]:
        """Whom flight recorders name, in a job that has stood for the heart-beat's time-out."""
        state, timeout = self._state, self._config.silence.heartbeat_timeout_seconds
        if state.picture.finished:
            return
        pulses = {rank: state.liveness.pulses.of_rank(rank) for rank in state.recorder.held}
        by_steps = state.pace.stands(state.sight.head - timeout)
        standing_since = state.machines.absences.motion.standing_since(state.slot_seconds)
        now = JobNow(
            second=state.sight.head,
            generation=state.picture.generation,
            progress=state.liveness.newest_progress(),
            is_standing=by_steps or standing_since is not None,
            nodes={rank: pulse.node for rank, pulse in pulses.items() if pulse is not None},
            departed=state.picture.departed,
        )
        yield from state.recorder.acquit(now, state.docket)
        yield from state.recorder.judge(now, state.docket)

    def _judge_whole(self, told: Collection[Entity]) -> Iterator[Verdict]:
        """What slots decide that are open still, and that everybody has told of."""
        state = self._state
        if state.picture.finished:
            return
        if Entity.RANK in told:
            yield from self._ranks.judge_whole(
                self._windows, state.ranks, state.picture, state.docket
            )
        if Entity.GPU in told or Entity.NODE in told:
            yield from state.machines.judge_whole(
                self._windows, state.picture, state.docket, state.roles
            )

    def _judge_slot(self, second: int) -> Iterator[Verdict]:
        state = self._state
        if state.picture.finished or state.picture.maintenance.covers_job(second):
            return
        yield from self._ranks.judge_closed(
            second, self._windows, state.ranks, state.picture, state.docket
        )
        windows = {kind: self._windows.window_at(kind, second) for kind in KINDS}
        # Whose rows were put aside is not missing: its silence begins after that.
        away = dict.fromkeys(state.picture.in_maintenance(second), second)
        late = {kind: {**self._windows.late(kind), **away} for kind in KINDS}
        yield from self._known_errors.look(
            windows[Entity.GPU], state.told, state.picture, state.docket, state.going_on
        )
        yield from self._judge_memory(windows[Entity.GPU])
        yield from state.machines.judge(windows, late, state.picture, state.docket, state.roles)
        yield from judge_stand(second, state, self._config.standstill)
        yield from acquit_joined(
            second, state.slot_seconds, state.ranks.watch, state.machines.departures, state.docket
        )
        ranks = self._windows.window_at(Entity.RANK, second)
        yield from state.application.look(ranks, state.picture, state.docket)
