"""The networks: features in; one number an action, or one estimate, out.

All suits are alike in Jolly, so what is known of each suit's cards goes through the same weights, together with what is
known of all suits on average and of the moment. Runs and discards are scored from their own suit, takes from what they
are good for, all by the same weights; all else is scored from the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import nn

from agents.options import ENDS, NUMBERS_AT, OPTION, OPTIONS, ROWS_AT, VIEW, WORTH
from jolly_env import actions as act
from jolly_env.cards import CARD_KINDS, JOKER, RANKS, SUITS
from jolly_env.features import FEATURE_FIELDS, FEATURE_SLICES, FEATURES


def _columns() -> tuple[list[list[int]], list[int]]:
    """Return the features of each suit's cards, in the same order for each, and all other features."""
    by_card = [FEATURE_SLICES[name].start for name, length in FEATURE_FIELDS if length in (JOKER, CARD_KINDS)]
    suits = [[start + RANKS * suit + rank for start in by_card for rank in range(RANKS)] for suit in range(SUITS)]
    held = {column for columns in suits for column in columns}
    return suits, [column for column in range(FEATURES) if column not in held]


RUNS = act.RUN_STARTS * act.RUN_FORMS
"""Base runs of a suit."""
BEFORE_RUNS = act.LAY_RUN
AT_MELDS = act.DISCARD - act.MELD
TAKE_NUMBERS, TAKE_WIDTH = 5, 32
OPTION_WIDTH = 64
UNLISTED = -1e4
"""The score of an action that is not among the options."""
TRUST = 2.0
"""How much the planner's worth of an option, in tens of points, counts before anything is learned."""


class Body(nn.Module):
    """What all networks begin with: float32[B, FEATURES] -> float32[B, 4, W] by suit, and float32[B, V] of all."""

    def __init__(self, widths: Sequence[int]) -> None:
        """Make two layers of ``W`` numbers a suit and one of ``V`` numbers of all; ``widths`` are (W, V)."""
        super().__init__()
        self.suit_columns: torch.Tensor
        self.other_columns: torch.Tensor
        suits, others = _columns()
        self.register_buffer("suit_columns", torch.tensor(suits).flatten(), persistent=False)
        self.register_buffer("other_columns", torch.tensor(others), persistent=False)
        width, size = widths[0], len(suits[0])
        self.cards = nn.Linear(size, width, bias=False)
        self.context = nn.Linear(size + len(others), width)
        self.mixed = nn.Linear(width, width, bias=False)
        self.average = nn.Linear(width, width)
        self.all = nn.Linear(2 * width + len(others), widths[1])

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what is made of each suit, and of all."""
        cards = features[:, self.suit_columns].view(len(features), SUITS, -1)
        others = features[:, self.other_columns]
        context = self.context(torch.cat((cards.mean(dim=1), others), dim=1))
        first = torch.relu(self.cards(cards) + context.unsqueeze(1))
        second = torch.relu(self.mixed(first) + self.average(first.mean(dim=1)).unsqueeze(1))
        whole = torch.cat((second.mean(dim=1), second.amax(dim=1), others), dim=1)
        return second, torch.relu(self.all(whole))


class PolicyNetwork(nn.Module):
    """Scores the 839 actions of ``B`` positions: float32[B, FEATURES] -> float32[B, 839]."""

    def __init__(self, widths: Sequence[int]) -> None:
        """Make a network of these ``widths``, as in :class:`Body`."""
        super().__init__()
        self.widths = tuple(widths)
        self.body = Body(widths)
        self.of_suit = nn.Linear(widths[0], RUNS + RANKS, bias=False)
        self.of_suit_whole = nn.Linear(widths[1], RUNS + RANKS)
        self.head = nn.Linear(widths[1], BEFORE_RUNS + AT_MELDS + 1)
        self.of_take = nn.Linear(TAKE_NUMBERS, TAKE_WIDTH, bias=False)
        self.of_take_whole = nn.Linear(widths[1], TAKE_WIDTH)
        self.take_head = nn.Linear(TAKE_WIDTH, 1)

    @property
    def heads(self) -> tuple[nn.Linear, ...]:
        """The last layers."""
        return self.of_suit, self.of_suit_whole, self.head, self.take_head

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return the scores of all actions, legal or not, in the order of their numbers."""
        by_suit, whole = self.body(features)
        runs, discards = (self.of_suit(by_suit) + self.of_suit_whole(whole).unsqueeze(1)).split((RUNS, RANKS), dim=2)
        stock, takes, sets, at_melds, joker = self.head(whole).split(
            (1, act.MAX_TAKE, act.LAY_RUN - act.LAY_SET, AT_MELDS, 1), dim=1
        )
        hidden = torch.relu(self.of_take(take_numbers(features)) + self.of_take_whole(whole).unsqueeze(1))
        takes = takes + self.take_head(hidden).squeeze(2)
        return torch.cat((stock, takes, sets, runs.flatten(1), at_melds, discards.flatten(1), joker), dim=1)


