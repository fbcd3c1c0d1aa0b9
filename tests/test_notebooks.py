"""The notebooks: kept without outputs (notebooks/README.md tells how), and each runs with ``quick = True``."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))
NAMES = [path.stem for path in PATHS]
QUIET = r"jolly_env|agents|eval|train|Warning|warning|Error|Traceback"
"""What stderr may not hold."""
COMPILING = re.compile(r"^[\w.]+: compil(ing its kernels, once, into \S+ \.\.\.|ed in [\d.]+ s)\n?", re.MULTILINE)
"""What a first start says."""


def parameters(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Return the cells that are tagged as parameters."""
    return [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]


def test_there_are_notebooks_and_the_readme_lists_them():
    listed = re.findall(r"\]\((\w+)\.ipynb\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert NAMES and set(NAMES) <= set(listed)


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_it_is_kept_without_outputs(path: Path):
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert set(notebook.metadata) == {"kernelspec"}
    assert notebook.metadata.kernelspec.name == "python3"
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags"}, cell.id
        assert not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", cell.id), f"{cell.id}: give the cell a name as its id"
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None, f"{cell.id}: outputs are kept"
    assert text == nbformat.writes(notebook) + "\n", "not as Jupyter and nbstripout write it"
    (cell,) = parameters(notebook)
    assert re.match(r"quick = False\b", cell.source)


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = nbformat.read(path, as_version=4)
    (cell,) = parameters(notebook)
    cell.source = cell.source.replace("quick = False", "quick = True", 1)
    before = {file.name for file in FOLDER.iterdir()}
    NotebookClient(notebook, timeout=500, kernel_name="python3", resources={"metadata": {"path": FOLDER}}).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                told = COMPILING.sub("", output.text)
                assert not re.search(QUIET, told), f"{cell.id}: {told}"
    assert {file.name for file in FOLDER.iterdir()} == before, "a notebook writes beside itself"
