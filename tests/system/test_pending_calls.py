"""Pending calls of C code (Py_AddPendingCall) see the globals and builtins of the program's frame in a replay, too."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tagalong
from test_specialize_c import load

ROUNDS = 12


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[Any]], None]:
    module = load(Path(__file__).parent / "pending_calls.c", tmp_path_factory.mktemp("pending"))
    function: Callable[[list[Any]], None] = module.ask
    return function


def asked_after_a_call(ask: Callable[[list[Any]], None]) -> list[Any]:
    seen: list[Any] = []
    ask(seen)
    return seen + [len(seen)]


def asked_in_a_loop(ask: Callable[[list[Any]], None]) -> list[Any]:
    seen: list[Any] = []
    for _ in range(ROUNDS):
        ask(seen)
    return seen


def asked_by_a_helper(ask: Callable[[list[Any]], None]) -> list[Any]:
    return asked_after_a_call(ask)


@pytest.mark.parametrize("function", [asked_after_a_call, asked_in_a_loop, asked_by_a_helper])
def test_globals_are_the_programs(ask: Callable[[list[Any]], None], function: Any) -> None:
    expected = function(ask)
    assert all(each is globals() for each in expected[:-1:2])
    assert expected[1] is vars(builtins)
    traced = tagalong.trace(function)
    for _ in range(6):
        result = traced(ask)
        assert len(result) == len(expected)
        assert all(one is other for one, other in zip(result, expected, strict=True))
    assert tagalong.stats(traced).hits >= 4
