"""``python -m train sweep``: a search for good settings by Optuna, in short runs of which poor ones are stopped early.

Each trial is a run of its own in a process of its own, here or, with ``--ray``, on a node of a cluster. All that a
search knows is in ``sweep.sqlite``, and each run in its folder: whatever ends the search, the same command goes on.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from eval.cli import DONE, INTERRUPTED, Interrupts, catch_interrupts, parse
from eval.files import write_json
from eval.origin import origin
from eval.remote import connected
from eval.store import locked
from train.config import Config, with_preset

if TYPE_CHECKING:
    import optuna

    from train.__main__ import Sweep

DATABASE, RESULT, PICTURE = "sweep.sqlite", "sweep.json", "sweep.png"
LOOK: Final = 1.0
"""Seconds from one look at the runs to the next."""
UNPRUNED: Final = 4
"""Trials that are played out before any is stopped early."""

Choice = Callable[["optuna.trial.BaseTrial"], Any]


class Trial:
    """A run in a process of its own; an actor on the cluster, with ``--ray``."""

    def __init__(self, words: list[str], folder: str, anchor: str) -> None:
        """Begin the run, or go on with it where its folder has one."""
        self.folder, self.anchor = Path(folder), anchor
        if (self.folder / "last").is_dir():
            command = ["resume", folder]
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
            command = ["run", *words, "--out", folder]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "train", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def look(self) -> tuple[list[tuple[int, float]], int | None, str]:
        """Return the points by decisions that were measured, the exit code if it is over, and what it said then."""
        code = self.process.poll()
        told = ""
        if code is not None and self.process.stderr is not None:
            told = (self.process.stderr.read().strip().splitlines() or [""])[-1]
        return measured(self.folder / "curve.csv", self.anchor), code, told

    def stop(self) -> None:
        """Let the run save and end."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(120)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()


class Here:
    """Where trials are processes of this machine."""

    def begin(self, *what: Any) -> Trial:
        """Begin a trial."""
        return Trial(*what)

    def look(self, trial: Trial) -> tuple[list[tuple[int, float]], int | None, str]:
        """Look at a trial."""
        return trial.look()

    def stop(self, trial: Trial) -> None:
        """Stop a trial."""
        trial.stop()


class There:
    """Where trials are actors of a Ray cluster; their folders lie where all nodes find them."""

    def __init__(self, ray: Any, cores: int) -> None:
        """Take so many cores for each."""
        self.ray, self.actor = ray, ray.remote(num_cpus=cores)(Trial)

    def begin(self, *what: Any) -> Any:
        """Begin a trial."""
        return self.actor.remote(*what)

    def look(self, trial: Any) -> tuple[list[tuple[int, float]], int | None, str]:
        """Look at a trial; one whose node has died is over, and begun again."""
        try:
            return self.ray.get(trial.look.remote(), timeout=60)
        except self.ray.exceptions.GetTimeoutError:  # it waits for a node
            return [], None, ""
        except self.ray.exceptions.RayActorError:
            return [], -1, "its node has died"

    def stop(self, trial: Any) -> None:
        """Stop a trial."""
        try:
            self.ray.get(trial.stop.remote(), timeout=150)
        except (self.ray.exceptions.GetTimeoutError, self.ray.exceptions.RayActorError):
            self.ray.kill(trial)


