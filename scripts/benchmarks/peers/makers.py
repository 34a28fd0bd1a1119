"""How each peer makes a function of a program: in all forms that may be its fastest. The fastest one counts."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tagalong
from benchmarks.peers.programs import Arguments, Program

Function = Callable[..., Any]


@dataclass(frozen=True)
class Peer:
    """One peer.

    `forms` gives functions that make the program's function, one for each form; `own` is for peers with arrays of their
    own, whose conversion is not measured. `forget` makes the next call a first call again.
    """

    name: str
    package: str
    forms: Callable[[Program, Any, int], Iterator[Callable[[], Function]]]
    own: Callable[[Arguments], Arguments] = lambda arguments: arguments
    forget: Callable[[], None] = lambda: None


def by_tagalong(program: Program, _: Any, threads: int) -> Iterator[Callable[[], Function]]:
    trace = tagalong.trace  # the import at the first access is not measured, for other peers neither
    yield lambda: trace(program.copy())


def by_numexpr(program: Program, numexpr: Any, threads: int) -> Iterator[Callable[[], Function]]:
    numexpr.set_num_threads(threads)
    yield lambda: program.by_numexpr(numexpr)


def forget_numexpr() -> None:
    """numexpr identifies expressions by their texts; the other peers get a new function."""
    compiler = importlib.import_module("numexpr.necompiler")
    for cache in (compiler._numexpr_cache, compiler._names_cache):
        getattr(cache, "c", {}).clear()  # made at the first access


def by_numba(program: Program, numba: Any, threads: int) -> Iterator[Callable[[], Function]]:
    numba.set_num_threads(threads)

    def jitted(form: Any = None, parallel: bool = False) -> Function:
        name = numba.prange if parallel else range
        return numba.njit(program.copy(form, prange=name), parallel=parallel)

    yield jitted
    if program.is_elementwise:
        yield lambda: numba.vectorize(program.copy())
    if program.loops is not None:
        yield lambda: jitted(program.loops)
    if threads > 1:
        yield lambda: jitted(parallel=True)
        if program.loops is not None:
            yield lambda: jitted(program.loops, parallel=True)


def by_jax(program: Program, jax: Any, threads: int) -> Iterator[Callable[[], Function]]:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)

    def jitted() -> Function:
        compiled = jax.jit(program.copy(program.by_jax, np=importlib.import_module("jax.numpy")))
        return lambda *arguments: jax.block_until_ready(compiled(*arguments))

    yield jitted


def jax_arrays(arguments: Arguments) -> Arguments:
    return tuple(importlib.import_module("jax.numpy").asarray(array) for array in arguments)


def by_torch(program: Program, torch: Any, threads: int) -> Iterator[Callable[[], Function]]:
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    # Compiled for the exact size, as careful users do; otherwise the number of recompilations is limited.
    torch._dynamo.config.recompile_limit = 64
    yield lambda: torch.compile(program.copy(np=torch), dynamic=False)


def torch_arrays(arguments: Arguments) -> Arguments:
    return tuple(importlib.import_module("torch").from_numpy(array) for array in arguments)


PEERS = (
    Peer("tagalong", "tagalong", by_tagalong),
    Peer("numexpr", "numexpr", by_numexpr, forget=forget_numexpr),
    Peer("numba", "numba", by_numba),
    Peer("jax", "jax", by_jax, jax_arrays),
    Peer("torch.compile", "torch", by_torch, torch_arrays),
)


def installed() -> tuple[dict[str, Any], dict[str, str]]:
    """The modules of the installed packages, and why the others are missing."""
    modules: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for peer in PEERS:
        try:
            modules[peer.package] = importlib.import_module(peer.package)
        except ImportError as error:
            missing[peer.package] = str(error)
    return modules, missing
