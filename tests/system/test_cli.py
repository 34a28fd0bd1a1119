"""`python -m tagalong`."""

from __future__ import annotations

import platform
import re
import shutil
from pathlib import Path

import pytest

from arrays_support import HAS_CODE
from conftest import RunPython
from tagalong import _core, options

PROGRAM = """
import sys

def double(x):
    return 2 * x

if __name__ == "__main__":
    for number in range(4):
        print(double(number), __name__, sys.argv[1:])
    sys.exit(int(sys.argv[1]))
"""
OUTPUT = "".join(f"{2 * number} __main__ ['3', '--flag']\n" for number in range(4))


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path.name


def test_run_gives_output_and_exit_code_of_the_program(run_python: RunPython, program: str) -> None:
    done = run_python("-m", "tagalong", "run", program, "3", "--flag")
    assert (done.stdout, done.stderr, done.returncode) == (OUTPUT, "", 3)


def test_run_traces(run_python: RunPython, program: str) -> None:
    done = run_python("-m", "tagalong", "run", "--report=1", "--limits=nodes=3000", program, "3", "--flag")
    assert (done.stdout, done.returncode) == (OUTPUT, 3)
    assert "records 1, hits 3," in done.stderr


def test_run_keeps_the_flags_of_the_interpreter(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "flags.py").write_text(
        "import sys\nassert False\n"
        "print(sys.flags.optimize, sys.flags.dev_mode, sys.warnoptions, 'tagalong' in sys.modules)"
    )
    done = run_python("-O", "-X", "dev", "-W", "error", "-m", "tagalong", "run", "flags.py")
    assert (done.returncode, done.stdout) == (0, "1 True ['default', 'error'] True\n"), done.stderr


def test_run_without_its_variables_says_so(run_python: RunPython, program: str) -> None:
    done = run_python("-E", "-m", "tagalong", "run", program)
    assert done.returncode == 1 and done.stderr.startswith("run: python -E and -I ignore"), done.stderr


def test_run_module(run_python: RunPython, program: str) -> None:
    done = run_python("-m", "tagalong", "run", "--report=1", "-m", program.removesuffix(".py"), "3", "--flag")
    assert (done.stdout, done.returncode) == (OUTPUT, 3)
    assert "records 1, hits 3," in done.stderr


def test_explain(run_python: RunPython, program: str) -> None:
    done = run_python("-m", "tagalong", "explain", program, "3", "--flag")
    assert (done.stdout, done.returncode) == (OUTPUT, 3)
    assert "double" in done.stderr


def test_a_bad_flag(run_python: RunPython, program: str) -> None:
    done = run_python("-m", "tagalong", "run", "--threads=many", program)
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr == "tagalong: --threads: 'many' is not allowed; allowed: a number from 0 to 9999\n"


BAD = {
    "TAGALONG": "yes",
    "TAGALONG_INCLUDE": "json..decoder",
    "TAGALONG_EXCLUDE": "[json",
    "TAGALONG_LOG": "everything",
    "TAGALONG_REPORT": "yes",
    "TAGALONG_THREADS": "many",
    "TAGALONG_LOOPS": "2",
    "TAGALONG_FUSION": "on",
    "TAGALONG_LIMITS": "inline_depth=24",
    "TAGALONG_STRESS": "-",
    "TAGALONG_SUMMARY": "counts",
    "TAGALONG_INTERNAL": "stage_bold=0",
    "TAGALONG_THREAD": "1",
}


def test_every_variable_has_a_bad_value_here() -> None:
    assert BAD.keys() > {option.variable for option in options.TABLE}


@pytest.mark.parametrize("variable", BAD)
@pytest.mark.parametrize("words", ["info", "run program.py", "explain program.py", "dis program.py:double"])
def test_a_bad_variable(run_python: RunPython, program: str, words: str, variable: str) -> None:
    done = run_python("-m", "tagalong", *words.split(), **{variable: BAD[variable]})
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr.startswith(f"tagalong: {variable}: ") and done.stderr.count("\n") == 1, done.stderr


def test_a_bad_variable_is_an_error_of_a_program_that_imports_the_package(
    run_python: RunPython, tmp_path: Path
) -> None:
    (tmp_path / "asks.py").write_text(
        "try:\n    import tagalong\nexcept ValueError as error:\n    print(type(error).__name__, error)\n"
    )
    for words in (["asks.py"], ["-m", "asks"]):
        done = run_python(*words, TAGALONG_THREADS="many")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("OptionError TAGALONG_THREADS: 'many' is not allowed; ")


