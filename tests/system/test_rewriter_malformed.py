"""Damaged code objects and listings are refused with clear errors: never a crash, never a hang."""

import collections
import random
from types import CodeType
from typing import Any

import pytest

from rewriter_support import nested
from tagalong import rewriter

SOURCE = """
import os
def plain(a, b=2, *args, c=3, **kwargs):
    total = 0
    for i, x in enumerate(args):
        try:
            if x > a and i % 2:
                total += x ** b
            else:
                total -= max(x, key=lambda v: v + total, default=c)
        except (ValueError, TypeError) as error:
            print("bad", error, file=None, sep="")
            continue
        finally:
            total += 1
    with open(os.devnull) as f, f as g:
        return [y for y in g if y], {**kwargs}, f"{total!r:>{a}}"
def generator(n):
    got = yield from range(n)
    while (yield got):
        got = [z for z in [n]] if n else got
    return got
async def coroutine(x):
    async with x as y:
        async for z in y:
            await z
    return x
def matched(v):
    match v:
        case {"a": [1, *rest], **others}: return rest, others
        case str(s) | (int() as s): return s
class C:
    attribute: int = 3
    def method(self):
        return super().method()
try:
    pass
except* OSError as e:
    raise
"""

BASES = list(nested(compile(SOURCE, "<source>", "exec")))
SEEDS = 10_000


def random_object(rng: random.Random) -> Any:
    choices: list[Any] = [
        None,
        1,
        -1,
        1 << 80,
        "x",
        b"x",
        (),
        ("a", 1),
        frozenset({1}),
        1.5,
        object(),
        [],
        BASES[0],
    ]
    return rng.choice(choices)


def mutated_bytes(rng: random.Random, data: bytes, unit: int) -> bytes:
    """Changes, removes, inserts, doubles, cuts or replaces some bytes; whole code units where lengths change."""
    buffer = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        size = len(buffer)
        kind = rng.randrange(7)
        if kind <= 2 and size:
            buffer[rng.randrange(size)] = rng.randrange(256)
        elif kind == 3 and size:
            start = rng.randrange(0, size, unit)
            del buffer[start : start + unit * rng.randrange(1, 6)]
        elif kind == 4:
            start = rng.randrange(0, size + 1, unit)
            buffer[start:start] = rng.randbytes(unit * rng.randrange(1, 6))
        elif kind == 5 and size:
            del buffer[rng.randrange(0, size, unit) :]
        elif kind == 6 and size:
            start = rng.randrange(0, size, unit)
            buffer[start:start] = buffer[start : start + unit * rng.randrange(1, 20)]
    if len(buffer) % unit:
        buffer += bytes(unit - len(buffer) % unit)
    return bytes(buffer)


def mutant(seed: int) -> CodeType | None:
    """A damaged code object; None if the interpreter itself refuses to make it.

    Made by the constructor and not by replace(), which reads the code of its original and fails on damaged code.
    """
    rng = random.Random(seed)
    base = rng.choice(BASES)
    fields: dict[str, Any] = {
        "argcount": base.co_argcount,
        "posonlyargcount": base.co_posonlyargcount,
        "kwonlyargcount": base.co_kwonlyargcount,
        "nlocals": base.co_nlocals,
        "stacksize": base.co_stacksize,
        "flags": base.co_flags,
        "code": base.co_code,
        "constants": base.co_consts,
        "names": base.co_names,
        "varnames": base.co_varnames,
        "filename": base.co_filename,
        "name": base.co_name,
        "qualname": base.co_qualname,
        "firstlineno": base.co_firstlineno,
        "linetable": base.co_linetable,
        "exceptiontable": base.co_exceptiontable,
        "freevars": base.co_freevars,
        "cellvars": base.co_cellvars,
    }
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(
            ["code"] * 4
            + ["exceptiontable", "linetable"] * 2
            + ["constants", "names", "varnames", "freevars", "cellvars"]
            + ["stacksize", "firstlineno", "flags", "argcount"]
        )
        value = fields[name]
        if name == "code":
            fields[name] = mutated_bytes(rng, value, 2)
        elif isinstance(value, bytes):
            fields[name] = mutated_bytes(rng, value, 1)
        elif name == "constants":
            items = [random_object(rng) if rng.random() < 0.3 else item for item in value]
            fields[name] = tuple(items[: rng.randrange(len(items) + 1)] if rng.random() < 0.5 else items)
        elif isinstance(value, tuple):
            fields[name] = (
                value[: rng.randrange(len(value) + 1)] if rng.random() < 0.7 else (*value, f"v{seed}")
            )
            if name == "varnames":
                fields["nlocals"] = len(fields[name])
        elif name == "flags":
            fields[name] = value ^ (1 << rng.randrange(30))
        else:
            fields[name] = rng.choice((0, 1, -1, 2**31 - 1, 2**28, rng.randrange(1000)))
    try:
        return CodeType(*fields.values())
    except (ValueError, SystemError, OverflowError, TypeError):
        return None


