"""Settings of the first diagnosis. Every threshold of it stands here, with its unit in its name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SilenceSettings:
    """When a rank's silence counts.

    Seconds are event time, measured against the newest second that half of the other ranks have
    reached. A rank beats once a second, so when its last beat is of second h, it was stopped
    between h and h + 2. The silence is 10 s when the batch of second h + 10 is there, which is just
    after h + 11 by the clock: 9 to 11 s after the stop, plus a batch's way (below 1 s).
    """

    heartbeat_timeout_seconds: float = 10.0
    """So long without a heart-beat, and with a second channel that agrees, is a failure."""
    node_silence_seconds: float = 8.0
    """So long without a row from the node's operating system and the node counts as silent."""
    telemetry_timeout_seconds: float = 120.0
    """So long in every channel while the job's steps go on: its telemetry is lost."""
    idle_cpu_ratio: float = 0.001
    """A process that uses no more than this share of its node's processors does nothing. One busy
    thread on a node of 128 processors is 0.008."""
    beats_before_judged: int = 3
    """A rank is judged after so many heart-beats; so many in a row also end a silence."""
    early_silence_seconds: float = 3.0
    """Enough silence when the system calls the process stopped and the whole job stands still."""
    early_stopped_samples: int = 3
    """So many samples in a row have to call the process stopped for the early decision."""
    early_stall_seconds: int = 2
    """So long no rank of the job may have made a step for the early decision."""
    clock_tolerance_seconds: int = 5
    """A node whose clock is further behind than this is heard at the job's time instead."""

    def __post_init__(self) -> None:
        if not 0 < self.early_silence_seconds <= self.heartbeat_timeout_seconds:
            raise ValueError(
                f"early_silence_seconds ({self.early_silence_seconds}) must lie between 0 and"
                f" heartbeat_timeout_seconds ({self.heartbeat_timeout_seconds})"
            )
        if not 0 < self.node_silence_seconds <= self.heartbeat_timeout_seconds:
            raise ValueError(
                f"node_silence_seconds ({self.node_silence_seconds}) must lie between 0 and"
                f" heartbeat_timeout_seconds ({self.heartbeat_timeout_seconds})"
            )


@dataclass(frozen=True, slots=True)
class StandstillSettings:
    """When the whole job counts as standing still, or as no longer heard of.

    Silence of all ranks has the time-out of one rank's (`SilenceSettings`).
    """

    telemetry_timeout_seconds: float = 30.0
    """So long without the ranks' or most nodes' telemetry, and with nothing that says why."""
    quiet_standstill_seconds: float = 120.0
    """So long without a step of any rank, while no process does anything."""
    busy_standstill_seconds: float = 300.0
    """The same while the processes work, as in an evaluation that nobody has announced."""
    longest_pauses: float = 5.0
    """A job is given so many times the longest pause between steps that it has made before."""
    steps_before_judged: int = 3
    """Seconds with a step that have to be seen first: a first step may take long."""


@dataclass(frozen=True, slots=True)
class StragglerSettings:
    """When a rank's slowness counts.

    The decision level of the sequential test follows from the stated rate of false alarms and the
    stated noise; see `paramedic.diagnosis.sequential`.
    """

    false_alarms_per_job_day: float = 0.01
    """Tolerated false alarms of one job in one day, all its ranks and symptoms together."""
    expected_faults_per_job_day: float = 0.2
    """How often a rank really becomes slow; with the rate above it gives the confidence."""
    allowance: float = 1.0
    """A deviation below this (in robust standard deviations) speaks for a rank, not against it."""
    largest_deviation: float = 5.3
    """One slot counts at most so much (in robust standard deviations), however far out it is: five
    slots are the least that can decide. With 6.5 four would do, and noise with heavy tails would
    alarm three times as often as stated."""
    noise_correlation: float = 0.4
    """Correlation of a healthy rank's noise from one second to the next (0..1) that is assumed at
    least; where a job's ranks are seen to wander more, more evidence is wanted."""
    smallest_slowdown_ratio: float = 1.15
    """A slot speaks against a rank only when its work takes so many times its peers'."""
    settle_seconds: int = 8
    """Slots left out after the job began to train or a generation began."""
    pause_settle_seconds: int = 2
    """Slots left out after a checkpoint or an evaluation."""
    turmoil_deviation: float = 3.0
    """With more than half of the ranks this far out, the slot says nothing about any of them."""
    healthy_slots_to_resolve: int = 30
    """So many slots without slowness (a slow one undoes two) and the rank is well again; of slow
    telemetry as many seconds, and 10 slots at least."""
    longest_wait_deviation: float = 1.0
    """A rank that waits in collectives more than this above its peers is a victim."""

    def __post_init__(self) -> None:
        if self.false_alarms_per_job_day <= 0 or self.expected_faults_per_job_day <= 0:
            raise ValueError(
                f"false_alarms_per_job_day ({self.false_alarms_per_job_day}) and"
                f" expected_faults_per_job_day ({self.expected_faults_per_job_day}) must be above 0"
            )
        if not 0 < self.allowance < self.largest_deviation:
            raise ValueError(
                f"allowance ({self.allowance}) must lie between 0 and"
                f" largest_deviation ({self.largest_deviation}), or no evidence can add up"
            )
        if not 0 <= self.noise_correlation < 1:
            raise ValueError(f"noise_correlation must be in 0..1, not {self.noise_correlation}")