def test_dis(run_python: RunPython, program: str) -> None:
    done = run_python("-m", "tagalong", "dis", f"{program}:double")
    assert done.returncode == 0, done.stderr
    titles = ["original code", "recording code", "replay code"]
    assert [line for line in done.stdout.splitlines() if line.startswith("----")] == [
        f"---- {t}" for t in titles
    ]
    assert "BINARY_OP" in done.stdout


def test_dis_with_a_call(run_python: RunPython, program: str) -> None:
    done = run_python("-m", "tagalong", "dis", "--call", "21", f"{program}:double")
    assert done.returncode == 0, done.stderr
    titles = ["original code", "recording code", "replay code", "graph", "guards"]
    assert [line for line in done.stdout.splitlines() if line.startswith("----")] == [
        f"---- {t}" for t in titles
    ]


def test_dis_with_dumps(run_python: RunPython, program: str) -> None:
    done = run_python(
        "-m", "tagalong", "dis", "--call", "21", "--dump", "kernels, steps", f"{program}:double"
    )
    assert done.returncode == 0, done.stderr
    titles = ["original code", "recording code", "replay code", "graph", "guards", "steps", "kernels"]
    assert [line for line in done.stdout.splitlines() if line.startswith("----")] == [
        f"---- {t}" for t in titles
    ]
    assert "steps of double: " in done.stdout and "int_binary[*]" in done.stdout
    assert done.stdout.endswith("---- kernels\nnone\n\n")


def test_the_flag_for_dumps_has_an_older_name(run_python: RunPython, program: str) -> None:
    done = run_python("-m", "tagalong", "dis", "--call", "21", "--stages", "steps", f"{program}:double")
    assert done.returncode == 0, done.stderr
    assert "---- steps\n" in done.stdout
    assert done.stderr == "tagalong: --stages is called --dump now; the old name goes with the next release\n"


LOOP = """
def total(count):
    result = 0
    for number in range(count):
        result += number
    return result
"""


