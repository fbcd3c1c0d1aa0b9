"""Pictures and films: sizes, files that read back, environments that give pictures, and a library that is missing."""

from __future__ import annotations

import importlib
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("resvg_py")
imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import render_test  # noqa: E402
from PIL import Image  # noqa: E402
from test_gym_env import Masked  # noqa: E402

from eval.__main__ import main  # noqa: E402
from jolly_env import Rules, film, jolly_v0, record  # noqa: E402
from jolly_env.drawing import draw_cards, draw_table  # noqa: E402
from jolly_env.film import framed, pixels, save_film  # noqa: E402
from jolly_env.game import Game  # noqa: E402
from jolly_env.gym_env import JollyEnv  # noqa: E402
from jolly_env.shapes import FELT  # noqa: E402

ID = "jolly_env/Jolly-v0"
GREEN = list(bytes.fromhex(FELT[1:]))


def played(steps: int, **rules: Any) -> Game:
    """Return a game after some steps of random play."""
    game, chance = Game(Rules(**rules), seed=3), np.random.default_rng(3)
    for _ in range(steps):
        if not game.over:
            game.step(int(chance.choice(game.legal_actions())))
    return game


def gif_frames(path: Path) -> list[np.ndarray]:
    with Image.open(path) as image:
        frames = []
        for number in range(image.n_frames):
            image.seek(number)
            frames.append(np.asarray(image.convert("RGB")))
    return frames


def mp4_frames(path: Path) -> list[np.ndarray]:
    reader = imageio_ffmpeg.read_frames(str(path))
    width, height = next(reader)["size"]
    return [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]


def difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a.astype(int) - b.astype(int)).mean())


def test_pixels_have_the_width_asked_for_and_the_colours_drawn():
    drawing = draw_cards("Ah Ks *")
    image = pixels(drawing, drawing.width)
    assert image.shape == (drawing.height, drawing.width, 3) and image.dtype == np.uint8
    assert (image == GREEN).all(axis=2).mean() > 0.2
    for colour in ("#c01f2e", "#1d242b", "#6d3aa0", "#fffdf8"):
        assert (image == list(bytes.fromhex(colour[1:]))).all(axis=2).any()
    twice = pixels(drawing, 2 * drawing.width)
    assert twice.shape == (2 * drawing.height, 2 * drawing.width, 3)
    assert pixels(draw_table(Game(seed=1))).shape[1] == 900
    assert (pixels(drawing) == pixels(drawing)).all()


@pytest.mark.parametrize("width", [0, -1, 1.5, "900", None, 10**6])
def test_a_wrong_width_is_named(width):
    with pytest.raises(ValueError, match=r"^width="):
        pixels(draw_cards("Ah"), width)


def test_only_a_drawing_has_pixels():
    with pytest.raises(ValueError, match=r"^pixels: expected a Drawing, got Game$"):
        pixels(Game(seed=1))  # type: ignore[arg-type]


def test_letters_are_drawn():
    """Without its font a table would lose all words and no error would say so."""
    image = pixels(draw_table(Game(seed=1)))
    assert (image[15:34, 16:300] > 200).all(axis=2).sum() > 300


@pytest.mark.parametrize("size", [(900, 720), (301, 200), (40, 900)])
def test_a_framed_picture_has_its_size_whatever_the_table(size: tuple[int, int]):
    width, height = size
    for source in (Game(seed=1), played(300, players=4), played(60).observe(1)):
        image = framed(draw_table(source), width, height)
        assert image.shape == (height, width, 3) and image.dtype == np.uint8
        assert not (image == GREEN).all()


def test_a_picture_is_saved_as_png(tmp_path: Path):
    drawing = draw_cards("Ah Ks *")
    drawing.save(tmp_path / "cards.png")
    with Image.open(tmp_path / "cards.png") as image:
        assert (np.asarray(image) == pixels(drawing, drawing.width)).all()
    assert [path.name for path in tmp_path.iterdir()] == ["cards.png"]


@pytest.mark.parametrize(("suffix", "frames_of", "close"), [(".gif", gif_frames, 2), (".mp4", mp4_frames, 4)])
def test_a_film_of_a_record_has_a_frame_for_every_position(tmp_path: Path, suffix: str, frames_of: Any, close: float):
    game = played(15, players=3)
    record.save(record.of(game), tmp_path / "game.json")
    path = tmp_path / f"game{suffix}"
    assert save_film(tmp_path / "game.json", path, seconds=0.1) == 16
    frames = frames_of(path)
    assert len(frames) == 16
    assert {(frame.shape[0] % 2, frame.shape[1]) for frame in frames} == {(0, 900)}
    for number, position in ((0, Game(Rules(players=3), seed=3)), (15, game)):
        drawn = pixels(draw_table(position))
        assert difference(frames[number][: len(drawn)], drawn) < close
    assert save_film(record.of(game), path, seconds=0.1) == 16
    assert len(path.read_bytes()) < 16 * 20_000


@pytest.mark.parametrize(("suffix", "frames_of"), [(".gif", gif_frames), (".mp4", mp4_frames)])
def test_frames_of_all_kinds_are_padded_to_one_size(tmp_path: Path, suffix: str, frames_of: Any):
    game = played(30)
    kinds = [game, game.observe(0), draw_cards("Ah 2d"), np.full((51, 33, 3), 200, np.uint8)]
    path = tmp_path / f"a{suffix}"
    assert save_film(iter(kinds), path) == 4
    frames = frames_of(path)
    assert len(frames) == 4 and len({frame.shape for frame in frames}) == 1
    assert np.abs(frames[3][10, 450].astype(int) - 200).max() < 9
    assert np.abs(frames[3][-1, -1].astype(int) - GREEN).max() < 9


