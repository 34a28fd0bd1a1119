"""The C API: an example extension is built with the header, and specialises functions with its own guard."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import tagalong
from specialize_support import fast, new
from tagalong import _core, guards
from test_leaks import assert_no_growth

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("g++")


def build(source: Path, folder: Path, *flags: str) -> Path:
    assert COMPILER is not None
    target = folder / f"below{sysconfig.get_config_var('EXT_SUFFIX')}"
    words = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-Wno-unused-parameter", *flags]
    includes = [f"-I{tagalong.get_include()}", f"-I{sysconfig.get_path('include')}"]
    done = subprocess.run(
        [COMPILER, *words, *includes, str(source), "-o", str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


def load(source: Path, folder: Path) -> Any:
    """The extension module that is built from the source and has its name."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    spec = importlib.util.spec_from_file_location(source.stem, build(source, folder))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def below(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load(root / "examples" / "below.c", tmp_path_factory.mktemp("extension"))


def test_the_header_is_plain_c_and_cpp(root: Path, tmp_path: Path) -> None:
    if COMPILER is None:
        pytest.skip("no C compiler")
    source = tmp_path / "only.c"
    source.write_text(
        "#include <tagalong/tagalong.h>\nconst Tagalong_API *api(void) { return Tagalong_Import(); }\n"
    )
    build(source, tmp_path, "-std=c99", "-Wextra")
    build(source, tmp_path, "-x", "c++", "-std=c++17", "-Wextra")


def test_a_guard_type_of_an_extension(below: Any) -> None:
    f, guard = new(), below.Below(10)
    assert isinstance(guard, guards.Guard)
    assert below.specialize(f, fast, [guard]) == 0
    assert [f(x)[0] for x in (1, 10, "s", -(10**30), 10**30)] == ["fast", "slow", "slow", "fast", "slow"]
    assert guard.asked == 5
    with pytest.raises(ValueError, match="13 brings bad luck"):
        f(13)
    assert (guard.check((1,), {}), guard.check((11,)), guard.check()) == (1, 0, 0)
    with pytest.raises(ValueError, match="13 brings bad luck"):
        guard.check((13,), {})
    guard.limit = 0
    assert f(1) == ("slow", 1) and below.get_specialized(f) == []
    assert _core.installed_code(f) is f.__code__


def test_results_of_init(below: Any) -> None:
    f = new()
    assert below.specialize(f, fast, [below.Below(-1)]) == 1 and below.get_specialized(f) == []
    f.unlucky = True
    with pytest.raises(LookupError, match="an unlucky function"):
        below.specialize(f, fast, [below.Below(1)])
    assert below.Below(1).init(new()) == 0 and below.Below(-1).init(new()) == -1


def test_list_choose_and_remove(below: Any) -> None:
    f = new()
    for limit, code in ((10, chr), (20, fast), (30, str)):
        assert below.specialize(f, code, [below.Below(limit)]) == 0
    listed = below.get_specialized(f)
    assert [code for code, _ in listed] == [code for code, _ in tagalong.get_specialized(f)]
    assert [below.choose(f, (x,)) for x in (1, 15, 25, 35)] == [chr, listed[1][0], str, None]
    assert below.choose(f, (), {"x": 25}) is str
    with pytest.raises(TypeError, match=r"slow\(\) missing 1 required positional argument: 'x'"):
        below.choose(f, ())
    with pytest.raises(ValueError, match="bad luck"):
        below.choose(f, (13,))
    listed[0][1][0].limit = 0
    assert below.choose(f, (1,)) is listed[1][0] and len(below.get_specialized(f)) == 2
    below.remove(f, 0)
    assert below.choose(f, (15,)) is str
    with pytest.raises(IndexError):
        below.remove(f, 1)
    below.remove(f)
    assert below.get_specialized(f) == [] and below.choose(f, (1,)) is None


def test_choose_of_other_functions(below: Any) -> None:
    def generator(x: Any, *rest: Any, key: Any = 1, **more: Any) -> Any:
        yield x

    f = new(generator)
    assert below.choose(f, (1,)) is None
    below.specialize(f, print, [guards.ArgType("key", str)])
    assert below.choose(f, (1, 2), {"key": "s"}) is print and below.choose(f, (1, 2), {"other": "s"}) is None
    tagalong.trace(f)
    assert below.choose(f, (1, 2), {"key": "s"}) is print and below.choose(f, (1,)) is None


def test_errors_of_the_table(below: Any) -> None:
    f = new()
    for call in (
        lambda: below.specialize(3, fast, [below.Below(1)]),
        lambda: below.specialize(f, 3, [below.Below(1)]),
        lambda: below.specialize(f, fast, [3]),
        lambda: below.specialize(f, fast, 3),
        lambda: below.get_specialized(len),
        lambda: below.choose(len, ()),
        lambda: below.choose(f, [1]),
        lambda: below.choose(f, (1,), 3),
        lambda: below.remove(None),
    ):
        with pytest.raises(TypeError):
            call()


def test_subclasses_of_an_extensions_guard(below: Any) -> None:
    class Named(below.Below):  # type: ignore[misc,name-defined]
        pass

    f = new()
    guard = Named(5)
    guard.f = f
    below.specialize(f, fast, [guard])
    assert (f(1), f(6)) == (("fast", 1), ("slow", 6))
    del f, guard
    gc.collect()
    assert not any(isinstance(found, Named) for found in gc.get_objects())


def test_nothing_is_kept_by_the_table(below: Any) -> None:
    def one_round(i: int) -> None:
        f = new()
        below.specialize(f, fast, [below.Below(10), below.Below(9)])
        below.specialize(f, chr, [below.Below(100)])
        assert below.choose(f, (5,)) is not None and f(5) == ("fast", 5) and f(65) == "A"
        with pytest.raises(ValueError):
            f(13)
        below.remove(f, 0)

    assert_no_growth(one_round, 2000)


def test_the_capsule_is_public() -> None:
    assert type(_core._C_API).__name__ == "PyCapsule"  # type: ignore[attr-defined]
    done = subprocess.run(
        [sys.executable, "-c", "import tagalong; print(tagalong.get_include())"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"TAGALONG": "0"},
    )
    assert (Path(done.stdout.strip()) / "tagalong" / "tagalong.h").is_file()
