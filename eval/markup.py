"""A result as a small HTML table for notebooks, with its intervals drawn; it keeps to the colours of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from eval.pictures import short
from eval.report import FEW_DEALS, interval, percent

WIDTH: Final = 180
"""Of a drawn interval, in pixels."""
AGENT, PAIR = "#1f77b4", "#ff7f0e"
"""Colours of agents and of pairs, as in the pictures."""


def table_html(result: dict[str, Any]) -> str:
    """Return points, win share and score of each agent and, of more than two, points and win share of each pair."""
    agents = result["agents"]
    pairs = {f"{short(pair['a'])} – {short(pair['b'])}": pair for pair in result["pairs"]} if len(agents) > 2 else {}
    ends = [end for figures in (*agents.values(), *pairs.values()) for end in figures["points_ci"]]
    scale = (min(0.0, *ends), max(0.0, *ends))
    lines = [_row(("agent", "points a round", "", "rounds won", "score"), "th")]
    for name, figures in agents.items():
        lines.append(_line(short(name), figures, scale, AGENT, f"{figures['score']:+.1f}"))
    if pairs:
        lines.append(_row(("pair", "points a round", "", "rounds above", ""), "th"))
        lines += [_line(name, figures, scale, PAIR, "") for name, figures in pairs.items()]
    notes = "".join(f"<br>{escape(note)}" for note in _notes(result))
    return f"<table>{''.join(lines)}</table><small>{escape(_caption(result))}{notes}</small>"


def _line(name: str, figures: dict[str, Any], scale: tuple[float, float], colour: str, score: str) -> str:
    """Return the row of an agent or a pair."""
    low, high = figures["win_share_ci"]
    share = f"{percent(figures['win_share'])} ({100 * low:.1f} to {100 * high:.1f})"
    bar = _bar(figures["points"], figures["points_ci"], scale, colour)
    cells = (escape(name), escape(interval(figures, "points")), bar, escape(share), score)
    return _row(cells, "td")


def _row(cells: Iterable[str], kind: str) -> str:
    """Return a row of cells that are HTML already, the first to the left."""
    first, *rest = cells
    left, right = (f'<{kind} style="text-align:{side};white-space:nowrap">' for side in ("left", "right"))
    return f"<tr>{left}{first}</{kind}>{''.join(f'{right}{cell}</{kind}>' for cell in rest)}</tr>"


def _bar(value: float, ends: Sequence[float], scale: tuple[float, float], colour: str) -> str:
    """Return an interval on a scale, with its middle and a line at zero, as SVG."""
    span = (scale[1] - scale[0]) or 1.0
    zero, middle, low, high = (6 + (WIDTH - 12) * (at - scale[0]) / span for at in (0.0, value, *ends))
    return (
        f'<svg width="{WIDTH}" height="14" viewBox="0 0 {WIDTH} 14" style="vertical-align:middle">'
        f'<line x1="{zero:.1f}" y1="0" x2="{zero:.1f}" y2="14" stroke="currentColor" stroke-opacity="0.4"/>'
        f'<line x1="{low:.1f}" y1="7" x2="{high:.1f}" y2="7" stroke="{colour}" stroke-width="3"/>'
        f'<circle cx="{middle:.1f}" cy="7" r="4" fill="{colour}"/></svg>'
    )


def _caption(result: dict[str, Any]) -> str:
    """Return what was played, and what the figures are."""
    rules = ", ".join(f"{name}={value}" for name, value in result["rules"].items() if name != "players")
    return (
        f"{result['deals']:,} deals, each in {result['seatings']} seatings of {result['players']} players, seed "
        f"{result['seed']}{f', {rules}' if rules else ''}; in brackets {100 * result['level']:.4g}% intervals, "
        f"bootstrapped by deal; equal play wins {percent(1 / result['players'])}"
    )


def _notes(result: dict[str, Any]) -> list[str]:
    """Return what a reader has to know before the figures are trusted."""
    notes = [f"{name} forfeited {count:,} rounds by faults" for name, count in result["faults"].items() if count]
    if result["deals"] < FEW_DEALS:
        notes.append(f"Fewer than {FEW_DEALS} deals: the true intervals are wider.")
    if result["interrupted"]:
        notes.append("The run was interrupted.")
    return notes