def test_dis_with_all_dumps(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(LOOP)
    done = run_python("-m", "tagalong", "dis", "--call", "30", "--dump=all", "loop.py:total")
    assert done.returncode == 0, done.stderr
    assert "loop of total: " in done.stdout and "add_int" in done.stdout
    assert re.search(
        r"^loop of total: \d+ bytes at 0x[0-9a-f]+\n  000000( [0-9a-f]{2}){16}$", done.stdout, re.MULTILINE
    )


def test_the_code_is_disassembled_only_where_that_can_be(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(LOOP)
    words = ("-m", "tagalong", "dis", "--call", "30", "--dump=code", "loop.py:total")
    with_tools = run_python(*words)
    assert ("push   rbx" in with_tools.stdout) == (shutil.which("objdump") is not None)
    for variables in ({"PATH": ""}, {"TMPDIR": str(tmp_path / "missing")}, {"TMPDIR": "it's"}):
        done = run_python(*words, **variables)
        assert (done.returncode, done.stderr) == (0, "")
        assert "  000000 " in done.stdout and "push" not in done.stdout


def test_log_of_dumps(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    done = run_python("-m", "tagalong", "run", "--log=steps,loops,kernels", "arrays.py")
    assert (done.returncode, done.stdout) == (0, "126.0\n")
    for topic, text in (
        ("steps", "steps of chain: "),
        ("loops", "loop of chain: "),
        ("kernels", "fusion group of step "),
    ):
        assert f"tagalong {topic}: {text}" in done.stderr, topic
    assert "  v0 = external 0, float64\n" in done.stderr
    assert "tagalong code" not in done.stderr
    done = run_python("-m", "tagalong", "run", "--log=code", "arrays.py")
    assert (done.returncode, done.stdout) == (0, "126.0\n")
    assert "tagalong code: vector kernel by " in done.stderr or not HAS_CODE


ARRAYS = """
import numpy as np

def chain(x):
    return x * 2.0 + 1.0 - x

x = np.arange(64.0)
for _ in range(30):
    y = chain(x)
print((y - x).sum() + y[62] - 1.0)
"""


DEFERRED = """
import numpy as np

def chain(x):
    total = x * 2.0 + 1.0
    return total - x

def parts(x):
    return x[:, 1:] * x[:, :-1]

def warned(x):
    return x / (x - x) * 2.0

x = np.arange(1.0, 100_001.0)
print(chain(x).sum(), parts(x.reshape(100, 1000)).shape, np.isinf(warned(x)).all())
"""


def test_log_of_groups_in_a_recorded_call(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "deferred.py").write_text(DEFERRED)
    done = run_python("-m", "tagalong", "run", "--log=kernels", "deferred.py")
    assert (done.returncode, done.stdout) == (0, "5000150000.0 (100, 999) True\n")
    texts = re.findall(r"tagalong kernels: (recording of .*\n(?:.+\n)*)", done.stderr)
    groups = {text.partition(":")[0]: text for text in texts}
    chain = groups["recording of chain, lines 5 to 6"]
    assert "pass 0: 3 operations\n  v0 = external 0, float64\n" in chain
    assert "subtract(" in chain and "output 0: result 0 of pass 0\n" in chain
    assert "pass 0: 1 operations\n" in groups["recording of parts, line 9"]
    divided = groups["recording of warned, line 12"]
    assert "gives up, one by one: " in divided and "pass 0: 3 operations\n" in divided


def test_dis_says_what_the_call_raised(run_python: RunPython, program: str) -> None:
    done = run_python("-m", "tagalong", "dis", "--call", "None", f"{program}:double")
    assert done.returncode == 0, done.stderr
    assert "---- raised\nTypeError: unsupported operand" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["program.py"], "dis: expected FILE.py:FUNCTION, got 'program.py'"),
        (["missing.py:f"], "dis: there is no file 'missing.py'"),
        (["program.py:triple"], "dis: program.py: module 'program' has no attribute 'triple'"),
        (["program.py:sys"], "dis: sys is not a Python function, but module"),
        (["--call", "1 +", "program.py:double"], "dis: --call '1 +': SyntaxError: "),
        (
            ["--call", "1", "--dump", "graph", "program.py:double"],
            "dis: --dump: 'graph' is not allowed; allowed: steps, loops, kernels, code, all",
        ),
        (
            ["--dump", "steps", "program.py:double"],
            "dis: --dump wants --call, the arguments of the calls",
        ),
        (
            ["--call", "1, 2", "program.py:double"],
            "dis: --call '1, 2': TypeError: too many positional arguments",
        ),
        (
            ["--call", "wrong=1", "program.py:double"],
            "dis: --call 'wrong=1': TypeError: missing a required argument",
        ),
    ],
)
def test_dis_refuses_clearly(run_python: RunPython, program: str, arguments: list[str], message: str) -> None:
    done = run_python("-m", "tagalong", "dis", *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(message)
    assert "Traceback" not in done.stderr


def test_info(run_python: RunPython) -> None:
    done = run_python("-m", "tagalong", "info", TAGALONG_THREADS="3")
    assert done.returncode == 0, done.stderr
    assert f"CPython {platform.python_version()}" in done.stdout
    rows = {
        line.split()[0]: line.split()[1:3] for line in done.stdout.splitlines() if line.startswith("TAGALONG")
    }
    assert rows["TAGALONG_THREADS"] == ["'3'", "environment"]
    assert rows["TAGALONG_STRESS"] == ["'0'", "default"]


def test_info_internal(run_python: RunPython) -> None:
    done = run_python("-m", "tagalong", "info", "--internal", TAGALONG_THREADS="3")
    assert done.returncode == 0, done.stderr
    words = [
        line.split(maxsplit=2) for line in done.stdout.splitlines() if line and not line.startswith("----")
    ]
    rows = {name: (int(value), meaning) for name, value, meaning in words}
    counters, knobs = _core.internals()
    assert list(rows) == [name for name, _, _ in (*counters, *knobs)] + list(options.LIMITS)
    assert rows["threads"][0] == 3
    assert rows["heat"] == options.LIMITS["heat"]


@pytest.mark.parametrize("command", ["", "run", "dis", "explain", "info"])
def test_help(run_python: RunPython, command: str) -> None:
    done = run_python("-m", "tagalong", *command.split(), "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: python -m tagalong")
