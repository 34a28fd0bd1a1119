"""Unusual starts and ends: ignored variables, a package in another folder, unusual file names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import RunPython, clean_environment, package_folder

PROGRAM = """
def work(n):
    total = 0.0
    for i in range(n):
        total += i * 0.5
    return total
for k in range(40):
    work(100)
print(work(10))
"""


@pytest.mark.parametrize("switch", ["-E", "-I"])
def test_switches_that_ignore_variables(run_python: RunPython, tmp_path: Path, switch: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = run_python(switch, str(program), TAGALONG="1", TAGALONG_REPORT="1")
    assert (done.stdout, done.stderr, done.returncode) == ("22.5\n", "", 0)
    done = run_python(switch, str(program), TAGALONG="nonsense")
    assert (done.stdout, done.stderr, done.returncode) == ("22.5\n", "", 0)
    text = (
        "import tagalong; print(tagalong.options.from_environment() == tagalong.options.from_environment({}))"
    )
    done = run_python(switch, "-c", text, TAGALONG="1", TAGALONG_LIMITS="nodes=7", TAGALONG_WRONG="1")
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with the package, in which the interpreter reads no `.pth` file."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    source = Path(package_folder())
    shutil.copytree(source / "tagalong", folder / "tagalong")
    for name in ("_tagalong_autostart.py", "_tagalong_command.py", "tagalong_autostart.pth"):
        shutil.copy(source / name, folder)
    (tmp_path / "program.py").write_text(PROGRAM)
    return folder


def run_elsewhere(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Uses an interpreter that finds the package only there; NumPy comes from the tests, if they have it."""
    environment = clean_environment(**variables)
    return subprocess.run(
        [getattr(sys, "_base_executable"), "-s", *words],
        capture_output=True,
        text=True,
        cwd=folder.parent,
        env=environment | {"PYTHONPATH": str(folder)},
        timeout=120,
        check=False,
    )


def test_a_program_is_run_traced_where_the_start_file_is_not_read(elsewhere: Path) -> None:
    plain = run_elsewhere(elsewhere, "program.py", TAGALONG="1", TAGALONG_REPORT="1")
    if plain.stderr:
        pytest.skip("this interpreter has the start file in its own folder")
    for words in (["program.py"], ["-m", "program"]):
        done = run_elsewhere(elsewhere, "-m", "tagalong", "run", *words, TAGALONG_REPORT="1")
        assert done.stdout == "22.5\n"
        assert re.match(r"tagalong: records [1-9]\d*, hits [1-9]\d+,", done.stderr), done.stderr
    (elsewhere.parent / "failing.py").write_text(
        "import sys\nprint(sys.argv, sys.path[0], __file__, __name__)\nraise SystemExit(7)\n"
    )
    done = run_elsewhere(elsewhere, "-m", "tagalong", "run", "failing.py", "-x", "3")
    assert done.returncode == 7, done.stderr
    assert done.stdout == f"['failing.py', '-x', '3'] {elsewhere.parent} failing.py __main__\n"


def test_a_program_that_imports_the_package_is_told_where_the_start_file_is_not_read(elsewhere: Path) -> None:
    if run_elsewhere(elsewhere, "program.py", TAGALONG="1", TAGALONG_REPORT="1").stderr:
        pytest.skip("this interpreter has the start file in its own folder")
    (elsewhere.parent / "importing.py").write_text(
        "import tagalong, tagalong._core as core\nimport program\n"
        "print(core.is_traced(program.work), core.has_frame_hook())\n"
    )
    done = run_elsewhere(elsewhere, "importing.py", TAGALONG="1")
    assert done.stdout == "22.5\nTrue False\n"
    assert done.stderr.startswith("tagalong: TAGALONG=1 holds from here on") and done.stderr.count("\n") == 1
    done = run_elsewhere(elsewhere, "importing.py")
    assert (done.stdout, done.stderr) == ("22.5\nFalse False\n", "")
    done = run_elsewhere(elsewhere, "-m", "tagalong", "info", TAGALONG="1")
    assert "tagalong_autostart.pth is in no folder where Python looks" in done.stdout
    assert done.stderr == ""


def test_a_library_that_is_missing_is_said_in_a_sentence(elsewhere: Path) -> None:
    (core,) = (elsewhere / "tagalong").glob("_core*.so")
    core.write_bytes(core.read_bytes().replace(b"libfmt.so.", b"libnix.so."))
    text = "tagalong's library cannot be loaded: libnix.so"
    done = run_elsewhere(elsewhere, "-m", "tagalong", "info")
    assert done.returncode != 0 and text in done.stderr and "Traceback" not in done.stderr
    command = "import sys, _tagalong_command; sys.exit(_tagalong_command.main())"
    done = run_elsewhere(elsewhere, "-c", command, "info")
    assert (done.returncode, done.stderr.startswith(f"tagalong: {text}")) == (2, True)
    done = run_elsewhere(elsewhere, "-c", "import _tagalong_autostart; print('runs')", TAGALONG="1")
    assert done.stdout == "runs\n" and done.stderr.startswith(f"tagalong: not tracing: {text}")
    assert "Traceback" not in done.stderr


