"""Evaluation functions of other tools (PEP 523) are given the same frames and code as without tracing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from subprocesses import run
from test_specialize_c import COMPILER, build

PROBE = r"""
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>

static PyObject *seen;

static PyObject *evaluate(PyThreadState *thread, _PyInterpreterFrame *frame, int throw_flag) {
    PyObject *code = (PyObject *)frame->f_code;
    PyObject *size = PyLong_FromSsize_t(Py_SIZE(code));
    PyObject *item = PyTuple_Pack(3, frame->f_code->co_qualname, frame->f_code->co_consts, size);
    PyList_Append(seen, item);
    Py_DECREF(item);
    Py_DECREF(size);
    return _PyEval_EvalFrameDefault(thread, frame, throw_flag);
}

static PyObject *install(PyObject *self, PyObject *ignored) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (_PyInterpreterState_GetEvalFrameFunc(interpreter) != evaluate) {
        _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
    }
    return PyBool_FromLong(_PyInterpreterState_GetEvalFrameFunc(interpreter) == evaluate);
}

static PyObject *uninstall(PyObject *self, PyObject *ignored) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    _PyInterpreterState_SetEvalFrameFunc(interpreter, _PyEval_EvalFrameDefault);
    return PyBool_FromLong(_PyInterpreterState_GetEvalFrameFunc(interpreter) == _PyEval_EvalFrameDefault);
}

static PyObject *take(PyObject *self, PyObject *ignored) {
    PyObject *taken = seen;
    seen = PyList_New(0);
    return taken;
}

static PyMethodDef methods[] = {{"install", install, METH_NOARGS, 0}, {"uninstall", uninstall, METH_NOARGS, 0},
                                {"take", take, METH_NOARGS, 0}, {0, 0, 0, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "below", 0, -1, methods};
PyMODINIT_FUNC PyInit_below(void) {
    seen = PyList_New(0);
    return PyModule_Create(&module);
}
"""

PROGRAM = """
import os, sys
import below
EARLY = os.environ.get("EARLY") == "1"
if EARLY:
    assert below.install()

class Point:
    def __init__(self, x): self.x = x
    @property
    def half(self): return self.x / 2
def g(x):
    return x + 1
def numbers(n):
    for i in range(n):
        yield i
def f(x):
    def inner(y):
        return y * 2
    total = 0
    for i in range(20):
        total += i
    return inner(x) + g(x) + Point(x).half + sum(numbers(3)) + sum(map(lambda v: v + 1, [1, 2])) + total

warm = 1 if EARLY else 40
for turn in range(warm):
    expected = f(3)
if EARLY:
    assert below.uninstall()
    for turn in range(40):
        f(3)
if "tagalong" in sys.modules:
    before = sys.modules["tagalong"].stats().hits
    assert before > 20, before
below.take()
assert below.install()
results = [f(3), f(3)]
assert below.uninstall()
shown = [(name, [c if not hasattr(c, "co_name") else c.co_name for c in consts], size)
         for name, consts, size in below.take()]
print(results)
for one in shown:
    print(*one)
print(f(3))
if "tagalong" in sys.modules:
    assert sys.modules["tagalong"].stats().hits > before
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if COMPILER is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("evaluation")
    has_code = sys.version_info < (3, 13)  # else the frame has an object, which is its code
    probe = PROBE if has_code else PROBE.replace("frame->f_code", "((PyCodeObject *)frame->f_executable)")
    (folder / "below.c").write_text(probe)
    build(folder / "below.c", folder)
    (folder / "program.py").write_text(PROGRAM)
    return folder


@pytest.mark.parametrize("early", ["0", "1"], ids=["installed-late", "installed-early"])
@pytest.mark.parametrize("stress", ["0", "1"])
def test_frames_are_those_of_the_program(folder: Path, early: str, stress: str) -> None:
    path = str(folder / "program.py")
    plain = run(path, variables={"TAGALONG": "0", "EARLY": early})
    assert plain.returncode == 0, plain.stderr[-3000:]
    assert plain.stdout.count("inner") > 1
    traced = run(path, variables={"TAGALONG": "1", "TAGALONG_STRESS": stress, "EARLY": early})
    assert (traced.returncode, traced.stdout) == (0, plain.stdout), traced.stderr[-3000:]


MIDWAY = """
import sys
import below
def inner(x):
    return x + 1
def numbers(n):
    for i in range(n):
        yield inner(i)
def f(n, first, last):
    total = 0
    for i in range(n):
        if i == first:
            below.install()
        total += inner(i)
        if i == last:
            below.uninstall()
    return total
def g(n):
    below.install()
    try:
        total = sum(numbers(n))
        if n % 2:
            raise KeyError(total)
        return inner(total)
    except KeyError as error:
        return inner(error.args[0])
    finally:
        below.uninstall()
def h(n):
    total = inner(n)
    below.install()
    return total
lines = []
for turn in range(60):
    for call in (lambda: f(20, 3, 5), lambda: f(30, turn % 30, (turn + 7) % 30), lambda: g(turn % 7), lambda: h(turn)):
        below.take()
        result = call()
        below.uninstall()
        lines.append((result, [name for name, _, _ in below.take()]))
print(*lines, sep="\\n")
if "tagalong" in sys.modules:
    assert sys.modules["tagalong"].stats().hits > 40
"""


@pytest.mark.parametrize("stress", ["0", "1"])
def test_functions_that_are_installed_while_others_run(folder: Path, stress: str) -> None:
    (folder / "midway.py").write_text(MIDWAY)
    path = str(folder / "midway.py")
    plain = run(path, variables={"TAGALONG": "0"})
    assert plain.returncode == 0 and plain.stdout.count("'inner'") > 200, plain.stderr[-3000:]
    traced = run(path, variables={"TAGALONG": "1", "TAGALONG_STRESS": stress})
    assert (traced.returncode, traced.stdout) == (0, plain.stdout), traced.stderr[-3000:]


TORCH = """
import torch
@torch.compile(backend="eager")
def f(x, n):
    def inner(y):
        return torch.sin(y) * n
    return inner(x) + 1
def g(x):
    return x * 2
def plain_loop(n):
    total = 0
    for i in range(n):
        total += i
    return total
compiled = torch.compile(g, backend="eager")
for turn in range(40):
    plain_loop(100)
    a = f(torch.ones(3), 2)
    b = compiled(torch.ones(2))
    g(torch.ones(2))
print(a.tolist(), b.tolist(), plain_loop(10))
"""


def test_torch_compiles_traced_functions(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    (tmp_path / "program.py").write_text(TORCH)
    outputs = []
    for mode in ("0", "1"):
        result = run(str(tmp_path / "program.py"), variables={"TAGALONG": mode}, timeout=250)
        assert result.returncode == 0, result.stderr[-3000:]
        outputs.append(result.stdout)
    assert outputs[0] == outputs[1]
