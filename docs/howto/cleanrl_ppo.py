"""PPO in one file, in the manner of CleanRL, on Jolly's own vector environment.

Example: python docs/howto/cleanrl_ppo.py --total-timesteps 400000 --opponent greedy
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import gymnasium
import numpy as np
import torch
import tyro
from torch import nn
from torch.distributions import Categorical

from agents import make
from eval.compare import compare
from jolly_env import Rules
from jolly_env.actions import ACTIONS
from jolly_env.features import FEATURES, features


@dataclass
class Args:
    """The settings, by CleanRL's names."""

    total_timesteps: int = 400_000
    """Decisions of the learner."""
    opponent: str = "greedy"
    """Who plays the other seats: any agent by name."""
    num_envs: int = 64
    num_steps: int = 64
    learning_rate: float = 1e-3
    gamma: float = 1.0
    gae_lambda: float = 0.95
    num_minibatches: int = 8
    update_epochs: int = 3
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    hidden: int = 256
    eval_deals: int = 500
    """Duplicate deals against the opponent at the end."""
    max_turns: int = 200
    seed: int = 1


class Net(nn.Module):
    """An actor and a critic on the features; actions that are not legal get no probability."""

    def __init__(self, hidden: int):
        super().__init__()

        def tower(outputs: int) -> nn.Sequential:
            return nn.Sequential(
                nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
            )

        self.actor, self.critic = tower(ACTIONS), tower(1)

    def policy(self, seen: torch.Tensor, mask: torch.Tensor) -> Categorical:
        """Return the distribution over legal actions; ``mask`` is bool[B, 839]."""
        return Categorical(logits=self.actor(seen).masked_fill(~mask, -1e9))


class Player:
    """The network as an agent of this project: it can play in ``compare``, and on the command line."""

    def __init__(self, net: Net):
        self.net = net

    @torch.no_grad()
    def act(self, observations, masks, keys):
        """Return the likeliest legal action for each decision."""
        policy = self.net.policy(torch.from_numpy(features(observations)), torch.from_numpy(masks > 0))
        return policy.logits.argmax(dim=1).numpy()


def main(args: Args) -> None:
    """Train, then compare with the opponent on duplicate deals."""
    torch.manual_seed(args.seed)
    rules = Rules(max_turns=args.max_turns)
    envs = gymnasium.make_vec(
        "jolly_env/Jolly-v0", num_envs=args.num_envs, opponents=make(args.opponent), seat="rotate", rules=rules
    )
    net = Net(args.hidden)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.learning_rate, eps=1e-5)
    T, N = args.num_steps, args.num_envs
    seen = torch.zeros(T, N, FEATURES)
    masks = torch.zeros(T, N, ACTIONS, dtype=torch.bool)
    actions, logprobs = torch.zeros(T, N, dtype=torch.int64), torch.zeros(T, N)
    rewards, values, dones = torch.zeros(T, N), torch.zeros(T, N), torch.zeros(T, N)

    observation, info = envs.reset(seed=args.seed)
    start, rounds = time.perf_counter(), []
    for update in range(1, args.total_timesteps // (T * N) + 1):
        for step in range(T):
            seen[step] = torch.from_numpy(observation)
            masks[step] = torch.from_numpy(info["action_mask"] > 0)
            with torch.no_grad():
                policy = net.policy(seen[step], masks[step])
                actions[step] = policy.sample()
                logprobs[step] = policy.log_prob(actions[step])
                values[step] = net.critic(seen[step]).squeeze(1)
            observation, reward, terminated, truncated, info = envs.step(actions[step].numpy())
            rewards[step] = torch.from_numpy(reward)
            # A game is paid in full, cut off or not: no value follows it (docs/environments.md).
            dones[step] = torch.from_numpy(terminated | truncated)
            rounds += reward[reward != 0].tolist()

        with torch.no_grad():
            after = net.critic(torch.from_numpy(observation)).squeeze(1)
        advantages, running = torch.zeros(T, N), torch.zeros(N)
        for step in reversed(range(T)):
            following = after if step == T - 1 else values[step + 1]
            delta = rewards[step] + args.gamma * following * (1 - dones[step]) - values[step]
            running = delta + args.gamma * args.gae_lambda * (1 - dones[step]) * running
            advantages[step] = running
        returns = advantages + values

        flat = [x.flatten(0, 1) for x in (seen, masks, actions, logprobs, advantages, returns)]
        for _ in range(args.update_epochs):
            for rows in torch.randperm(T * N).chunk(args.num_minibatches):
                b_seen, b_masks, b_actions, b_logprobs, b_advantages, b_returns = (x[rows] for x in flat)
                policy = net.policy(b_seen, b_masks)
                ratio = (policy.log_prob(b_actions) - b_logprobs).exp()
                b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                policy_loss = -torch.min(b_advantages * ratio, b_advantages * clipped).mean()
                value_loss = 0.5 * (net.critic(b_seen).squeeze(1) - b_returns).pow(2).mean()
                loss = policy_loss - args.ent_coef * policy.entropy().mean() + args.vf_coef * value_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), args.max_grad_norm)
                optimizer.step()

        if update % 5 == 0 or update * T * N + T * N > args.total_timesteps:
            speed = update * T * N / (time.perf_counter() - start)
            margin = 100 * float(np.mean(rounds[-500:])) if rounds else float("nan")
            print(f"{update * T * N:,} decisions: {margin:+.0f} points a round, {speed:,.0f} decisions/s", flush=True)
    envs.close()
    print(compare(args.opponent, ppo=Player(net), deals=args.eval_deals, rules=rules, seed=0))


if __name__ == "__main__":
    try:
        main(tyro.cli(Args, description=__doc__))
    except ValueError as error:
        sys.exit(f"error: {error}")
