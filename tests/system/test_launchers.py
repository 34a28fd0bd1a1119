"""TAGALONG=1 with the tools by which programs are run: the user's own code is traced in all of them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from conftest import RunPython

WORK = """
def work(n):
    total = 0.0
    for i in range(n):
        total += i * 0.5
    return total

def helper(x):
    return x * 2 + 1

def main():
    for k in range(300):
        work(1000 + k % 3)
        helper(k)
    print(work(10), helper(3))

if __name__ == "__main__":
    main()
"""
OUTPUT = "22.5 7"

TESTS = """
import sys
import pytest

def inner(n):
    total = 0.0
    for i in range(n):
        total += i * 0.25
    return total

@pytest.fixture
def number():
    return 100

def test_a(number):
    for _ in range(50):
        assert inner(number) == 1237.5

def test_that_fails(number):
    assert inner(number) == number, "rewritten"
"""

CELLS = """
def cell(n):
    total = 0.0
    for i in range(n):
        total += i * 0.25
    return total
for k in range(100):
    cell(500)
%timeit -n1 -r1 cell(5)
import asyncio
await asyncio.sleep(0)
async def later(n):
    return cell(n)
print(await later(3))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work.py").write_text(WORK)
    return tmp_path


def traced(
    run_python: RunPython, folder: Path, *words: str, **variables: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, int]]:
    """The output of a run, and the sums of the counts of its processes."""
    summary = folder / "summary"
    done = run_python(*words, TAGALONG="1", TAGALONG_SUMMARY=str(summary), HOME=str(folder), **variables)
    lines = [json.loads(line) for line in summary.read_text().splitlines()]
    summary.unlink()
    names = ("functions_recorded", "functions_replayed", "hits")
    left_out = sum(line["left_out"]["watched"] for line in lines)
    return done, {name: sum(line[name] for line in lines) for name in names} | {"watched": left_out}


def run_by_code(text: str) -> tuple[str, ...]:
    return ("-c", text)


LOADED = (
    "import importlib.util\n"
    "spec = importlib.util.spec_from_file_location('anything', 'work.py')\n"
    "module = importlib.util.module_from_spec(spec)\n"
    "spec.loader.exec_module(module)\n"
    "module.main()\n"
)
LAZY = (
    "import importlib.util, sys\n"
    "spec = importlib.util.find_spec('work')\n"
    "spec.loader = importlib.util.LazyLoader(spec.loader)\n"
    "module = sys.modules['work'] = importlib.util.module_from_spec(spec)\n"
    "spec.loader.exec_module(module)\n"
    "module.main()\n"
)
OWN_LOADER = (
    "import importlib.abc, importlib.util\n"
    "class Loader(importlib.abc.InspectLoader):\n"
    "    def get_source(self, name):\n"
    "        return open('work.py').read()\n"
    "module = importlib.util.module_from_spec(importlib.util.spec_from_loader('own', Loader()))\n"
    "module.__file__ = 'work.py'\n"
    "module.__loader__.exec_module(module)\n"
    "module.main()\n"
)
LAUNCHERS = {
    "runpy.run_path": run_by_code("import runpy; runpy.run_path('work.py', run_name='__main__')"),
    "runpy.run_module": run_by_code("import runpy; runpy.run_module('work', run_name='__main__')"),
    "exec": run_by_code("exec(compile(open('work.py').read(), 'work.py', 'exec'))"),
    "exec in a namespace": run_by_code(
        "exec(compile(open('work.py').read(), 'work.py', 'exec'), {'__name__': '__main__'})"
    ),
    "spec_from_file_location": run_by_code(LOADED),
    "LazyLoader": run_by_code(LAZY),
    "a loader of its own": run_by_code(OWN_LOADER),
    "zip": run_by_code("import sys; sys.path[0] = 'packed.zip'; import work; work.main()"),
    "zipapp": ("program.pyz",),
    "pdb": ("-m", "pdb", "-c", "continue", "-c", "quit", "work.py"),
    "timeit": ("-m", "timeit", "-n", "300", "-r", "1", "-s", "import work; work.main()", "work.helper(1)"),
    "code": ("-m", "code", "-q"),
    "multiprocessing": run_by_code(
        "import multiprocessing, work\n"
        "if __name__ == '__main__':\n"
        "    process = multiprocessing.get_context('spawn').Process(target=work.main)\n"
        "    process.start()\n"
        "    process.join()\n"
    ),
}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_launcher(run_python: RunPython, folder: Path, launcher: str) -> None:
    words = LAUNCHERS[launcher]
    for name, inside in (("packed.zip", "work.py"), ("program.pyz", "__main__.py")):
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr(inside, WORK)
    if launcher == "code":
        (folder / "input").write_text("import work\nexec(compile(work.__doc__ or '', 'x', 'exec'))\n")
        words = run_by_code(
            "import code, re\n"
            "console = code.InteractiveConsole({'__name__': '__main__'})\n"
            "for line in open('work.py').read().split('if __name__')[0].splitlines():\n"
            "    console.push(line)\n"
            "console.push('main()')\n"
        )
    plain = run_python(*words)
    done, counts = traced(run_python, folder, *words)
    assert OUTPUT in done.stdout and done.returncode == plain.returncode == 0, done.stderr
    if launcher != "timeit":
        assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    assert counts["functions_replayed"] >= 2 and counts["hits"] > 300, counts
    assert counts["watched"] <= (2 if launcher == "pdb" else 0)


