"""Measure vbot's time and memory beside the Python tool, two small Go programs and `cp -r`.

e2e/bench starts it. Machines differ and are noisy, so what counts is the ratio of two figures from
one run. The two sides take turns, three rounds of each. A figure is the median of its rounds, and a
round's is the median of its runs. Go programs are built without cgo and copied anew before each
round. hyperfine measures times, without a shell; GNU time measures memory, the most that was
resident at once. The secrets go to a stand-in of the API on loopback that takes 50 ms for each
request.
"""

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from cloud_api import CloudAPI, pipecat
from tables import machine, mb_, ms, times, write

VBOT = os.environ["VBOT"]
EMPTY = os.environ["EMPTY"]  # a Go program that does nothing
NETHTTP = os.environ["NETHTTP"]  # one that links net/http and prints a word
ROUNDS = 3
DELAY = 0.05  # seconds that the stand-in takes for a request

REACT = ["-t", "smallwebrtc", "-m", "cascade", "--client-framework", "react"]
REACT += ["--client-server", "vite"]
SERVICES = "--stt deepgram{0} --llm openai{1} --tts cartesia{2}"
OURS_REACT = ["init", "ours", *REACT, *SERVICES.format("", "", "").split()]


class Bench:
    def __init__(self, runs: int, cwd: Path) -> None:
        self.runs = runs
        self.cwd = cwd
        self.env = {"PATH": os.environ["PATH"], "HOME": str(cwd / "home"), "NO_COLOR": "1"}
        (cwd / "home").mkdir()

    def seconds(self, command: list[str], target: str | None, runs: int) -> float:
        """The median time of a command that makes the directory `target`."""
        if command[0] in (VBOT, EMPTY, NETHTTP):
            # A program's file that has been around for a while starts up to 1.33 times slower.
            program = self.cwd / "program"
            program.unlink(missing_ok=True)
            shutil.copy(command[0], program)
            command = [str(program), *command[1:]]
        prepare = ["--prepare", f"rm -rf {target}"] if target else []
        hyperfine = ["hyperfine", "-N", "--style", "none", "--warmup", str(max(1, runs // 10))]
        hyperfine += ["--runs", str(runs), *prepare, "--export-json", "times.json"]
        done = subprocess.run(
            [*hyperfine, shlex.join(command)],
            cwd=self.cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads((self.cwd / "times.json").read_text())["results"][0]["median"]

    def memory(self, command: list[str], target: str | None) -> float:
        """The most memory that a command had at once, in bytes."""
        if target:
            shutil.rmtree(self.cwd / target, ignore_errors=True)
        command = ["time", "-f", "%M", "-o", "memory", *command]
        subprocess.run(command, cwd=self.cwd, env=self.env, check=True, capture_output=True)
        return int((self.cwd / "memory").read_text()) * 1024

    def pair(
        self, ours: list[str], theirs: list[str], targets: tuple[str | None, str | None], runs: int
    ) -> tuple[float, float]:
        """The times of both commands, in turns."""
        rounds = [
            (self.seconds(ours, targets[0], 20 * self.runs), self.seconds(theirs, targets[1], runs))
            for _ in range(ROUNDS)
        ]
        a, b = zip(*rounds, strict=True)
        return statistics.median(a), statistics.median(b)

    def floor(self) -> list[str]:
        """vbot beside the least that any program takes."""
        lines = ["| what | vbot | other | vbot / other |", "| --- | ---: | ---: | ---: |"]

        def row(what: str, ours: list[str], theirs: list[str], target: str | None) -> None:
            a, b = self.pair([VBOT, *ours], theirs, (target, target), 20 * self.runs)
            lines.append(f"| {what} | {ms(a)} | {ms(b)} | {a / b:.2f} |")

        row("`vbot version`, an empty Go program", ["version"], [EMPTY], None)
        what = "`vbot version`, a Go program that links net/http and prints a word"
        row(what, ["version"], [NETHTTP], None)
        for what, ours, target in (
            ("`vbot init quickstart`", ["init", "quickstart"], "vbot-quickstart"),
            ("`vbot init` of a bot with a React client", OURS_REACT, "ours"),
        ):
            shutil.rmtree(self.cwd / target, ignore_errors=True)
            subprocess.run([VBOT, *ours], cwd=self.cwd, check=True, capture_output=True)
            (self.cwd / target).rename(self.cwd / f"{target}-tree")
            copy = ["cp", "-r", f"{target}-tree", target]
            row(f"{what}, `cp -r` of what it writes", ours, copy, target)
        return lines

    def peer(self) -> list[str]:
        """vbot beside the Python tool."""
        tool = str(pipecat())
        lines = [
            "| what | vbot | `pipecat` | `pipecat` / vbot |",
            "| --- | ---: | ---: | ---: |",
        ]
        theirs_react = ["init", "theirs", *REACT, "--no-context-hub"]
        theirs_react += SERVICES.format("_stt", "_llm", "_tts").split()
        rows: list[tuple[str, list[str], list[str], tuple[str | None, str | None]]] = [
            ("start (`--version`)", ["--version"], ["--version"], (None, None)),
            (
                "`init --list-options`",
                ["init", "--list-options"],
                ["init", "--list-options"],
                (None, None),
            ),
            (
                "`init quickstart`",
                ["init", "quickstart"],
                ["init", "quickstart", "--no-context-hub"],
                ("vbot-quickstart", "pipecat-quickstart"),
            ),
            ("`init` of a bot with a React client", OURS_REACT, theirs_react, ("ours", "theirs")),
        ]
        for what, ours, theirs, targets in rows:
            a, b = self.pair([VBOT, *ours], [tool, *theirs], targets, self.runs)
            ma = statistics.median(self.memory([VBOT, *ours], targets[0]) for _ in range(ROUNDS))
            mb = statistics.median(self.memory([tool, *theirs], targets[1]) for _ in range(ROUNDS))
            lines.append(f"| {what} | {ms(a)} | {ms(b)} | {times(b / a)} |")
            lines.append(f"| {what}, memory | {mb_(ma)} | {mb_(mb)} | {times(mb / ma)} |")
        for name in ("ours", "theirs"):  # no row without what it names
            assert (self.cwd / name / "client/package.json").exists(), f"{name}: no client"
        lines += self.secrets()
        size = Path(VBOT).stat().st_size
        home = Path(tool).parent.parent
        theirs_size = sum(p.lstat().st_size for p in home.rglob("*") if not p.is_dir())
        packages = len(list(home.glob("lib/python*/site-packages/*.dist-info")))
        lines.append(
            f"| installed | {size / 1e6:.1f} MB, 1 file | {mb_(theirs_size)}, {packages} packages "
            f"| {times(theirs_size / size)} |"
        )
        return lines

    def secrets(self) -> list[str]:
        """`secrets set` of some keys."""
        lines = []
        with CloudAPI(DELAY) as api:
            for n in (1, 10, 50):
                pairs = [f"KEY_{i}=value" for i in range(n)]
                took: dict[str, list[float]] = {"ours": [], "theirs": []}
                requests: dict[str, int] = {}
                sides: list[tuple[str, Callable[..., object]]]
                sides = [("ours", api.vbot), ("theirs", api.pipecat)]
                for _ in range(max(1, self.runs // 2)):
                    for name, run in sides:
                        api.sets.clear()
                        api.take()
                        began = time.perf_counter()
                        run("set", "app", *pairs, "--skip")
                        took[name].append(time.perf_counter() - began)
                        requests[name] = len(api.take())
                        assert len(api.sets["app"].values) == n
                ours, theirs = (statistics.median(took[name]) for name in ("ours", "theirs"))
                keys = "1 key" if n == 1 else f"{n} keys"
                lines.append(
                    f"| `cloud secrets set` of {keys}, 50 ms a request "
                    f"| {ms(ours)}, {requests['ours']} requests "
                    f"| {ms(theirs)}, {requests['theirs']} requests | {times(theirs / ours)} |"
                )
        return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("runs", nargs="?", type=int, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as cwd:
        bench = Bench(args.runs, Path(cwd))
        tables = [machine(), "", *bench.peer(), "", *bench.floor()]
    text = "\n".join(tables) + "\n"
    print(text)
    if args.write:
        write("bench", text)


if __name__ == "__main__":
    main()
