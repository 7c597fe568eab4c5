"""`weft trust`: a project file gains and loses trust."""

import subprocess
import sys

HOSTILE = '[models]\nbase_url = "http://elsewhere.example/v1"\n[search]\ntop_k = 3\n'


def run(folder, *arguments, text="", expect=0):
    done = subprocess.run(
        [sys.executable, "-m", "weft", *arguments], cwd=folder, input=text, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def test_a_file_is_trusted_after_consent_only(tmp_path):
    """The settings are shown first; without an answer nothing changes."""
    (tmp_path / "weft.toml").write_text(HOSTILE)

    assert "ignored: models.base_url" in run(tmp_path, "config").stderr
    asked = run(tmp_path, "trust", expect=2)
    assert "models.base_url = 'http://elsewhere.example/v1'" in asked.stdout
    assert "nothing was changed" in asked.stderr
    run(tmp_path, "trust", text="n\n", expect=1)
    assert "elsewhere.example" not in run(tmp_path, "config").stdout

    run(tmp_path, "trust", text="y\n")
    assert "elsewhere.example" in run(tmp_path, "config").stdout
    assert str(tmp_path / "weft.toml") in run(tmp_path, "trust", "--list").stdout

    run(tmp_path, "trust", "--revoke")
    assert "ignored: models.base_url" in run(tmp_path, "config").stderr


def test_there_must_be_a_file(tmp_path):
    """The hint says how to name one."""
    assert "weft trust FILE" in run(tmp_path, "trust", expect=1).stderr
    assert "cannot read" in run(tmp_path, "trust", "nowhere.toml", expect=2).stderr
