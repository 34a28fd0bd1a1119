"""TAGALONG=… python program.py: what is traced and what is not, and that the program shows no sign of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from conftest import RunPython

MAIN = """
import helper

def local(x):
    return helper.square(x) + 1

for number in range(5):
    print(local(number))
"""
HELPER = """
def square(x):
    return x * x
"""
OUTPUT = "1\n2\n5\n10\n17\n"


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "program.py").write_text(MAIN)
    (tmp_path / "helper.py").write_text(HELPER)
    return "program.py"


def counts(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    found = re.search(r"^tagalong: (records .*)$", done.stderr, re.MULTILINE)
    assert found, done.stderr
    return {name: int(number) for name, number in (part.split() for part in found[1].split(", "))}


def test_unset_imports_nothing(run_python: RunPython, program: str) -> None:
    settings: list[dict[str, str]] = [{}, {"TAGALONG": ""}, {"TAGALONG": "0"}, {"TAGALONG_STRESS": "1"}]
    for variables in (*settings, {"TAGALONG": "0", "TAGALONG_STRESS": "1"}):
        done = run_python("-X", "importtime", program, **variables)
        assert done.stdout == OUTPUT
        assert "helper" in done.stderr
        assert "tagalong" not in done.stderr


def test_one_line_at_start(run_python: RunPython) -> None:
    import sysconfig

    start_file = Path(sysconfig.get_path("platlib"), "tagalong_autostart.pth")
    assert len(start_file.read_text().splitlines()) == 1


def test_traced_program(run_python: RunPython, program: str) -> None:
    done = run_python(program, TAGALONG="1", TAGALONG_REPORT="1")
    assert (done.stdout, done.returncode) == (OUTPUT, 0)
    assert counts(done)["records"] >= 1
    assert counts(done)["hits"] >= 3


def test_traced_program_says_nothing_by_itself(run_python: RunPython, program: str) -> None:
    done = run_python(program, TAGALONG="1")
    assert (done.stdout, done.stderr, done.returncode) == (OUTPUT, "", 0)


def test_numpy_is_not_brought_into_a_program_without_it(run_python: RunPython) -> None:
    done = run_python(
        "-c", "import sys; print('tagalong' in sys.modules, 'numpy' in sys.modules)", TAGALONG="1"
    )
    assert done.stdout == "True False\n"


def test_module_as_main(run_python: RunPython, program: str) -> None:
    done = run_python("-m", "program", TAGALONG="1", TAGALONG_REPORT="1")
    assert done.stdout == OUTPUT
    assert counts(done)["hits"] >= 3


def test_command_as_main(run_python: RunPython, program: str) -> None:
    done = run_python("-c", MAIN, TAGALONG="1", TAGALONG_REPORT="1")
    assert done.stdout == OUTPUT
    assert counts(done)["hits"] >= 3


def test_recordings_before_the_program_starts_do_not_hide_it(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(
        "import tagalong._core as core\ndef f(x):\n    return x\nprint(core.is_traced(f), core.has_frame_hook())\n"
    )
    for included in ({}, {"TAGALONG_INCLUDE": "*"}):  # with `-m`, functions of runpy run first
        assert run_python("-m", "late", TAGALONG="1", **included).stdout == "True False\n"


def test_excluded_modules_are_not_traced(run_python: RunPython, program: str) -> None:
    everything = {"TAGALONG": "1", "TAGALONG_REPORT": "1", "TAGALONG_EXCLUDE": "helper,__main__"}
    done = run_python(program, **everything)
    assert done.stdout == OUTPUT
    assert counts(done)["records"] == counts(done)["hits"] == 0


def test_the_standard_library_is_traced_only_when_included(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "bisecting.py").write_text(
        "import colorsys\nfor n in range(5):\n    print(colorsys.rgb_to_yiq(n / 4, 0.5, 0.25))\n"
    )
    plain = run_python("bisecting.py")
    outside = run_python("bisecting.py", TAGALONG="1", TAGALONG_REPORT="1")
    inside = run_python("bisecting.py", TAGALONG="1", TAGALONG_REPORT="1", TAGALONG_INCLUDE="colorsys")
    assert plain.stdout == outside.stdout == inside.stdout
    assert counts(outside)["records"] == 0
    assert counts(inside)["hits"] >= 3


def test_links_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real path of a file decides, even if the file or a folder is a link; but installed files stay excluded."""
    from tagalong._select import Selection
    from tagalong.options import from_environment

    library, own = Path(os.__file__).parent, tmp_path / "own"
    own.mkdir()
    (own / "mine.py").write_text("")
    (tmp_path / "linked.py").symlink_to(library / "json" / "decoder.py")
    (tmp_path / "links").symlink_to(library / "json")
    (own / "again").symlink_to(own)
    selection = Selection(from_environment())
    for _ in range(2):
        assert selection.wants("mine", str(own / "mine.py"))
        assert selection.wants("mine", str(own / "again" / ".." / "own" / "mine.py"))
        assert not selection.wants("linked", str(tmp_path / "linked.py"))
        assert not selection.wants("links.scanner", str(tmp_path / "links" / "scanner.py"))
        assert not selection.wants("json.scanner", str(library / "json" / "scanner.py"))
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "linked.py").symlink_to(own / "mine.py")
    (installed / "developed").symlink_to(own)
    monkeypatch.setattr("tagalong._select.FOREIGN", (f"{installed.resolve()}/",))
    assert not selection.wants("linked", str(installed / "linked.py"))
    assert selection.wants("developed.mine", str(installed / "developed" / "mine.py"))