@dataclass(frozen=True, slots=True)
class DepartureSettings:
    """When a GPU or a node counts as departed from its peers.

    Evidence is counted in nats: a row-slot that one healthy row-slot in e^n is as odd as is worth
    n of them. The decision level follows from the stated rate of false alarms; see
    `paramedic.diagnosis.evidence`.
    """

    false_alarms_per_job_day: float = 0.01
    """Tolerated false alarms of one job in one day, all its GPUs and nodes together."""
    expected_faults_per_job_day: float = 0.2
    """How often a machine really departs; with the rate above it gives the confidence."""
    smoothing_seconds: tuple[float, ...] = (1.0, 6.0, 30.0)
    """Departures are judged at these paces: the first is quick, the last finds the weakest."""
    allowance_nats: float = 4.0
    """A metric less odd than this adds nothing: one healthy slot in 55 is as odd."""
    forgetting_seconds: float = 150.0
    """What was seen so long ago says little of now: evidence that hardly grows comes to nothing."""
    harmless_seconds: float = 7.0
    """However far out a row is, it is not named by less than so much of it: sensors glitch."""
    node_harmless_seconds: float = 9.0
    """The same of all GPUs of a node together: what befalls them alike comes through the host, and
    a host is late with data now and then."""
    idle_harmless_seconds: float = 12.0
    """The same where they rest: an input pipeline runs dry for ten seconds."""
    group_harmless_seconds: float = 75.0
    """The same of what a whole switch or rack does: congestion comes and goes."""
    rival_wait_seconds: float = 6.0
    """When two nodes began to look odd at about the same time, so long it is seen who does most."""
    second_accusation_factor: float = 1.9
    """While somebody is accused lately, another needs so many times the evidence: most who look
    odd then are victims. At most twice the level is ever kept."""
    second_accusation_seconds: float = 120.0
    settle_seconds: int = 10
    """Slots left out after the job began to train."""
    learning_seconds: int = 20
    """For so long it is only learned how much machines differ, and nobody is accused."""
    newcomer_settle_seconds: int = 120
    """Slots left out after a row appeared later than the others: a machine that joins is cold."""
    pause_settle_seconds: int = 5
    """Slots left out after a checkpoint or an evaluation."""
    largest_crowd_share: float = 1 / 3
    """When more of the rows or nodes than this depart, nobody can be accused."""
    victim_share: float = 0.4
    """Who stands apart by less than this share of the farthest is its victim: whoever waits for a
    slow machine works differently too."""
    healthy_seconds_to_resolve: float = 60.0
    """So long without a third of the evidence that decides, and the machine is well again."""
    telemetry_timeout_seconds: float = 120.0
    """So long without a node's telemetry while others' comes, and it counts as lost. Exporters are
    restarted, and scrapes get lost for a minute; with a job that stands still 10 s are enough."""

    def __post_init__(self) -> None:
        if self.false_alarms_per_job_day <= 0 or self.expected_faults_per_job_day <= 0:
            raise ValueError(
                f"false_alarms_per_job_day ({self.false_alarms_per_job_day}) and"
                f" expected_faults_per_job_day ({self.expected_faults_per_job_day}) must be above 0"
            )
        if self.allowance_nats <= 1:
            raise ValueError(
                f"allowance_nats must be above 1, the mean of healthy slots, not"
                f" {self.allowance_nats}"
            )
