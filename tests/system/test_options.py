"""The options table: every row, in every form that is derived from it."""

from __future__ import annotations

import argparse
import re

import pytest

from tagalong import _core, options
from tagalong.options import (
    LIMITS,
    TABLE,
    Mode,
    Option,
    OptionError,
    add_arguments,
    environment_of,
    from_environment,
)

ROWS = [pytest.param(option, id=option.name) for option in TABLE]


def test_rows_do_not_share_names() -> None:
    for column in ("name", "variable", "flag"):
        values = [getattr(option, column) for option in TABLE]
        assert len(set(values)) == len(values)


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = from_environment({})
    for option in TABLE:
        assert getattr(settings, option.name) == option.parse(option.default)
    assert settings.mode is Mode.OFF


def test_an_empty_variable_is_an_unset_one() -> None:
    assert from_environment({option.variable: "" for option in TABLE}) == from_environment({})


@pytest.mark.parametrize("option", ROWS)
def test_examples_are_read(option: Option) -> None:
    assert option.examples
    for text, value in option.examples:
        assert getattr(from_environment({option.variable: text}), option.name) == value


@pytest.mark.parametrize("option", ROWS)
def test_a_bad_value_is_named_with_its_variable_and_what_is_allowed(option: Option) -> None:
    assert option.refused
    for text in option.refused:
        with pytest.raises(OptionError) as raised:
            from_environment({option.variable: text})
        assert str(raised.value) == f"{option.variable}: {text!r} is not allowed; allowed: {option.allowed}"
        assert isinstance(raised.value, ValueError)


def test_an_unknown_variable_is_an_error() -> None:
    with pytest.raises(OptionError, match="TAGALONG_LOGS: there is no such variable; there are: TAGALONG, "):
        from_environment({"TAGALONG_LOGS": "all"})


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_can_be_set_alone(name: str) -> None:
    limits = from_environment({"TAGALONG_LIMITS": f" {name}=17 "}).limits
    assert limits == {other: 17 if other == name else default for other, (default, _) in LIMITS.items()}


def test_counters_and_knobs_have_names_and_documentation() -> None:
    counters, knobs = _core.internals()
    rows = [*counters, *knobs]
    assert len({name for name, _, _ in rows}) == len(rows)
    assert all(re.fullmatch("[a-z][a-z0-9_]+", name) and meaning.strip() for name, _, meaning in rows)
    assert list(_core.counters()) == [name for name, _, _ in counters]
    assert _core.options() == _core.limits() | {name: value for name, value, _ in knobs}
    for name in _core.counters():
        assert _core.counter(name) >= 0
    with pytest.raises(KeyError, match="there is no counter groups"):
        _core.counter("groups")


@pytest.mark.parametrize("name", [name for name, _, _ in _core.internals()[1] if name != "stress"])
def test_a_knob_can_be_read_back(name: str) -> None:
    before = _core.options()[name]
    after = 4 if before not in (0, 1) else 1 - before
    _core.set_option(name, after)
    assert _core.options()[name] == after
    _core.set_option(name, before)


@pytest.mark.parametrize("option", ROWS)
def test_a_flag_becomes_its_variable(option: Option) -> None:
    parser = argparse.ArgumentParser()
    options.add_arguments(parser)
    text, value = option.examples[-1]
    given = parser.parse_args([f"{option.flag}={text}"])
    environment = options.environment_of(given, {"PATH": "p", option.variable: "overridden"})
    assert environment == {"PATH": "p", option.variable: text}
    assert getattr(from_environment(environment), option.name) == value


@pytest.mark.parametrize("option", ROWS)
def test_a_bad_flag_names_the_flag(option: Option) -> None:
    parser = argparse.ArgumentParser()
    options.add_arguments(parser)
    given = parser.parse_args([f"{option.flag}={option.refused[0]}"])
    with pytest.raises(OptionError, match=f"^{re.escape(option.flag)}: "):
        options.environment_of(given, {})


@pytest.mark.parametrize("option", ROWS)
def test_help_says_it_all(option: Option) -> None:
    parser = argparse.ArgumentParser(formatter_class=lambda prog: argparse.HelpFormatter(prog, width=10_000))
    options.add_arguments(parser)
    text = parser.format_help()
    for part in (option.flag, option.variable, option.help, option.allowed):
        assert part in text


@pytest.mark.parametrize(
    "option", [option for option in TABLE if option.older], ids=lambda option: option.name
)
def test_old_names_work_with_a_warning(option: Option, capsys: pytest.CaptureFixture[str]) -> None:
    assert option.older
    variable, flag = option.older
    for text, value in option.examples:
        assert getattr(from_environment({variable: text}), option.name) == value
    assert capsys.readouterr().err.startswith(f"tagalong: {variable} is called {option.variable} now")
    both = {variable: option.examples[0][0], option.variable: option.examples[1][0]}
    assert getattr(from_environment(both), option.name) == option.examples[1][1]
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    text = option.examples[0][0]
    environment = environment_of(parser.parse_args([f"{flag}={text}"]), {})
    assert environment == {option.variable: text}
    assert f"tagalong: {flag} is called {option.flag} now" in capsys.readouterr().err
