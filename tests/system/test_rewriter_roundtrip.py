"""Every code object compiled from the standard library's sources survives the rewriter."""

from rewriter_support import difference, library_modules, nested
from tagalong import _core, rewriter


def test_round_trip_is_identical() -> None:
    count = 0
    for module in library_modules():
        for code in nested(module):
            count += 1
            found = difference(rewriter.round_trip(code), code)
            assert found is None, f"{code.co_filename}: {found}"
    print(f"{count} code objects came back identical")
    assert count > 50_000


def test_text_round_trip_is_identical() -> None:
    count = 0
    for module in library_modules(every=6):
        count += 1
        found = difference(rewriter.assemble(rewriter.disassemble(module)), module)
        assert found is None, f"{module.co_filename}: {found}"
    print(f"{count} modules came back identical from their listings")
    assert count > 200


def test_round_trip_of_executed_code() -> None:
    """Quickened and specialised instructions are read as their base instructions."""

    def busy(numbers: list[int]) -> int:
        total = 0
        for number in numbers:
            total += number if number > 3 else len(str(number))
        return total

    before = busy.__code__.replace()
    for _ in range(100):
        busy([1, 5, 7])
    adaptive = busy.__code__._co_code_adaptive
    assert adaptive != busy.__code__.co_code
    again = rewriter.round_trip(busy.__code__)
    assert difference(again, before) is None


def test_instrumented_code_keeps_positions() -> None:
    """With empty hooks everywhere, each original instruction keeps exactly its position."""
    hooks = rewriter.Hooks()
    instructions = hooked = 0
    for module in library_modules(every=2):
        for code in nested(module):
            result, offsets, before, after, depths = _core.rewriter_instrument(code, hooks, None, None)
            old = list(code.co_positions())
            new = list(result.co_positions())
            old_offsets = _core.rewriter_offsets(code)
            assert len(old_offsets) == len(offsets) == len(before) == len(after) == len(depths)
            for was, now in zip(old_offsets, offsets, strict=True):
                assert old[was] == new[now], (code.co_filename, code.co_qualname, was)
                assert code.co_code[2 * was] == result.co_code[2 * now], (
                    code.co_filename,
                    code.co_qualname,
                    was,
                )
            assert result.co_stacksize >= code.co_stacksize
            assert rewriter.stack_depths(result)[0] == 0
            instructions += len(offsets)
            hooked += sum(offset >= 0 for offset in before + after)
    print(f"{instructions} instructions kept their positions between {hooked} hooks")
    assert instructions > 500_000
    assert hooked > 1.5 * instructions


def test_listed_positions_are_those_of_co_positions() -> None:
    """The rewriter's own reader of the line table against the interpreter's."""

    def shown(position: tuple[int | None, int | None, int | None, int | None]) -> str:
        line, end_line, column, end_column = ("?" if number is None else number for number in position)
        return "none" if line == "?" else f"{line}:{column}-{end_line}:{end_column}"

    compared = 0
    for module in library_modules(every=40):
        for code in nested(module):
            plain = code.replace(co_consts=tuple(None for _ in code.co_consts))
            rows = [row for row in rewriter.disassemble(plain).splitlines() if " @ " in row]
            listed = [
                row.rsplit(" @ ", 1)[1] for row in rows if row.split()[0].isdigit() or row.split()[0] == ">>"
            ]
            positions = list(code.co_positions())
            assert listed == [shown(positions[unit]) for unit in _core.rewriter_offsets(code)]
            compared += len(listed)
    print(f"{compared} positions compared")
    assert compared > 20_000