def measured(path: Path, anchor: str) -> list[tuple[int, float]]:
    """Return the points against an anchor by decisions, as a run's curve has them so far."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, csv.Error):
        return []
    key = f"{anchor}/points"
    return [(int(row["decisions"]), float(row[key])) for row in rows if row.get(key) and row["decisions"]]


def choice(text: str) -> tuple[str, Choice]:
    """Return name and choice of ``NAME=LOW..HIGH``, ``NAME=LOW..HIGH:log`` or ``NAME=A,B,C``, or ``ValueError``."""
    name, _, values = text.partition("=")
    name = name.strip().replace("-", "_")
    known = {field.name: field for field in dataclasses.fields(Config)}
    if name not in known:
        raise ValueError(f"--over {text}: no setting {name!r} (python -m train run --help lists them)")
    found = re.fullmatch(r"([-+.\deE]+)\.\.([-+.\deE]+)(:log)?", values)
    if found is None:
        options = [value.strip() for value in values.split(",") if value.strip()]
        if len(options) < 2:
            raise ValueError(f"--over {text}: expected LOW..HIGH, LOW..HIGH:log, or at least two values, A,B")
        return name, lambda trial: trial.suggest_categorical(name, options)
    try:
        low, high, log = float(found[1]), float(found[2]), bool(found[3])
    except ValueError:
        raise ValueError(f"--over {text}: expected numbers, LOW..HIGH") from None
    if not low < high or (log and low <= 0):
        raise ValueError(f"--over {text}: expected LOW below HIGH" + (", and above 0 for log" if log else ""))
    if known[name].type == "int":
        return name, lambda trial: trial.suggest_int(name, int(low), int(high), log=log)
    return name, lambda trial: trial.suggest_float(name, low, high, log=log)


def sweep(options: Sweep, argv: Sequence[str]) -> int:
    """Search; return the exit code. ``ValueError`` for settings that can't be."""
    from train.__main__ import COMMANDS

    choices = dict(choice(text) for text in options.over)
    if not choices:
        raise ValueError('--over: name what is searched over, as in "learning_rate=1e-4..3e-3:log"')
    if options.trials < 1 or options.workers < 1:
        raise ValueError("--trials and --workers: expected at least 1")
    fixed = with_preset(["run", *shlex.split(options.settings)])
    config = parse(COMMANDS, "python -m train", "", fixed).config
    anchor = options.anchor or config.anchors[-1]
    if anchor not in config.anchors:
        raise ValueError(f"--anchor {anchor}: the runs are measured against {', '.join(config.anchors)}")
    options.out.mkdir(parents=True, exist_ok=True)
    with locked(options.out), catch_interrupts() as interrupts:
        search = Search(options, fixed[1:], choices, anchor)
        if options.ray is None:
            search.go(Here(), interrupts)
        else:
            with connected(options.ray) as ray:
                search.go(There(ray, config.threads), interrupts)
        return search.finish(argv)