def test_compiled_files_hold_the_original_code(run_python: RunPython, program: str, tmp_path: Path) -> None:
    run_python(program)
    (compiled,) = (tmp_path / "__pycache__").glob("helper.*.pyc")
    plain = compiled.read_bytes()
    compiled.unlink()
    for _ in range(2):
        done = run_python(program, TAGALONG="1", TAGALONG_REPORT="1")
        assert counts(done)["hits"] >= 3
        assert compiled.read_bytes() == plain


def test_a_traceback_shows_the_program_alone(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text(
        "def inverse(x):\n    return 1 / x\n\nfor number in (3, 2, 1, 0):\n    print(inverse(number))\n"
    )
    plain = run_python("failing.py")
    traced = run_python("failing.py", TAGALONG="1")
    assert plain.returncode == 1
    assert (traced.stdout, traced.stderr, traced.returncode) == (plain.stdout, plain.stderr, plain.returncode)


def test_a_traceback_of_an_import_shows_nothing_of_it(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def broken(:\n")
    (tmp_path / "worse.py").write_text("import missing_altogether\n")
    (tmp_path / "importing.py").write_text(
        "import traceback\n"
        "for name in ('bad', 'worse'):\n"
        "    try:\n"
        "        __import__(name)\n"
        "    except Exception:\n"
        "        traceback.print_exc()\n"
    )
    plain = run_python("importing.py")
    traced = run_python("importing.py", TAGALONG="1")
    assert "SyntaxError" in plain.stderr and "missing_altogether" in plain.stderr
    assert (traced.stdout, traced.stderr, traced.returncode) == (plain.stdout, plain.stderr, plain.returncode)


def test_compare_mode_agrees(run_python: RunPython, program: str) -> None:
    done = run_python(program, TAGALONG="compare")
    assert (done.stdout, done.returncode) == (OUTPUT, 0)
    found = re.fullmatch(r"tagalong: compare: (\d+) replays compared, 0 differ\n", done.stderr)
    assert found, done.stderr
    assert int(found[1]) >= 6


def test_compare_mode_keeps_effects_single(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "effects.py").write_text(
        "seen = []\n"
        "def note(x):\n"
        "    seen.append(x)\n"
        "    print('noted', x)\n"
        "    return len(seen)\n"
        "for number in range(4):\n"
        "    print(note(number))\n"
        "print(seen)\n"
    )
    plain = run_python("effects.py")
    done = run_python("effects.py", TAGALONG="compare")
    assert done.stdout == plain.stdout
    assert " 0 differ" in done.stderr


def test_compare_mode_reports_what_differs(run_python: RunPython, tmp_path: Path) -> None:
    # A replay runs in a process of its own, so only its process number may differ.
    (tmp_path / "who.py").write_text(
        "import os\n"
        "def number(x):\n"
        "    return [x, os.getpid() * 0.0 + os.getpid()]\n"
        "for x in range(3):\n"
        "    number(x)\n"
        "raise SystemExit(7)\n"
    )
    done = run_python("who.py", TAGALONG="compare")
    assert done.returncode == 7
    for call in (2, 3):
        assert re.search(
            rf"compare: __main__\.number \(.*who\.py:2\), call {call}: result\[1\]: \d+\.0 != \d+\.0",
            done.stderr,
        )
    assert done.stderr.endswith("tagalong: compare: 2 replays compared, 2 differ\n")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"TAGALONG": "on"}, "tagalong: TAGALONG: 'on' is not allowed; allowed: 0, 1, compare\n"),
        (
            {"TAGALONG": "1", "TAGALONG_STRESS": "x"},
            "tagalong: TAGALONG_STRESS: 'x' is not allowed; allowed: 0, 1\n",
        ),
    ],
)
def test_a_bad_option_ends_the_process(
    run_python: RunPython, program: str, variables: dict[str, str], message: str
) -> None:
    done = run_python(program, **variables)
    assert (done.stdout, done.stderr, done.returncode) == ("", message, 2)


