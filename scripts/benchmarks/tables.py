"""Tables of figures on the terminal or in Markdown."""

from __future__ import annotations


def duration(seconds: float) -> str:
    for unit, factor in (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def ratio(value: float) -> str:
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.5 else f"{value:.0f}"


class Table:
    """Rows of cells, aligned or in Markdown, printed as they come."""

    def __init__(self, names: list[str], markdown: bool, first: tuple[int, ...] = (24, 10, 9)) -> None:
        """`first`: the widths of the first columns."""
        self.markdown = markdown
        self.widths = [*first, *[13] * (len(names) - len(first))]
        self.row(names)
        if markdown:
            print(f"|---|{'---:|' * (len(names) - 1)}")

    def row(self, cells: list[str]) -> None:
        if self.markdown:
            print(f"| {' | '.join(cells)} |", flush=True)
            return
        aligned = [
            f"{cell:<{width}}" if place == 0 else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(cells, self.widths, strict=True))
        ]
        print(f"  {' '.join(aligned)}", flush=True)
