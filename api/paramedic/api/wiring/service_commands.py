"""How the processes beside a job are started: this interpreter, our command line, every setting."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from paramedic.api.settings.schema import describe_settings
from paramedic.api.wiring.run_folder import sign_file

if TYPE_CHECKING:
    from paramedic.api.settings.schema import Settings
    from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

# -P: the current folder is the user's, and must not offer modules to ours.
INTERPRETER = (sys.executable, "-P", "-m", "paramedic.api.command_line")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def setting_flags(settings: Settings, overrides: Mapping[str, object]) -> tuple[str, ...]:
    """Every setting as a flag, so that neither file nor environment is asked a second time."""
    flags: list[str] = []
    for setting in describe_settings():
        value = overrides.get(
            setting.key, getattr(getattr(settings, setting.section), setting.name)
        )
        flags += ["--set", f"{setting.key}={value}"]
    return tuple(flags)


def service_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without settings (they come as flags), and one thread for arithmetic."""
    variables = {setting.variable for setting in describe_settings()}
    kept = {name: value for name, value in environment.items() if name not in variables}
    return {**kept, **dict.fromkeys(_ONE_THREAD, "1")}


@dataclass(frozen=True, slots=True)
class Services:
    """What the services of one run have in common, and how each is started."""

    bus_address: str
    run_folder: Path
    settings: Settings
    environment: Mapping[str, str]
    tell: Callable[[str], None]
    """Hears a line when one of them ends, and when it is back."""
    consolation: str = "training goes on"
    """What the line of an end says of the job."""

    def diagnose(self) -> ServiceSpec:
        """The diagnosis process: the only one of the run, so it forms no group."""
        sign = ("--sign-file", str(sign_file(self.run_folder)))
        return self._spec("diagnose", sign, overrides={"kafka.group": "off"})

    def remediate(self, control_socket: Path | None, listen_fd: int) -> ServiceSpec:
        """The remediation process; it serves REST on the socket that it inherits.

        Without a control socket it only observes.
        """
        launcher = (
            ("--observe",) if control_socket is None else ("--control-socket", str(control_socket))
        )
        listener = ("--serve", "--listen-fd", str(listen_fd))
        own = ("--run-folder", str(self.run_folder), *launcher, *listener)
        return self._spec("remediate", own, (listen_fd,))

    def collect(self, source_flags: Sequence[str], tell_descriptor: int) -> ServiceSpec:
        """The collecting process of a platform for jobs that run already."""
        sign = ("--sign-file", str(sign_file(self.run_folder, "collect")))
        own = (*source_flags, *sign, "--tell-fd", str(tell_descriptor))
        return self._spec("collect", own, (tell_descriptor,))

    def capture(self) -> tuple[ServiceSpec, ...]:
        """The process that keeps the last hours as recordings; none where none are to be kept."""
        wanted = self.settings.recording
        if not wanted.ring_bytes:
            return ()
        ring = ("--ring", "--out", str(self.run_folder / "ring"))
        cap = ("--cap-gigabytes", str(wanted.ring_bytes / 1e9))
        segments = ("--segment-minutes", str(wanted.segment_seconds / 60))
        return (self._spec("capture", (*ring, *cap, *segments)),)

    def _spec(
        self,
        verb: str,
        own: Sequence[str],
        pass_fds: tuple[int, ...] = (),
        overrides: Mapping[str, object] = MappingProxyType({}),
    ) -> ServiceSpec:
        from paramedic.remediation.launchers.local.service_keeper import ServiceSpec

        flags = setting_flags(self.settings, {"bus.address": self.bus_address, **overrides})
        return ServiceSpec(
            name=verb,
            command=(*INTERPRETER, verb, *own, *flags),
            environment=service_environment(self.environment),
            log_path=self.run_folder / "logs" / f"{verb}.log",
            pass_fds=pass_fds,
            tell=self.tell,
            consolation=self.consolation,
        )