def test_pytest(run_python: RunPython, folder: Path) -> None:
    (folder / "test_own.py").write_text(TESTS)
    (folder / "conftest.py").write_text("import work\ndef pytest_sessionstart():\n    work.main()\n")
    done, counts = traced(run_python, folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_own.py")
    assert "1 failed, 1 passed" in done.stdout
    assert "assert 1237.5 == 100" in done.stdout and "where 1237.5 = inner(100)" in done.stdout
    assert counts["functions_replayed"] >= 3 and counts["hits"] > 300, counts


def test_ipython(run_python: RunPython, folder: Path) -> None:
    pytest.importorskip("IPython")
    (folder / "cells.ipy").write_text(CELLS)
    done, counts = traced(run_python, folder, "-m", "IPython", "cells.ipy")
    assert done.returncode == 0 and "0.75" in done.stdout, done.stdout + done.stderr
    assert counts["functions_replayed"] >= 1 and counts["hits"] >= 90, counts
    done, counts = traced(run_python, folder, "-m", "IPython", "work.py")
    assert OUTPUT in done.stdout
    assert counts["functions_replayed"] >= 2 and counts["hits"] > 300, counts


NOTEBOOK = """
import nbformat
from nbclient import NotebookClient
cells = [nbformat.v4.new_code_cell(text) for text in (open("work.py").read().split("if __name__")[0], "main()")]
book = nbformat.v4.new_notebook(cells=cells)
NotebookClient(book, kernel_name="python3").execute()
print(book.cells[1].outputs[0].text)
"""


def test_notebook(run_python: RunPython, folder: Path) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    done, counts = traced(run_python, folder, "-c", NOTEBOOK)
    assert OUTPUT in done.stdout, done.stderr
    assert counts["functions_replayed"] >= 2 and counts["hits"] > 300, counts


WATCHERS = {
    "cProfile": ("-m", "cProfile", "-o", "profile", "work.py"),
    "profile": ("-m", "profile", "work.py"),
    "trace": ("-m", "trace", "--listfuncs", "work.py"),
    "pyinstrument": ("-m", "pyinstrument", "-o", "profile", "work.py"),
    "coverage": ("-m", "coverage", "run", "work.py"),
}


@pytest.mark.parametrize("tool", WATCHERS)
def test_calls_under_a_watching_tool_are_reported(run_python: RunPython, folder: Path, tool: str) -> None:
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    done, counts = traced(run_python, folder, *WATCHERS[tool], TAGALONG_REPORT="1")
    assert done.returncode == 0, done.stderr
    if tool != "trace":
        assert OUTPUT in done.stdout
    assert counts["watched"] >= 600 and counts["functions_recorded"] == 0, counts
    report = [line for line in done.stderr.splitlines() if line.startswith("tagalong: ")]
    assert report[0].startswith("tagalong: records 0")
    assert report[1] == (
        f"tagalong: {counts['watched']} calls of 3 functions ran as written, because a trace or profile function "
        "watched (a debugger, a profiler, coverage)"
    )


def test_calls_under_tracemalloc_are_reported(run_python: RunPython, folder: Path) -> None:
    program = "import work, tagalong; work.main(); print(tagalong.explain())"
    done, _ = traced(run_python, folder, "-X", "tracemalloc", "-c", program)
    assert (
        "603 calls of 3 functions ran as written, because tracemalloc noted where memory was allocated\n"
        in done.stdout
    )


# --- traces of our work in `exec`

SHOWN = """
import builtins, inspect, sys, traceback, types
print(exec is builtins.exec, repr(exec), inspect.signature(exec), exec.__name__, exec.__module__, exec.__self__)
print(repr(eval), inspect.signature(eval))
text = "def f(n):\\n    return [n, sys._getframe().f_back.f_lineno]\\nx = f(3)\\ncodes = sys._getframe().f_code"
code = compile(text, "own.py", "exec")
before = sys.getsizeof(code), sys.getrefcount(code), hash(code)
space = {"sys": sys}
for _ in range(10):
    print(exec(code, space), space["x"], space["codes"] is code, space["f"].__code__ is code.co_consts[0])
    del space["codes"]
print(before == (sys.getsizeof(code), sys.getrefcount(code), hash(code)))

def local(code):
    y = 5
    exec(code)
    exec(compile("y = [k for k in range(3)]", "own.py", "exec"))
    return y, sorted(locals())
print(local(code))
print(eval(compile("[k * 2 for k in range(4)]", "own.py", "eval")), eval("(lambda: 3)()"))

def failing(*arguments, **keywords):
    try:
        exec(*arguments, **keywords)
    except BaseException as error:
        entries = traceback.extract_tb(error.__traceback__)
        print(type(error).__name__, error, [(entry.name, entry.lineno) for entry in entries])
failing()
failing(3)
failing(code, 3)
failing(code, {}, 3)
failing(code, {}, {}, {})
failing(code, closure=())
failing(code, wrong=1)
failing(compile("def f(): pass\\n1 / 0", "own.py", "exec"), {})
failing((lambda: local).__code__, {})
def outer():
    z = 3
    return lambda: z
failing(outer().__code__, {})
exec(outer().__code__, {}, closure=(types.CellType(4),))
class Space(dict):
    def get(self, *names): raise AssertionError
    def __getitem__(self, name):
        print("asked for", name)
        return dict.__getitem__(self, name)
class Key:
    def __hash__(self): return hash("__name__")
    def __eq__(self, other): return print("asked") or False
exec(code, Space(sys=sys))
exec(code, {Key(): 1, "sys": sys})
for odd in (3, b"own", None, [], types.SimpleNamespace(name=3)):
    exec(compile("def f(): pass", "own.py", "exec"), {"__name__": odd, "__spec__": odd, "__file__": odd})
print([getattr(finder, "__name__", type(finder).__name__) for finder in sys.meta_path])
"""


def test_exec_behaves_as_without_tracing(run_python: RunPython, folder: Path) -> None:
    (folder / "shown.py").write_text(SHOWN)
    plain = run_python("shown.py", PYTHONHASHSEED="0")
    assert plain.returncode == 0, plain.stderr
    done = run_python("shown.py", TAGALONG="1", PYTHONHASHSEED="0")
    assert (done.stdout, done.stderr, done.returncode) == (plain.stdout, plain.stderr, plain.returncode)


EVENTS = """
import sys
events = []
def watch(frame, event, argument):
    name = frame.f_code.co_name
    events.append((event, name, frame.f_lineno, getattr(argument, "__name__", None)))
    return watch
for install in (sys.settrace, sys.setprofile):
    install(watch)
    import work
    del sys.modules["work"]
    exec(compile("def f(): pass", "own.py", "exec"), {})
    install(None)
print(len(events), [getattr(finder, "__name__", type(finder).__name__) for finder in sys.meta_path])
for event in events:
    print(event)
"""


def test_watchers_see_nothing_of_it(run_python: RunPython, folder: Path) -> None:
    (folder / "events.py").write_text(EVENTS)
    run_python("-c", "import work")  # compiled
    plain = run_python("events.py")
    assert plain.returncode == 0 and "import" in plain.stdout and "'exec'" in plain.stdout, plain.stderr
    done = run_python("events.py", TAGALONG="1")
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)