def test_a_gif_shows_its_last_frame_longer(tmp_path: Path):
    save_film([draw_cards("Ah"), draw_cards("Kh")], tmp_path / "a.gif", seconds=0.5)
    shown = []
    with Image.open(tmp_path / "a.gif") as image:
        for number in range(image.n_frames):
            image.seek(number)
            shown.append(image.info["duration"])
        assert image.info["loop"] == 0
    assert shown == [500, 2000]


@pytest.mark.parametrize(
    ("source", "name", "seconds", "message"),
    [
        ([], "a.gif", 1, "there are no frames"),
        (5, "a.gif", 1, "expected a record or frames, got int"),
        (["Ah"], "a.gif", 1, "expected a jolly_env.Game or an observation, got str"),
        ([np.zeros((3, 4), np.uint8)], "a.gif", 1, r"expected images uint8\[H, W, 3\], got uint8\[3, 4\]"),
        ({}, "a.gif", 1, "record"),
        ([draw_cards("Ah")], "a.avi", 1, r"expected a file that ends with \.gif or \.mp4"),
        ([draw_cards("Ah")], "a.gif", 0, "seconds=0: expected a number from"),
        ([draw_cards("Ah")], "a.gif", "1", "seconds='1': expected a number from"),
    ],
)
def test_what_is_no_film_is_named_and_nothing_is_written(source, name, seconds, message, tmp_path: Path):
    with pytest.raises(ValueError, match=message):
        save_film(source, tmp_path / name, seconds=seconds)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named_before_anything_is_drawn(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="none"):
        save_film([draw_cards("Ah")], tmp_path / "none" / "a.gif")


@pytest.mark.parametrize("missing", ["resvg_py", "imageio_ffmpeg", "PIL.Image", "matplotlib"])
def test_a_missing_library_is_named_with_its_remedy(missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, missing, None)
    film._fonts.cache_clear()
    with pytest.raises(ModuleNotFoundError, match=rf"need {missing}: pip install 'jolly-env\[render\]'"):
        save_film([draw_cards("Ah")], tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_a_film(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    record.save(record.of(played(4)), tmp_path / "game.json")
    path = tmp_path / "game.gif"
    assert main(["replay", str(tmp_path / "game.json"), "--film", str(path)]) == 0
    assert capsys.readouterr().out == f"wrote {path}, 5 positions\n"
    assert len(gif_frames(path)) == 5
    assert main(["replay", str(tmp_path / "game.json"), "--film", str(tmp_path / "game.avi")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert main(["replay", str(tmp_path / "game.json"), "--film", str(path)]) == 2
    assert capsys.readouterr().err == "error: pictures and films need resvg_py: pip install 'jolly-env[render]'\n"


# Environments


def test_jolly_v0_gives_pictures_of_one_size():
    env = jolly_v0.env(rules=Rules(players=4), render_mode="rgb_array")
    env.reset(seed=1)
    chance, shapes = np.random.default_rng(1), set()
    for step, agent in enumerate(env.agent_iter()):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        if step % 20 == 0:
            picture = env.render()
            assert picture.dtype == np.uint8
            shapes.add(picture.shape)
            assert (picture == framed(draw_table(env.unwrapped.game))).all()
        env.step(chance.choice(observation["action_mask"].nonzero()[0]))
        assert env.observe(agent) is not None
    assert shapes == {(720, 900, 3)}
    assert env.render().shape == (720, 900, 3)


def test_the_render_test_of_pettingzoo():
    render_test(jolly_v0.env)


def test_the_gymnasium_environment_shows_what_the_learner_sees():
    env = gymnasium.make(ID, render_mode="rgb_array", seat=1)
    env.reset(seed=2)
    jolly = env.unwrapped
    assert isinstance(jolly, JollyEnv)
    picture = env.render()
    assert picture.shape == (720, 900, 3) and picture.dtype == np.uint8
    assert (picture == framed(draw_table(jolly.game.observe(1)))).all()
    env.step(0)
    assert (env.render() != picture).any()


def test_check_env_with_pictures():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*due to the environment not having a spec")
        check_env(Masked(render_mode="rgb_array"))


@pytest.mark.parametrize("mode", ["rgb_array", "ansi", None])
def test_the_vector_environment_shows_each_game(mode: str | None):
    envs = gymnasium.make_vec(ID, num_envs=3, render_mode=mode, seat="rotate")
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.render()
    _, infos = envs.reset(seed=4)
    if mode is None:
        with pytest.warns(UserWarning, match="render mode"):
            assert envs.render() is None
        return
    shown = envs.render()
    assert isinstance(shown, tuple) and len(shown) == 3
    for row in range(3):
        env = gymnasium.make(ID, render_mode=mode, seat=int(infos["seat"][row]))
        env.reset(seed=4 + row)
        assert np.array_equal(env.render(), shown[row])
    with pytest.raises(ValueError, match="render_mode='human': expected None or one of ansi, rgb_array"):
        gymnasium.make_vec(ID, num_envs=3, render_mode="human")


@pytest.mark.skipif(importlib.util.find_spec("moviepy") is None, reason="RecordVideo needs moviepy")
def test_record_video_of_gymnasium(tmp_path: Path):
    env = gymnasium.wrappers.RecordVideo(gymnasium.make(ID, render_mode="rgb_array"), str(tmp_path))
    _, info = env.reset(seed=1)
    done = False
    while not done:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].nonzero()[0][-1]))
        done = terminated or truncated
    env.close()
    assert list(tmp_path.glob("*.mp4"))
