"""The networks and the masked choice: legal at 839 actions, alike for all suits, drawn as the probabilities say."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from agents.network import PolicyNetwork, ValueNetwork, masked
from jolly_env import actions as act
from jolly_env.batch import Batch
from jolly_env.features import FEATURE_FIELDS, FEATURE_SLICES
from train.policy import draw


@pytest.fixture(scope="module")
def positions() -> Batch:
    """Return positions at all stages of a round, in the view of features."""
    batch = Batch(64, seed=5, view="features")
    for _ in range(150):
        batch.step(batch.random_actions())
    return batch


def other_suits(features: torch.Tensor, order: list[int]) -> torch.Tensor:
    """Return features with the suits in another order."""
    turned = features.clone()
    for name, length in FEATURE_FIELDS:
        if length in (52, 53):
            start = FEATURE_SLICES[name].start
            for new, old in enumerate(order):
                turned[:, start + 13 * new : start + 13 * new + 13] = features[
                    :, start + 13 * old : start + 13 * old + 13
                ]
    return turned


def test_suits_are_alike(positions: Batch) -> None:
    """Where the suits change places, so do the scores of runs and discards; the value and the draws stay."""
    torch.manual_seed(0)
    policy, value = PolicyNetwork((16, 24)).double(), ValueNetwork((16, 24)).double()
    features = torch.from_numpy(positions.observations.copy()).double()
    order = [2, 0, 3, 1]
    turned = other_suits(features, order)
    before, after = policy(features), policy(turned)
    nothing = features[:, :0]
    assert torch.allclose(value(features, nothing), value(turned, nothing))
    assert torch.allclose(before[:, : act.LAY_SET], after[:, : act.LAY_SET])
    runs = act.RUN_STARTS * act.RUN_FORMS
    for first, size in ((act.LAY_RUN, runs), (act.DISCARD, 13)):
        for new, old in enumerate(order):
            here, there = first + size * new, first + size * old
            assert torch.allclose(after[:, here : here + size], before[:, there : there + size])
    assert not torch.allclose(before[:, act.LAY_RUN : act.MELD], after[:, act.LAY_RUN : act.MELD])


def test_only_legal_actions_are_ever_drawn(positions: Batch) -> None:
    """A soak: a hundred thousand draws at 839 actions, with scores so far apart that most probabilities vanish."""
    torch.manual_seed(1)
    masks = torch.from_numpy(positions.masks.copy()).bool()
    for spread in (0.0, 1.0, 30.0, 3000.0):
        for _ in range(400):
            probabilities, _ = masked(spread * torch.randn(masks.shape), masks)
            actions = draw(probabilities)
            assert masks.gather(1, actions.unsqueeze(1)).all()


def test_draws_follow_the_probabilities() -> None:
    """Frequencies of 200,000 draws lie within four standard errors of the probabilities."""
    torch.manual_seed(2)
    masks = torch.zeros((1, 839), dtype=torch.bool)
    masks[0, [0, 5, 400, 838]] = True
    probabilities, logs = masked(torch.randn(1, 839), masks)
    assert probabilities.sum() == pytest.approx(1)
    assert torch.allclose(probabilities[masks].log(), logs[masks], atol=1e-5)
    count = 200_000
    drawn = np.bincount(draw(probabilities.expand(count, -1)).numpy(), minlength=839) / count
    expected = probabilities[0].numpy()
    assert (np.abs(drawn - expected) <= 4 * np.sqrt(expected * (1 - expected) / count) + 1e-12).all()