def test_info_without_numpy(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('none here')\n")
    done = run_python("-m", "tagalong", "info")
    assert done.returncode == 0, done.stderr
    assert ", no NumPy (none here)\n" in done.stdout and "TAGALONG_INCLUDE" in done.stdout


def test_a_summary_that_cannot_be_written(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run_python("program.py", TAGALONG="1", TAGALONG_SUMMARY="/nowhere/at/all")
    assert (done.stdout, done.returncode) == ("22.5\n", 0)
    assert (
        done.stderr
        == "tagalong: TAGALONG_SUMMARY: cannot write '/nowhere/at/all': No such file or directory\n"
    )


NAMED = """
import sys, tagalong
def f(x):
    return [x, x + 1]
print(ascii(tagalong.explain(tagalong.trace(f))))
f(1), f(2)
print(tagalong.explain(f).encode("ascii").count(b"odd"))
print(tagalong.explain().count("odd"))
recording = tagalong.record(f, 1)
print(recording.explain().count("odd"), len(recording.graph) > 10, recording.replay(4))
print(tagalong.compare(f, 3))
code = f.__code__.replace(co_name="\\udcff", co_qualname="\\udcff")
odd = tagalong.trace(type(f)(code, globals()))
print(odd(3), odd(4), ascii(tagalong.explain(odd))[:8], ascii(tagalong.record(odd, 3)))
"""


def test_files_and_functions_whose_names_are_not_utf8(tmp_path: Path) -> None:
    program = tmp_path / os.fsdecode(b"odd\xff.py")
    program.write_text(NAMED)
    for variables in ({}, {"TAGALONG": "1", "TAGALONG_REPORT": "1", "TAGALONG_LOG": "all"}):
        done = subprocess.run(
            [sys.executable, program],
            capture_output=True,
            env=clean_environment(**variables),
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        lines = done.stdout.decode().splitlines()
        assert "odd\\\\udcff.py" in lines[0]
        assert lines[1:] == [
            "1",
            lines[2],
            "1 True [4, 5]",
            "f: eager and replay agree",
            "[3, 4] [4, 5] '\\\\udcff " + lines[5].partition(" '\\\\udcff ")[2],
        ]
        assert int(lines[2]) >= 1


def test_names_that_are_not_utf8_in_calls_and_errors(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text(
        "import tagalong\n"
        "@tagalong.trace\n"
        "def f(items, name):\n"
        "    try:\n"
        "        return sorted(items, **{name: True})\n"
        "    except TypeError as error:\n"
        "        return ascii(error)\n"
        "print([f([3, 1], name) for name in ('reverse', 'reverse', '\\udc80', '\\udc80')])\n"
        "def unbound():\n"
        "    try:\n"
        "        return x\n"
        "    except Exception as error:\n"
        "        return type(error).__name__\n"
        "    x = 1\n"
        "code = unbound.__code__.replace(co_varnames=('\\udc80', *unbound.__code__.co_varnames[1:]))\n"
        "odd = tagalong.trace(type(f)(code, globals()))\n"
        "print(odd(), odd(), odd())\n"
    )
    done = run_python("names.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == " ".join(["UnicodeEncodeError"] * 3)


EMBEDDED = r"""
#include <Python.h>
static void import_it(void) {
  PyRun_SimpleString("import sys\nsys.path[:0] = PATHS\nimport tagalong\n");
}
int main(void) {
  Py_Initialize();
  PyThreadState *first = PyThreadState_Get();
  for (int round = 0; round < 2; ++round) {
    PyThreadState *other = Py_NewInterpreter();
    import_it();
    import_it();
    Py_EndInterpreter(other);
    PyThreadState_Swap(first);
  }
  import_it();
  PyRun_SimpleString("f = tagalong.trace(lambda x: x + 1)\nprint(f(1), f(2), tagalong.stats(f).hits)\n");
  return Py_FinalizeEx();
}
"""


def test_a_sub_interpreter_that_comes_first_says_nothing_but_its_error(tmp_path: Path) -> None:
    import sysconfig

    folder, prefix = sysconfig.get_path("include"), sysconfig.get_config_var("LIBDIR")
    paths = ", ".join(f"'{path}'" for path in (package_folder(), sysconfig.get_path("platlib")))
    source, program = tmp_path / "embedded.c", tmp_path / "embedded"
    source.write_text(EMBEDDED.replace("PATHS", f"[{paths}]"))
    library = f"-lpython{sysconfig.get_config_var('LDVERSION')}"
    subprocess.run(
        [
            "g++",
            "-x",
            "c",
            source,
            "-o",
            program,
            f"-I{folder}",
            f"-L{prefix}",
            f"-Wl,-rpath,{prefix}",
            library,
        ],
        check=True,
    )
    environment = clean_environment(PYTHONHOME=sys.base_prefix)
    done = subprocess.run(
        [program], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert (done.stdout, done.returncode) == ("2 3 1\n", 0), done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith((" ", "Traceback"))]
    assert lines == ["ImportError: tagalong works in the main interpreter; this is a sub-interpreter"] * 4, (
        done.stderr
    )
