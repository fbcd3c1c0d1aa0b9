"""Audits: does an agent score zero against itself, use what it can't know, or depend on what is asked beside it?

Letters: ``B`` decisions.
"""

from __future__ import annotations

import secrets
import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from scipy.stats import t

from eval.arena import UNIT, Floor
from eval.cli import DONE, FAILED, parse_rules
from jolly_env.agent import Agent
from jolly_env.determinize import determinize_rows
from jolly_env.rules import Rules
from jolly_env.state import STATE
from jolly_env.warmup import warm_up_determinize

if TYPE_CHECKING:
    from eval.__main__ import Audit

LEVEL: Final = 0.999
"""Of the interval that has to hold zero: an audit that fails by chance once in a thousand times may be trusted."""
SHARE: Final = 20
"""Deals against itself for one whose hidden cards are dealt anew at every decision."""
SAMPLE: Final = 100
"""Decisions that are asked in other company."""


class Finding(NamedTuple):
    """What one audit has found."""

    name: str
    passed: bool
    told: str
    """What was tested, how often, and what came of it."""


def audit(options: Audit) -> int:
    """Run all audits of an agent and print a line each; return the exit code."""
    from agents import make

    if not 2 <= options.deals <= 1_000_000:
        raise ValueError(f"--deals {options.deals}: expected a whole number from 2 to 1000000")
    if options.seed is not None and options.seed < 0:
        raise ValueError(f"--seed {options.seed}: expected a whole number of at least 0")
    if not 2 <= options.players <= 4:
        raise ValueError(f"--players {options.players}: expected 2, 3 or 4")
    rules = parse_rules(options.rules, options.players)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    make(options.agent)
    findings = audited(options.agent, rules, options.deals, seed)
    for finding in findings:
        print(line(finding))
    return DONE if all(finding.passed for finding in findings) else FAILED