def test_code_that_is_executed_again_and_again_is_traced_and_not_kept(
    run_python: RunPython, folder: Path
) -> None:
    """Its functions stay traced: the code objects from which they are made are changed once, in place.

    Changing the module's own instructions takes longer than a short run, so only code that runs for long is changed
    more than four times.
    """
    (folder / "again.py").write_text(
        "import time, weakref\n"
        "import tagalong\n"
        "from tagalong import _core\n"
        "code = compile('def f(n):\\n    return n\\nfor k in range(30): pass', 'own.py', 'exec')\n"
        "traced, before = [], tagalong.stats().records\n"
        "for _ in range(20):\n"
        "    space = {}\n"
        "    exec(code, space)\n"
        "    traced.append(_core.is_traced(space['f']))\n"
        "print(traced, tagalong.stats().records - before < 10)\n"
        "alive = weakref.ref(code)\n"
        "del code, space\n"
        "print(alive())\n"
        "code = compile('def f(n):\\n    return n\\nfor k in range(30): time.sleep(0.005)', 'own.py', 'exec')\n"
        "traced, before = [], tagalong.stats().records\n"
        "for _ in range(7):\n"
        "    space = {'time': time}\n"
        "    exec(code, space)\n"
        "    traced.append(_core.is_traced(space['f']))\n"
        "print(traced, tagalong.stats().records - before >= 7)\n"
    )
    done = run_python("again.py", TAGALONG="1")
    assert done.stdout == f"{[True] * 20} True\nNone\n{[True] * 7} True\n", done.stdout + done.stderr


