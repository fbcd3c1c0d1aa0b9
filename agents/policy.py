"""An agent that plays by a trained network, and the folder that holds one: weights and a JSON beside them.

Loading reads tensors (safetensors) and JSON and runs nothing. Weights whose hash, shape or features don't fit are
refused.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch

from agents.network import INPUTS, NETWORKS, Actor, kind_of
from agents.options import Views
from jolly_env.arrays import check_chosen, check_decisions, check_observations
from jolly_env.features import FEATURE_FIELDS, features

WEIGHTS = "weights.safetensors"
DESCRIPTION = "agent.json"
FORMAT, VERSION = "jolly-policy", 4


class PolicyAgent:
    """Plays the action that a network likes best, or draws one by its probabilities. Knows its inputs, no more."""

    def __init__(self, network: Actor, *, sample: bool = False) -> None:
        """Play by a copy of ``network``; ``sample`` draws instead of choosing the best."""
        self.network = type(network)(network.widths).double()  # on the CPU, wherever it was trained
        self.network.load_state_dict(network.state_dict())
        self.network.requires_grad_(False)
        self.sample = sample
        kind = kind_of(network)
        self._views = Views() if kind == "options" else None
        self._inputs = INPUTS[kind]

    def act(self, observations: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return the actions of ``B`` decisions: int64[B]; ``ValueError`` where there is none, or for other arrays."""
        masks, keys = check_decisions(masks, keys)
        check_chosen(np.where(masks.any(axis=1), 0, -1))
        scores = self.scores(check_observations(observations, len(masks)), masks)
        if self.sample:
            weights = np.exp(scores - scores.max(axis=1, keepdims=True)).cumsum(axis=1)
            uniform = (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53
            return (weights <= (uniform * weights[:, -1])[:, None]).sum(axis=1).astype(np.int64)
        return scores.argmax(axis=1).astype(np.int64)

    def probabilities(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return how often each action is played: OBSERVATION[B], int8[B, 839] -> float64[B, 839]."""
        scores = self.scores(check_observations(observations, len(masks)), masks)
        if not self.sample:
            return np.eye(masks.shape[1])[scores.argmax(axis=1)]
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def scores(self, records: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return how much each action is liked, as logarithms: OBSERVATION[B], int8[B, 839] -> float64[B, 839].

        They are worked out in 64 bits and rounded, so that they are the same in whatever batch a decision comes.
        """
        out = np.empty((len(masks), self._inputs), dtype=np.float32)
        inputs = features(records, out) if self._views is None else self._views.write(records, masks, out)
        with torch.inference_mode():
            scores = self.network(torch.from_numpy(inputs).double())
        return np.where(masks != 0, np.round(scores.numpy(), 6), -np.inf)


def describe(network: Actor, weights: bytes, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands beside the weights; ``about`` adds where they come from."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "network": kind_of(network),
        "widths": list(network.widths),
        "features": [list(field) for field in FEATURE_FIELDS],
        "sha256": hashlib.sha256(weights).hexdigest(),
        **about,
    }


def weights_of(network: Actor) -> bytes:
    """Return the weights in safetensors' format."""
    return safetensors.torch.save({k: v.detach().cpu().contiguous() for k, v in network.state_dict().items()})


def load(path: str | Path, *, sample: bool | None = None) -> PolicyAgent:
    """Return the agent in a folder, in a run folder's ``best`` or else ``last``, or of a weights file.

    ``ValueError`` of one line if there is none, or if it is damaged or does not fit.
    """
    folder = _folder(Path(path))
    network, description = load_network(folder)
    return PolicyAgent(network, sample=bool(description.get("sample", False)) if sample is None else sample)


def load_network(folder: Path) -> tuple[Actor, dict[str, Any]]:
    """Return the network in a folder and its description; ``ValueError`` as in :func:`load`."""
    description = read_description(folder / DESCRIPTION)
    weights = (folder / WEIGHTS).read_bytes()
    if hashlib.sha256(weights).hexdigest() != description.get("sha256"):
        raise ValueError(f"{folder / WEIGHTS}: not the weights that {DESCRIPTION} beside it describes (sha256 differs)")
    if description.get("features") != [list(field) for field in FEATURE_FIELDS]:
        raise ValueError(f"{folder / DESCRIPTION}: made for other features than this version's; train it anew")
    kind = description.get("network")
    if not isinstance(kind, str) or kind not in NETWORKS:
        raise ValueError(f"{folder / DESCRIPTION}: network={kind!r}: expected {' or '.join(NETWORKS)}")
    widths = description.get("widths")
    if not isinstance(widths, list) or len(widths) != 2 or not all(type(w) is int and 1 <= w <= 65536 for w in widths):
        raise ValueError(f"{folder / DESCRIPTION}: widths={widths!r}: expected two whole numbers")
    try:
        tensors = safetensors.torch.load(weights)
    except safetensors.SafetensorError as error:
        raise ValueError(f"{folder / WEIGHTS}: damaged: {error}") from None
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float32 or not bool(tensor.isfinite().all()):
            got = "NaN or infinity" if tensor.dtype == torch.float32 else tensor.dtype
            raise ValueError(f"{folder / WEIGHTS}: {name}: expected finite numbers of torch.float32, got {got}")
    size = sum(math.prod(tensor.shape) for tensor in tensors.values())
    if sum(widths) > size:
        raise ValueError(f"{folder / WEIGHTS}: {size} weights are too few for widths={widths}")
    network = NETWORKS[kind](widths)
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        raise ValueError(f"{folder / WEIGHTS}: {' '.join(str(error).split())}") from None
    return network, description


def read_description(path: Path) -> dict[str, Any]:
    """Return the JSON beside some weights; ``ValueError`` if it is not such."""
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ValueError(f"{path}: expected format {FORMAT!r}")
    if description.get("version") != VERSION:
        raise ValueError(f"{path}: version {description.get('version')!r}; this version reads {VERSION}")
    return description


def _folder(path: Path) -> Path:
    """Return the folder that holds weights and description."""
    if path.name == WEIGHTS:
        path = path.parent
    for folder in (path, path / "best", path / "last"):
        if (folder / DESCRIPTION).is_file() and (folder / WEIGHTS).is_file():
            return folder
    raise ValueError(f"agent {str(path)!r}: no {DESCRIPTION} and {WEIGHTS} there, nor in its best or last")