def test_mutated_code_objects() -> None:
    outcomes: collections.Counter[str] = collections.Counter()
    made = 0
    seed = 0
    hooks = rewriter.Hooks()
    while made < SEEDS:
        seed += 1
        code = mutant(seed)
        if code is None:
            continue
        made += 1
        for name, function in (
            ("round trip", rewriter.round_trip),
            ("depths", rewriter.stack_depths),
            ("listing", rewriter.disassemble),
            ("instrument", lambda code: rewriter.instrument(code, hooks=hooks)),
        ):
            try:
                function(code)
                outcomes[f"{name}: accepted"] += 1
            except rewriter.RewriteError as error:
                assert str(error)
                outcomes[f"{name}: refused"] += 1
            except BaseException as error:
                raise AssertionError(f"seed {seed}: {name}: {error!r}") from error
    print(made, "code objects:", dict(outcomes))
    for name in ("round trip", "depths", "listing", "instrument"):
        assert outcomes[f"{name}: refused"] > SEEDS // 10, "the mutations must damage something"
        assert outcomes[f"{name}: accepted"] > SEEDS // 20, "the mutations must leave something whole"


def test_mutated_listings() -> None:
    """Random damage to text: a listing is assembled, or refused with the line."""
    listings = [rewriter.disassemble(code) for code in BASES]
    accepted = refused = 0
    for seed in range(2000):
        rng = random.Random(seed)
        lines = rng.choice(listings).splitlines()
        for _ in range(rng.choice((1, 2, 4))):
            place = rng.randrange(len(lines))
            kind = rng.randrange(4)
            if kind == 0:
                del lines[place]
            elif kind == 1:
                lines.insert(place, rng.choice(lines))
            elif kind == 2 and lines[place]:
                column = rng.randrange(len(lines[place]))
                lines[place] = (
                    lines[place][:column] + rng.choice("0189-()'\"@:>x\\ \0é") + lines[place][column + 1 :]
                )
            elif lines[place]:
                words = lines[place].split(" ")
                word = rng.choice(("9", "end", "to", "99999999999999999999", "(", "code", "1e"))
                words[rng.randrange(len(words))] = word
                lines[place] = " ".join(words)
            if not lines:
                lines = [""]
        try:
            rewriter.assemble("\n".join(lines))
            accepted += 1
        except rewriter.RewriteError as error:
            refused += 1
            assert str(error)
    assert accepted > 100
    assert refused > 500


def altered(code: CodeType, *pairs: int, **fields: Any) -> CodeType:
    return code.replace(co_code=bytes(pairs), co_exceptiontable=b"", co_linetable=b"", **fields)


def one_constant() -> None:
    return None


RESUME, LOAD_CONST, RETURN_VALUE, EXTENDED_ARG, NOP = 151, 100, 83, 144, 9
JUMP_FORWARD, JUMP_BACKWARD, LOAD_GLOBAL, POP_TOP, LOAD_DEREF, CACHE = 110, 140, 116, 1, 137, 0


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ((RESUME, 0, 254, 0), "unknown opcode 254 at code unit 1"),
        ((RESUME, 0, LOAD_CONST, 9, RETURN_VALUE, 0), "argument 9 of LOAD_CONST at 1 is out of range"),
        ((RESUME, 0, LOAD_GLOBAL, 0, CACHE, 0), "the inline cache of LOAD_GLOBAL at code unit 1 is cut off"),
        ((RESUME, 0, EXTENDED_ARG, 1), "the code ends with EXTENDED_ARG"),
        ((EXTENDED_ARG, 0) * 4 + (NOP, 0), "more than 3 EXTENDED_ARGs"),
        ((RESUME, 0, CACHE, 0), "CACHE where an instruction should be"),
        ((RESUME, 0, JUMP_FORWARD, 5), "a jump goes to code unit 7, outside of the code"),
        ((RESUME, 0, JUMP_BACKWARD, 5), "a jump goes to code unit -3, outside of the code"),
        (
            (RESUME, 0, JUMP_FORWARD, 1, EXTENDED_ARG, 1, NOP, 0, JUMP_BACKWARD, 1),
            "in the middle of an instruction",
        ),
        ((RESUME, 0, LOAD_DEREF, 0, RETURN_VALUE, 0), "argument 0 of LOAD_DEREF at 1 is out of range"),
        ((RESUME, 0, POP_TOP, 0), "POP_TOP at 1 needs 1 values on the stack, there are 0"),
        ((RESUME, 0, NOP, 0), "control runs off the end of the code behind NOP"),
        ((), "there is no instruction"),
        (
            (LOAD_CONST, 0, JUMP_BACKWARD, 2),
            "instruction 0 is reached with 0 values on the stack and, from 1, with 1",
        ),
    ],
)
def test_errors_say_what_is_wrong(pairs: tuple[int, ...], message: str) -> None:
    with pytest.raises(rewriter.RewriteError) as caught:
        rewriter.round_trip(altered(one_constant.__code__, *pairs))
    assert message in str(caught.value)