def test_damaged_code_runs_as_it_is(run_python: RunPython, folder: Path) -> None:
    (folder / "damaged.py").write_text(
        "code = compile('def f(): pass\\nx = 3\\n', 'own.py', 'exec')\n"
        "code = code.replace(co_code=code.co_code + bytes([255, 0]))\n"
        "space = {}\n"
        "exec(code, space)\n"
        "print(space['x'])\n"
    )
    done = run_python("damaged.py", TAGALONG="1")
    assert (done.stdout, done.stderr) == ("3\n", "")


def test_installed_code_is_not_the_users(run_python: RunPython, folder: Path) -> None:
    (folder / "installed.py").write_text(
        "import bisect, colorsys, collections, dataclasses, runpy\n"
        "from tagalong import _core\n"
        "Point = collections.namedtuple('Point', 'x y')\n"
        "space = runpy.run_path(colorsys.__file__)\n"
        "print(_core.is_traced(Point.__new__), _core.is_traced(space['rgb_to_yiq']))\n"
        "exec(compile('def f(): pass', '<made>', 'exec'), vars(colorsys))\n"
        "print(_core.is_traced(colorsys.f))\n"
        "exec(compile('def f(): pass', '<made>', 'exec'))\n"
        "print(_core.is_traced(f))\n"
        "space = {}\n"
        "exec(compile('def f(): pass', '<made>', 'exec'), space)\n"
        "print(_core.is_traced(space['f']))\n"
    )
    done = run_python("installed.py", TAGALONG="1")
    assert done.stdout == "False False\nFalse\nTrue\nTrue\n", done.stderr


def test_compare_mode_compares_code_that_is_not_the_file(run_python: RunPython, folder: Path) -> None:
    (folder / "parts.py").write_text(
        "print('once')\n"
        "import sys\n"
        "exec(compile('def f(x):\\n    return x + 1\\nprint(f(1), f(2))', __file__, 'exec'))\n"
    )
    done = run_python("parts.py", TAGALONG="compare")
    assert done.stdout == "once\n2 3\n"
    assert done.stderr == "tagalong: compare: 1 replays compared, 0 differ\n"


# The code is too short for the stub of a first call: it is changed at once, and `-m` shows it to us twice.
SHORT = """
class Base:
    "With a text."
    first = 1
    def again(self):
        raise
    def other(self, n):
        total = 0.0
        for i in range(n):
            total += i * 0.5
        return total
    def once_more(self):
        raise

def again():
    raise

for _ in range(100):
    for function in (again, Base().again, Base().once_more):
        try:
            function()
        except RuntimeError as error:
            assert str(error) == "No active exception to reraise"
print(Base().other(10))
"""


@pytest.mark.parametrize(
    "words", [("-m", "short"), ("-m", "pack.short"), ("short.py",), ("-c", "import short")]
)
def test_functions_of_two_instructions(run_python: RunPython, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "pack").mkdir()
    for file in (tmp_path / "short.py", tmp_path / "pack/short.py"):
        file.write_text(SHORT)
    for stress in ("0", "1"):
        done = run_python(*words, cwd=tmp_path, TAGALONG="1", TAGALONG_STRESS=stress)
        assert (done.returncode, done.stdout) == (0, "22.5\n"), done.stderr
