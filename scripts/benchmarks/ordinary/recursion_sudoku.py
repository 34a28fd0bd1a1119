"""Solves sudokus by trying."""

PUZZLES = [
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    "..3.2.6..9..3.5..1..18.64....81.29..7.......8..67.82....26.95..8..2.3..9..5.1.3..",
    "2...8.3...6..7..84.3.5..2.9...1.54.8.........4.27.6...3.1..7.4.72..4..6...4.1...3",
    "......9.7...42.18....7.5.261..9.4....5.....4....5.7..992.1.8....34.59...5.7......",
]


def candidates(grid, place):
    row, column = divmod(place, 9)
    used = set(grid[row * 9 : row * 9 + 9])
    used.update(grid[column::9])
    top = row // 3 * 27 + column // 3 * 3
    for start in (top, top + 9, top + 18):
        used.update(grid[start : start + 3])
    return [digit for digit in "123456789" if digit not in used]


def solve(grid):
    best, options = None, None
    for place in range(81):
        if grid[place] == ".":
            found = candidates(grid, place)
            if best is None or len(found) < len(options):
                best, options = place, found
                if len(found) < 2:
                    break
    if best is None:
        return True
    for digit in options:
        grid[best] = digit
        if solve(grid):
            return True
    grid[best] = "."
    return False


for _ in range(100):
    for puzzle in PUZZLES:
        grid = list(puzzle)
        assert solve(grid)
print("".join(grid))
