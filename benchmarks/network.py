"""Machines on a network of their own: one machine's stand-ins for several, for root on Linux.

A machine is a network namespace with an address on a bridge, and a folder that is its home. What
runs on it has its own host name, sees no process of another machine, and ends with it. The bridge
is in a namespace, too, with no way out: nothing reaches the network of this machine, or another.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

NETWORK = "10.213.77"
STARTED = 'hostname "$0"; eval "$MOUNT"; exec "$@"'
"""What a process on a machine does before it is the command."""
APART = ("unshare", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")
END_SECONDS = 30


@dataclass(frozen=True)
class Machine:
    """One machine of a network."""

    name: str
    address: str
    folder: Path
    """Its home; temporary files are in ``scratch`` below it."""
    _switch: str = field(repr=False)
    _namespace: str = field(repr=False)

    @contextmanager
    def running(
        self,
        command: Sequence[str | Path],
        *,
        scratch_bytes: int | None = None,
        **variables: str,
    ) -> Iterator["Running"]:
        """Run a command until the block ends; what it prints goes to a file in the folder.

        With ``scratch_bytes`` its temporary files are on a disk of that size.
        """
        count = len(list(self.folder.glob("*.log")))
        log = self.folder / f"{count:02d}-{Path(command[0]).name}.log"
        with log.open("w") as printed:
            process = subprocess.Popen(
                self._command(command),
                cwd=self.folder,
                env=self._variables(scratch_bytes, variables),
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        running = Running(self, process, log)
        try:
            yield running
        finally:
            running.end()

    def answer(self, command: Sequence[str | Path], **variables: str) -> str:
        """What a command prints; CalledProcessError where it fails."""
        return subprocess.run(
            self._command(command),
            cwd=self.folder,
            env=self._variables(None, variables),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Take the machine's link down for the length of the block."""
        link = ("ip", "-n", self._switch, "link", "set", _port(self.name))
        subprocess.run([*link, "down"], check=True)
        try:
            yield
        finally:
            subprocess.run([*link, "up"], check=True)

    def _command(self, command: Sequence[str | Path]) -> list[str]:
        inside = [*APART, "sh", "-c", STARTED, self.name, *map(str, command)]
        return ["ip", "netns", "exec", self._namespace, *inside]

    def _variables(self, scratch_bytes: int | None, variables: Mapping[str, str]) -> dict[str, str]:
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        mount = f"mount -t tmpfs -o size={scratch_bytes} tmpfs {scratch}"
        own = {"HOME": str(self.folder), "TMPDIR": str(scratch)}
        # Where the machine it stands on keeps its caches is nothing that others know of.
        left = {name: text for name, text in os.environ.items() if not name.startswith("XDG_")}
        return left | own | {"MOUNT": mount if scratch_bytes else ""} | variables


@dataclass(frozen=True)
class Running:
    """A command that runs on a machine."""

    machine: Machine
    process: subprocess.Popen
    log: Path

    def signal(self, number: int) -> None:
        """Send the command a signal, not what started it."""
        os.kill(self._inside, number)

    def fill_scratch(self) -> None:
        """Leave no byte on the disk of its temporary files, which has to be one of its own."""
        scratch = self.machine.folder / "scratch"
        seen = Path(f"/proc/{self._inside}/root") / scratch.relative_to("/")
        if seen.stat().st_dev == scratch.stat().st_dev:
            raise ValueError(f"{scratch} of {self.machine.name} is no disk of its own")
        with suppress(OSError), (seen / "filling").open("wb", buffering=0) as filling:
            while True:
                filling.write(bytes(4096))

    def end(self) -> None:
        """Kill it and all that it started."""
        self.process.kill()
        self.process.wait(END_SECONDS)

    @property
    def _inside(self) -> int:
        """Its process as it is known here: the only child of what keeps it apart."""
        return int(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text())


@contextmanager
def network(folder: Path, names: Sequence[str]) -> Iterator[dict[str, Machine]]:
    """Machines by name, on one switch; all of it is gone when the block ends, however it does."""
    prefix = f"decaf-{os.getpid()}"
    switch = f"{prefix}-switch"
    with ExitStack() as made:
        _namespace(switch, made.callback)
        _ip("-n", switch, "link", "add", "switch", "type", "bridge")
        _ip("-n", switch, "link", "set", "switch", "up")
        machines = {}
        for number, name in enumerate(names, 1):
            own = f"{prefix}-{name}"
            _namespace(own, made.callback)
            ends = ("name", _port(name), "type", "veth", "peer", "name", "eth0", "netns", own)
            _ip("-n", switch, "link", "add", *ends)
            _ip("-n", switch, "link", "set", _port(name), "master", "switch", "up")
            address = f"{NETWORK}.{number}"
            _ip("-n", own, "address", "add", f"{address}/24", "dev", "eth0")
            for link in ("lo", "eth0"):
                _ip("-n", own, "link", "set", link, "up")
            (folder / name).mkdir(parents=True)
            machines[name] = Machine(name, address, folder / name, switch, own)
        yield machines


def _namespace(name: str, at_the_end: Callable[..., object]) -> None:
    _ip("netns", "add", name)
    at_the_end(_ip, "netns", "delete", name)


def _port(name: str) -> str:
    """The switch's end of a machine's cable; Linux allows 15 letters."""
    return f"to-{name}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