@pytest.mark.parametrize(
    "variables",
    [
        {"TAGALONG": "1"},
        {"TAGALONG": "1", "TAGALONG_REPORT": "1"},
        {"TAGALONG": "1", "TAGALONG_LOG": "all"},
        {"TAGALONG": "1", "TAGALONG_STRESS": "1", "TAGALONG_REPORT": "1", "TAGALONG_SUMMARY": "/dev/null"},
        {"TAGALONG": "compare"},
    ],
    ids=lambda variables: " ".join(f"{name}={text}" for name, text in variables.items()),
)
def test_an_unhandled_keyboard_interrupt_ends_the_process(
    run_python: RunPython, tmp_path: Path, variables: dict[str, str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text("def f(x):\n    return x\nf(1)\nf(2)\nraise KeyboardInterrupt\n")
    plain = run_python(str(program))
    assert plain.returncode == -signal.SIGINT
    traced = run_python(str(program), **variables)
    assert traced.returncode == plain.returncode
    assert "KeyboardInterrupt" in traced.stderr


@pytest.mark.parametrize(
    ("module", "function"), [("colorsys", "rgb_to_yiq(x, x, x)[0]"), ("posixpath", "splitdrive(str(x))[1]")]
)
def test_included_modules_are_recorded_into_their_callers(
    run_python: RunPython, tmp_path: Path, module: str, function: str
) -> None:
    """Also modules that were imported before anything was traced, such as `posixpath`."""
    (tmp_path / "calling.py").write_text(
        f"import {module} as module\n"
        "def calling(x):\n"
        f"    return module.{function}\n"
        "for n in range(5):\n"
        "    print(calling(n / 4))\n"
    )
    plain = run_python("calling.py")
    name = function.partition("(")[0]
    for include, is_part in (("", False), ("json", False), (module, True), ("*", True)):
        done = run_python("calling.py", TAGALONG="1", TAGALONG_INCLUDE=include, TAGALONG_LOG="graph")
        assert done.stdout == plain.stdout
        graphs = re.findall(r"graph 'calling'\n((?:frame .*\n)+)", done.stderr, re.MULTILINE)
        assert graphs and (f" code {name}>" in graphs[0]) == is_part, done.stderr
    done = run_python(
        "calling.py", TAGALONG="1", TAGALONG_INCLUDE="*", TAGALONG_EXCLUDE=module, TAGALONG_LOG="graph"
    )
    assert f" code {name}>" not in done.stderr