def audited(name: str, rules: Rules, deals: int, seed: int) -> list[Finding]:
    """Run all audits of an agent."""
    found = hidden_and_company(name, rules, max(2, deals // SHARE), seed)
    return [against_itself(name, rules, deals, seed), *found]


def line(finding: Finding) -> str:
    """Return a finding as text."""
    return f"{'passed' if finding.passed else 'FAILED'}  {finding.name}: {finding.told}"


class OtherKeys:
    """An agent that is given other random keys, so that it is not the same player twice."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return the agent's actions: int64[B]."""
        return self._agent.act(observations, masks, keys * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1))


def against_itself(name: str, rules: Rules, deals: int, seed: int) -> Finding:
    """Let an agent play itself: the interval of its points a deal has to hold zero.

    Each deal counts in one seating only, the seats in turn; in all of them equals would come to zero by themselves.
    """
    from agents import make

    floor = Floor({name: make(name), f"{name} with other keys": OtherKeys(make(name))}, deals, seed, rules)
    units = list(floor.play(range(-(-deals // UNIT))))
    rows = np.concatenate([played.rows for played in units])
    faults = [fault for played in units for fault in played.faults]
    rows = rows[rows["seating"] == rows["deal"] % len(floor.seatings)]
    first = rows["agent"] == 0
    others = np.where(first, 0, rows["score"]).sum(axis=1) / (rules.players - 1)
    margins = np.bincount(rows["deal"], np.where(first, rows["score"], 0).sum(axis=1) - others, minlength=deals)
    mean = margins.mean()
    half = t.ppf((1 + LEVEL) / 2, deals - 1) * margins.std(ddof=1) / np.sqrt(deals)
    told = f"{deals} deals: {mean:+.1f} points a deal ({mean - half:+.1f} to {mean + half:+.1f} at {100 * LEVEL:.1f}%)"
    if faults:
        return Finding("against itself", False, f"{told}, but it forfeited {len(faults)} times: {faults[0]['message']}")
    return Finding("against itself", bool(abs(mean) <= half), told)


def hidden_and_company(name: str, rules: Rules, deals: int, seed: int) -> list[Finding]:
    """Deal anew, at every decision of some deals, what the agent can't know; then ask it in other company."""
    from agents import make

    agent = make(name)
    floor = Redealing({name: agent, f"{name} again": agent}, deals, seed, rules)
    faults = sum(len(played.faults) for played in floor.play(range(-(-deals // UNIT))))
    told = f"{floor.asked} decisions with hidden cards dealt anew, other hands than before in {floor.differed} of them"
    told += f": {floor.changed} choices changed" + (f"; it forfeited {faults} times" if faults else "")
    findings = [Finding("hidden cards", floor.changed == 0 and not faults, told)]
    return [*findings, company(agent, *floor.sample(seed))]


class Redealing(Floor):
    """A floor on which every decision is asked twice, the second time with other hidden cards.

    The batch's own states are then, in their place in memory, others that agree with all that the agent may know. The
    first choice is played. Meanwhile the true states are kept compressed, so that they can't be found as states.
    """

    def __init__(self, agents: dict[str, Agent], deals: int, seed: int, rules: Rules) -> None:
        super().__init__(agents, deals, seed, rules)
        warm_up_determinize()
        self._rng = np.random.default_rng(seed)
        self._seen: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.asked = self.differed = self.changed = 0

    def sample(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return some of the decisions: observations[B], masks[B], keys[B]."""
        observations, masks, keys = (np.concatenate(part) for part in zip(*self._seen, strict=True))
        chosen = np.random.default_rng(seed).permutation(len(keys))[:SAMPLE]
        return observations.take(chosen), masks[chosen], keys[chosen]

    def _ask(self, number: int, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an agent's actions after asking it twice."""
        batch = self._batch
        actions = super()._ask(number, rows, seats)
        observations, keys = batch.observations.take(rows), batch.keys.copy()
        some = self._rng.choice(len(rows), size=min(4, len(rows)), replace=False)
        self._seen.append((observations[some], batch.masks[rows[some]], keys[rows[some]]))
        kept = zlib.compress(batch.states.tobytes(), 1)
        hands = batch.states["hands"][rows]
        states = np.zeros(len(rows), dtype=STATE)
        determinize_rows(observations, self._rng.integers(2**64, size=len(rows), dtype=np.uint64), states)
        self.differed += int((states["hands"] != hands).any(axis=(1, 2)).sum())
        batch.states[rows] = states
        del states, hands
        batch.refresh()
        batch.keys[:] = keys
        if (batch.observations.take(rows) != observations).any():
            raise RuntimeError("hidden cards dealt anew have changed an observation: the audit itself is wrong")
        again = super()._ask(number, rows, seats)
        batch.states[:] = np.frombuffer(zlib.decompress(kept), dtype=STATE)
        batch.refresh()
        batch.keys[:] = keys
        self.asked += len(rows)
        self.changed += int((again != actions).sum())
        return actions


def company(agent: Agent, observations: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> Finding:
    """Ask the same decisions together, again, in reverse, alone, and each twice in one call: nothing may change."""
    B = len(keys)
    asked = {
        "again": np.arange(B),
        "in reverse": np.arange(B)[::-1],
        "in a bigger batch": np.repeat(np.arange(B), 2),
    }

    def ask(order: np.ndarray) -> np.ndarray:
        return np.asarray(agent.act(observations.take(order), masks[order], keys[order]))

    try:
        first = ask(np.arange(B))
        changed = {way: int((ask(order) != first[order]).sum()) for way, order in asked.items()}
        changed["alone"] = sum(int(ask(np.array([i]))[0] != first[i]) for i in range(B))
    except (Exception, SystemExit) as error:
        return Finding("company", False, f"{B} decisions asked: act failed: {type(error).__name__}: {error}")
    told = f"{B} decisions asked " + ", ".join(f"{way} ({count} changed)" for way, count in changed.items())
    return Finding("company", not any(changed.values()), told)
