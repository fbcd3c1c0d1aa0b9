"""DQN of Tianshou on Jolly: all that it needs is an observation that holds the mask.

Example: python docs/howto/tianshou_dqn.py --epochs 10 --opponent greedy
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import gymnasium
import numpy as np
import torch
import tyro
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from agents import make
from eval.compare import compare
from jolly_env import Rules
from jolly_env.actions import ACTIONS
from jolly_env.features import FEATURES, features


@dataclass
class Args:
    """The settings."""

    epochs: int = 10
    steps_per_epoch: int = 10_000
    opponent: str = "greedy"
    """Who plays the other seats: any agent by name."""
    envs: int = 16
    eps: float = 0.1
    """The share of random choices while training."""
    learning_rate: float = 5e-4
    eval_deals: int = 500
    """Duplicate deals against the opponent at the end."""
    max_turns: int = 200
    seed: int = 1


class Masked(gymnasium.Wrapper):
    """Gives the mask with the observation, under the names by which Tianshou's policies look for them."""

    def __init__(self, env: gymnasium.Env):
        super().__init__(env)
        mask = gymnasium.spaces.Box(0, 1, (ACTIONS,), np.int8)
        self.observation_space = gymnasium.spaces.Dict({"obs": env.observation_space, "mask": mask})

    def reset(self, **options):
        """Deal a game."""
        observation, info = self.env.reset(**options)
        return self._seen(observation, info), {}

    def step(self, action):
        """Play an action."""
        observation, reward, terminated, truncated, info = self.env.step(int(action))
        return self._seen(observation, info), reward, terminated, truncated, {}

    def _seen(self, observation, info):
        return {"obs": observation, "mask": info["action_mask"].astype(bool)}


class Player:
    """The network as an agent of this project: the legal action with the highest value."""

    def __init__(self, net: torch.nn.Module):
        self.net = net

    @torch.no_grad()
    def act(self, observations, masks, keys):
        """Return a legal action for each decision."""
        values, _ = self.net(features(observations))
        return np.where(masks > 0, values.numpy(), -np.inf).argmax(axis=1)


def main(args: Args) -> None:
    """Train, then compare with the opponent on duplicate deals."""
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    rules, opponent = Rules(max_turns=args.max_turns), make(args.opponent)

    def one() -> gymnasium.Env:
        return Masked(gymnasium.make("jolly_env:jolly_env/Jolly-v0", opponents=opponent, seat="rotate", rules=rules))

    envs = DummyVectorEnv([one] * args.envs)
    envs.seed(args.seed)
    net = Net(state_shape=(FEATURES,), action_shape=ACTIONS, hidden_sizes=(256, 256))
    policy = DiscreteQLearningPolicy(
        model=net, action_space=gymnasium.spaces.Discrete(ACTIONS), eps_training=args.eps, eps_inference=0.0
    )
    dqn = DQN(policy=policy, optim=AdamOptimizerFactory(lr=args.learning_rate), gamma=1.0, target_update_freq=500)
    collector = Collector(dqn, envs, VectorReplayBuffer(50_000, args.envs), exploration_noise=True)
    collector.reset()
    dqn.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=args.epochs,
            epoch_num_steps=args.steps_per_epoch,
            collection_step_num_env_steps=args.envs * 16,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=128,
            show_progress=False,
        )
    )
    net.eval()
    print(compare(args.opponent, dqn=Player(net), deals=args.eval_deals, rules=rules, seed=0))


if __name__ == "__main__":
    try:
        main(tyro.cli(Args, description=__doc__))
    except ValueError as error:
        sys.exit(f"error: {error}")