class Search:
    """A search: trials that run, and what Optuna knows of all."""

    def __init__(self, options: Sweep, fixed: list[str], choices: dict[str, Choice], anchor: str) -> None:
        """Go on with the search of a folder, or begin one."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.options, self.fixed, self.choices, self.anchor = options, fixed, choices, anchor
        self.study = optuna.create_study(
            storage=f"sqlite:///{options.out / DATABASE}",
            study_name="sweep",
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=options.seed, n_startup_trials=min(8, options.trials)),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=UNPRUNED),
            load_if_exists=True,
        )
        about = {"over": list(options.over), "settings": options.settings, "anchor": anchor}
        before = self.study.user_attrs.get("about")
        if before is not None and before != about:
            raise ValueError(f"--out {options.out}: holds a search of other settings: {json.dumps(before)}")
        self.study.set_user_attr("about", about)

    def go(self, place: Here | There, stop: Interrupts) -> None:
        """Run trials until there are enough, or ``stop`` turns true; then all are saved."""
        import optuna

        waiting = [
            optuna.trial.Trial(self.study, trial._trial_id)
            for trial in self.study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.RUNNING])
        ]
        running: list[tuple[Any, Any]] = []
        while not stop:
            while len(running) < self.options.workers and (trial := self._next(waiting)) is not None:
                running.append((trial, place.begin(self._words(trial), str(self._folder(trial.number)), self.anchor)))
            if not running:
                return
            for pair in list(running):
                if self._look(place, *pair):
                    running.remove(pair)
            time.sleep(LOOK)
        for _, run in running:
            place.stop(run)

    def _next(self, waiting: list[Any]) -> Any:
        """Return a trial to run: one that was stopped in the middle, or a new one; None if there are enough."""
        if waiting:
            return waiting.pop(0)
        if len(self.study.trials) >= self.options.trials:
            return None
        trial = self.study.ask()
        for choose in self.choices.values():
            choose(trial)
        return trial

    def _look(self, place: Here | There, trial: Any, run: Any) -> bool:
        """See how a run does; stop it if it does poorly. Tell whether it is over."""
        import optuna

        points, code, told = place.look(run)
        known = self.study.trials[trial.number].intermediate_values
        for decisions, value in points:
            if decisions not in known:
                trial.report(value, decisions)
        if code is None and points and trial.should_prune():
            place.stop(run)
            self._end(trial, None, optuna.trial.TrialState.PRUNED)
            return True
        if code is None:
            return False
        if code != 0 or not points:
            if code == 2:
                self._end(trial, None, optuna.trial.TrialState.FAIL)
                raise ValueError(f"trial {trial.number}: {told}")
            self._end(trial, None, optuna.trial.TrialState.FAIL)
            print(f"trial {trial.number} failed: {told or 'nothing was measured'}", file=sys.stderr)
            return True
        self._end(trial, max(value for _, value in points), optuna.trial.TrialState.COMPLETE)
        return True

    def _end(self, trial: Any, value: float | None, state: Any) -> None:
        """Note how a trial ended, and say so."""
        self.study.tell(trial, value, state=state)
        what = " ".join(f"{name}={_short(value)}" for name, value in trial.params.items())
        how = f"{value:+.1f} points against {self.anchor}" if value is not None else state.name.lower()
        print(f"trial {trial.number}: {how}  {what}", flush=True)

    def _folder(self, number: int) -> Path:
        """Return the folder of a trial's run."""
        return self.options.out / f"trial-{number:04d}"

    def _words(self, trial: Any) -> list[str]:
        """Return the command line of a trial's run."""
        chosen = [word for name, value in trial.params.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        return [*self.fixed, *chosen]

    def finish(self, argv: Sequence[str]) -> int:
        """Write down and tell what was found; return the exit code."""
        import optuna

        done = self.study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.COMPLETE])
        over = sum(trial.state.is_finished() for trial in self.study.trials)
        if done:
            best = self.study.best_trial
            command = shlex.join(["python", "-m", "train", "run", *self._words(best)])
            result = {
                **origin("python -m train", argv),
                "anchor": self.anchor,
                "best": {"trial": best.number, "points": best.value, "settings": best.params, "command": command},
                "trials": [
                    {"trial": t.number, "state": t.state.name.lower(), "points": t.value, "settings": t.params}
                    for t in self.study.trials
                ],
            }
            write_json(self.options.out / RESULT, result)
            draw(self.study, self.anchor, self.options.out / PICTURE)
            told = f"trial {best.number}, {best.value:+.1f} points"
            print(f"best of {len(done)}, so less is to be expected of it anew: {told}")
            print(f"  {command}")
            print(f"wrote {self.options.out / RESULT} and {self.options.out / PICTURE}")
        if over < self.options.trials:
            print(f"stopped after {over} of {self.options.trials} trials; the same command goes on", file=sys.stderr)
            return INTERRUPTED
        return DONE


def draw(study: Any, anchor: str, path: Path) -> None:
    """Draw the points of each trial over its decisions; those stopped early are thin."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    from eval.files import writing

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    best = study.best_trial.number
    for trial in study.trials:
        steps = sorted(trial.intermediate_values.items())
        if steps:
            pruned = trial.state.name == "PRUNED"
            colour = "tab:red" if trial.number == best else "0.5"
            axes.plot(*zip(*steps, strict=True), marker=".", color=colour, linewidth=0.8 if pruned else 1.5)
    axes.axhline(0, color="0.8", linewidth=0.8)
    axes.set(
        xlabel="decisions",
        ylabel=f"points a round against {anchor}",
        title="Trials; red: the best; thin: stopped early",
    )
    with writing(path) as beside:
        figure.savefig(beside, dpi=120)
    plt.close(figure)


def _short(value: Any) -> str:
    """Return a setting's value in few characters."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