def test_damaged_tables_are_refused() -> None:
    code = one_constant.__code__
    tables: list[tuple[str, bytes, str]] = [
        ("co_linetable", b"\x00", "no entry starts at byte 0"),
        ("co_linetable", b"\xf0", "cut off"),
        ("co_linetable", b"\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", "malformed number"),
        ("co_linetable", b"\xe8\x7f\x7f\x3f", "out of range"),
        ("co_exceptiontable", b"\x01\x01\x01\x01", "no entry starts at byte 0"),
        ("co_exceptiontable", b"\x80\x81", "an entry starts too early at byte 1"),
        ("co_exceptiontable", b"\x80\x01", "cut off"),
        ("co_exceptiontable", b"\x80\x00\x00\x00", "is empty"),
        ("co_exceptiontable", b"\x80\x02\x00\x00\x81\x01\x00\x00", "not behind the one before"),
        (
            "co_exceptiontable",
            b"\x80\x01\x09\x00",
            "an exception handler is at code unit 9, outside of the code",
        ),
        ("co_exceptiontable", b"\x80\x01\x02\x08", "its exception handler expects 4"),
    ]
    for field, table, message in tables:
        with pytest.raises(rewriter.RewriteError) as caught:
            rewriter.round_trip(code.replace(**{field: table}))
        assert message in str(caught.value), (table, str(caught.value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text holds no code"),
        ("stack 3", "line 1: the first line must be: code NUMBER NAME"),
        ("code 0 f\ncode 0 g", "line 2: code 0 comes twice"),
        ("code 0 f\n  NOPE", "line 2: there is no instruction NOPE"),
        ("code 0 f\n  flags WRONG", "line 2: there is no flag WRONG"),
        ("code 0 f\n  constant 1 None", "line 2: constant 1 follows 0 others"),
        ("code 0 f\n  constant 0 open('x')", "line 2: expected a constant, found open('x')"),
        ("code 0 f\n  constant 0 'x", "line 2: a quoted text does not end"),
        ("code 0 f\n  constant 0 object '<hook>'", "line 2: constant 0 is an object that was not given"),
        ("code 0 f\n  constant 0 code 7\n RESUME 0", "code 7 is a constant but is not in the text"),
        ("code 0 f\n  constant 0 code 0\n RESUME 0", "contains itself"),
        ("code 0 f\n  LOAD_FAST x", "line 2: there is no name 'x' in this code"),
        ("code 0 f\n  JUMP_FORWARD to 9", "line 2: there is no label 9"),
        ("code 0 f\n  LOAD_CONST", "line 2: LOAD_CONST needs an argument"),
        ("code 0 f\n  1 NOP\n  1 NOP", "line 3: label 1 comes twice"),
        ("code 0 f\n  NOP @ 3:x", "line 2: expected a number"),
        ("code 0 f\n  arguments 1\n  RESUME 0", "line 1: 1 arguments (0 positional only) do not fit 0 slots"),
        ("code 0 f\n  RESUME 0\n  POP_TOP", "code at line 1: POP_TOP at 1 needs 1 values on the stack"),
        ("code 0 f\n  RESUME 0 0", "line 2: there is more than belongs there"),
    ],
)
def test_assembler_errors(text: str, message: str) -> None:
    with pytest.raises(rewriter.RewriteError) as caught:
        rewriter.assemble(text)
    assert message in str(caught.value)


def test_arguments_of_other_types() -> None:
    for function in (rewriter.round_trip, rewriter.disassemble, rewriter.stack_depths, rewriter.instrument):
        with pytest.raises(TypeError):
            function(3)  # type: ignore[operator]
    with pytest.raises(TypeError):
        rewriter.assemble(b"")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        rewriter.instrument(one_constant, before=3)  # type: ignore[arg-type]
    with pytest.raises(rewriter.RewriteError):
        rewriter.instrument(one_constant, before=print, where=[99])
