"""The tools around the book: what they say when something is missing, and that they lose nothing."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

import book
from book import ROOT


def load(name):
    """A module of tools/ that shares its name with a package of tests."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def set_up(*arguments, **environment):
    command = [sys.executable, ROOT / "tools/setup.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_a_machine_without_browser_is_told_what_to_install(tmp_path):
    result = set_up("browser", PATH=str(tmp_path))
    assert result.returncode == 1
    assert "sudo apt-get install chromium" in result.stderr
    assert "CHROMIUM" in result.stderr


def test_a_browser_that_is_installed_is_used(tmp_path):
    browser = tmp_path / "google-chrome"
    browser.write_text("#!/bin/sh\n")
    browser.chmod(0o755)
    assert set_up("browser", PATH=str(tmp_path)).stdout.strip() == str(browser)


def test_a_browser_that_is_named_but_missing_is_an_error(tmp_path):
    result = set_up("browser", PATH=str(tmp_path), CHROMIUM="/nowhere/chromium")
    assert result.returncode == 1
    assert "/nowhere/chromium" in result.stderr


def test_every_stage_runs_and_one_failure_fails_all(capsys):
    assert load("test").run({"good": ["true"], "bad": ["false"], "types": ["false"], "late": ["true"]}) == 1
    out = capsys.readouterr().out
    assert [line.split()[:2] for line in out.splitlines() if line.endswith(" s")] == [
        ["good", "passed"],
        ["bad", "FAILED"],
        ["types", "FAILED"],
        ["late", "passed"],
    ]
    assert out.endswith("stages: 2 passed, 2 failed\n")


def test_no_stage_is_left_out():
    stages = load("test").stages(everything=False)
    assert list(stages) == ["ruff", "format", "book", "types", "tests", "notebooks", "browser"]
    assert {str(path) for path in book.notebooks()} <= set(map(str, stages["notebooks"]))
    assert "--nbval" in stages["notebooks"]


def test_make_never_hides_what_fails():
    dry = subprocess.run(["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "|| true" not in dry.stdout
    assert "tools/test.py" in dry.stdout


def test_icons_that_no_page_shows_are_taken_out_of_the_theme():
    bars, user, sun = '[448,512,["navicon"],"f0c9","M0 9"]', '[5,5,[62142],"f2bd","M1"]', '[5,5,[],"f185",["a","b"]]'
    script = f'x={{bars:{bars},"circle-user":{user},sun:{sun}}}'
    trim = load("trim_theme").trim
    assert trim(script, {"navicon", "sun"}) == f"x={{bars:{bars},sun:{sun}}}"
    assert trim(script, set()) == "x={}"


def test_a_rehearsal_says_where_its_environment_is_not_colabs():
    rehearse = load("rehearse")
    found, lines = rehearse.installed(sys.executable), rehearse.differences(sys.executable)
    assert rehearse.COLAB["torch"] == "2.11.0"
    for name, wanted in rehearse.COLAB.items():
        line = f"differs from Colab: {name} is {found.get(name, 'missing')} here, and {wanted} there"
        assert (line in lines) is (found.get(name) != wanted)


WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def jobs(path):
    """The jobs of a workflow by name, each with the permissions that its token has."""
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    usual = workflow.get("permissions", {"contents": "write"})  # a token writes unless the workflow says otherwise
    return {name: {"permissions": usual, **job} for name, job in workflow["jobs"].items()}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_token_that_writes_is_in_no_job_that_runs_a_dependency(path):
    for name, job in jobs(path).items():
        if "write" in job["permissions"].values():
            uses = [step["uses"] for step in job["steps"] if "uses" in step]
            assert not [action for action in uses if action.startswith("actions/setup-")], name
            ran = "\n".join(step.get("run", "") for step in job["steps"])
            assert not re.search(r"\b(make|pip|python3?|docker|npm)\b", ran), name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_the_token_of_a_job_only_reads_unless_the_job_publishes(path):
    writes = {
        name: {key for key, value in job["permissions"].items() if value == "write"} for name, job in jobs(path).items()
    }
    publish = {"publish": {"pages", "id-token"}, "copies": {"contents"}, "release": {"contents", "actions"}}
    assert {name: kinds for name, kinds in writes.items() if kinds} == (publish if path.stem == "book" else {})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_checkout_leaves_its_token_behind_for_what_runs_next(path):
    steps = [step for job in jobs(path).values() for step in job["steps"]]
    checkouts = [step for step in steps if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_pinned_by_its_commit_with_its_version_beside_it(path):
    used = re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8"))
    assert used
    for action, version in used:
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", version), action


@pytest.mark.slow
@pytest.mark.parametrize("path", book.notebooks(), ids=lambda path: path.stem)
def test_a_refresh_changes_no_byte(path, tmp_path):
    copy = shutil.copy(path, tmp_path)
    command = [sys.executable, ROOT / "tools/refresh.py", copy]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"PYTHONHASHSEED": "random"})
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()