def take_numbers(features: torch.Tensor) -> torch.Tensor:
    """Return what each take from the row is good for: float32[B, FEATURES] -> float32[B, 19, 5].

    What more it lets lay and leaves in hand, the same for its oldest card alone, and the number of its cards.
    """
    fits, idle = features[:, FEATURE_SLICES["take_fits"]], features[:, FEATURE_SLICES["take_idle"]]
    none = torch.zeros_like(fits[:, :1])
    count = torch.linspace(0, 1, act.MAX_TAKE, dtype=features.dtype, device=features.device).expand_as(fits)
    steps = [torch.diff(numbers, dim=1, prepend=none) for numbers in (fits, idle)]
    return torch.stack((fits, idle, *steps, count), dim=2)


class OptionNetwork(nn.Module):
    """Scores each option of ``B`` positions by itself, its suit, the whole: float32[B, VIEW] -> float32[B, 839]."""

    def __init__(self, widths: Sequence[int]) -> None:
        """Make a network of these ``widths``, as in :class:`Body`."""
        super().__init__()
        self.widths = tuple(widths)
        self.body = Body(widths)
        self.of_whole = nn.Linear(widths[1] + ENDS, OPTION_WIDTH)
        self.of_option = nn.Linear(OPTION, OPTION_WIDTH, bias=False)
        self.second = nn.Linear(OPTION_WIDTH, OPTION_WIDTH)
        self.head = nn.Linear(OPTION_WIDTH, 1, bias=False)
        self.of_suit = nn.Linear(widths[0], RANKS, bias=False)
        self.of_suit_whole = nn.Linear(widths[1], RANKS)
        self.trust = nn.Parameter(torch.tensor(TRUST))

    @property
    def heads(self) -> tuple[nn.Linear, ...]:
        """The last layers."""
        return self.head, self.of_suit, self.of_suit_whole

    def forward(self, views: torch.Tensor) -> torch.Tensor:
        """Return the scores of all actions in the order of their numbers; those of no option are very low."""
        numbers = views[:, NUMBERS_AT:ROWS_AT].long()
        owners, places = (numbers >= 0).nonzero(as_tuple=True)
        rows = views[:, ROWS_AT:].view(len(views), OPTIONS, OPTION)[owners, places]
        by_suit, of_all = self.body(views[:, :FEATURES])
        whole = self.of_whole(torch.cat((of_all, views[:, FEATURES:NUMBERS_AT]), dim=1))
        hidden = torch.relu(self.of_option(rows) + whole[owners])
        hidden = torch.relu(self.second(hidden))
        scores = self.head(hidden).flatten() + self.trust * rows[:, WORTH]
        # A natural to be thrown is scored from its suit, too; a joker, and all that is no discard, have a 0 there.
        thrown = (self.of_suit(by_suit) + self.of_suit_whole(of_all).unsqueeze(1)).flatten(1)
        thrown = nn.functional.pad(thrown, (1, 1))
        scores = scores + thrown[owners, (numbers[owners, places] - act.DISCARD + 1).clamp(min=0)]
        filled = scores.new_full((len(views), act.ACTIONS), UNLISTED)
        return filled.index_put((owners, numbers[owners, places]), scores)


Actor: TypeAlias = PolicyNetwork | OptionNetwork
NETWORKS: dict[str, type[PolicyNetwork] | type[OptionNetwork]] = {"suits": PolicyNetwork, "options": OptionNetwork}
"""The networks that may play, by name."""
INPUTS = {"suits": FEATURES, "options": VIEW}
"""How many numbers each sees."""


def kind_of(network: Actor) -> str:
    """Return the name of a network's kind."""
    return next(name for name, kind in NETWORKS.items() if type(network) is kind)


class ValueNetwork(nn.Module):
    """Estimates what the seat to move will still earn: float32[B, V], float32[B, H] -> float32[B].

    The first are features or a view, the second hidden cards that only a learner may see, if any.
    """

    def __init__(self, widths: Sequence[int], inputs: int = FEATURES, hidden: int = 0) -> None:
        """Make a network of these ``widths``, as in :class:`Body`, for ``inputs`` and ``hidden`` numbers."""
        super().__init__()
        self.body = Body(widths)
        self.ends = ENDS if inputs == VIEW else 0
        self.joined = nn.Linear(widths[1] + self.ends + hidden, widths[1]) if self.ends + hidden else None
        self.head = nn.Linear(widths[1], 1)

    @property
    def heads(self) -> tuple[nn.Linear, ...]:
        """The last layer."""
        return (self.head,)

    def forward(self, views: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Return the estimates."""
        whole = self.body(views[:, :FEATURES])[1]
        if self.joined is not None:
            ends = views[:, FEATURES : FEATURES + self.ends]
            whole = torch.relu(self.joined(torch.cat((whole, ends, hidden), dim=1)))
        values: torch.Tensor = self.head(whole).flatten()
        return values


def masked(scores: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return probabilities, 0 where illegal, and their logarithms, about -1e8 there: float32[B, 839] each.

    Two passes of softmax are quicker than an exponential of logarithms that are so low.
    """
    scores = scores.masked_fill(~masks, -1e8)
    return torch.softmax(scores, dim=-1), torch.log_softmax(scores, dim=-1)
