"""Which feature each source file belongs to, in the layout of today and in that of commits before the folders."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LIBRARIES = ("rewriter", "replay", "recorder", "runtime")
SUFFIXES = (".h", ".cpp", ".inc", ".def", ".py", ".pyi")

# Feature: paths, regular expressions without the suffix, today's first. A file belongs to the first feature that fits.
FEATURES: dict[str, tuple[str, ...]] = {
    "ownership and errors": ("rewriter/base/.*", "rewriter/interp/(ref|kept_ref|errors|ending|once)"),
    "CPython's structures": ("rewriter/cpython/.*", "rewriter/interp/.*"),
    "bytecode": ("rewriter/.*",),
    "graph, its text and its verifier": (
        "replay/ir/.*",
        "replay/(ops|graph|printer|parser|verifier|literals|limits|operators|code_shape|consumers)",
    ),
    "passes": ("replay/passes/.*",),
    "operations on objects": (
        "replay/objects/.*",
        "replay/(binding|eliding_calls|guards|known_functions|operations|overloads|quiet_calls|raw|sequence_items)",
    ),
    "loops: loop programs and unboxed values": (
        "replay/loops/.*",
        "replay/steps/loop_.*",
        "replay/executor/machine/(boxing|loop_.*)",
        "replay/(loop_.*|interpreter_loop.*)",
    ),
    "trace links and trace trees": (
        "replay/executor/(trace_trees|tree_link|program_merge|whole_trace|machine/trace_link)",
        "replay/(stitching|growing)",
    ),
    "square roots in steps": ("replay/array/exact_roots",),
    "unroll and jam of two rows": ("replay/array/(region_pairs|row_pairs)",),
    "tiling of two passes": ("replay/array/bands",),
    "serpentine order": ("replay/array/region_backwards",),
    "histograms": (
        "replay/arrays/(kernels/histogram|simd/histogram_lanes)",
        "replay/array/(bins|bin_lanes)",
    ),
    "kept memory and pages": (
        "replay/arrays/numpy/(fresh_pages|kept_memory|freed_memory)",
        "replay/array/(fresh_pages|kept_memory|freed_memory)",
    ),
    "fusion: which operations form a group": (
        "replay/arrays/forming/.*",
        "replay/executor/machine/fusion_runs",
        "replay/(region.*|interpreter_regions)",
        "replay/array/region_planner.*",
    ),
    "trace executor": ("replay/(executor|steps)/.*", r"replay/\w+"),
    "machine code of loops": ("replay/codegen/(scalar/.*|[a-z_]+)", "replay/native/.*"),
    "vector code": ("replay/codegen/vector/.*", "replay/array/(exact_.*|vector_functions)"),
    "functions with libm's bits": ("replay/arrays/libm/.*", "replay/array/near_.*"),
    "fusion: plans and runs": (
        "replay/arrays/(planning|fusion)/.*",
        "replay/array/(region.*|sweeps|spreading|streaming)",
    ),
    "array kernels and NumPy's structures": ("replay/arrays/.*", "replay/array/.*"),
    "deferred arrays while recording": ("recorder/deferred/.*", "recorder/array_.*"),
    "inlining": (
        "recorder/inlining/.*",
        "recorder/(inline.*|call_forms|consumers|delegation|overloads)",
    ),
    "recording": ("recorder/.*",),
    "cost model, budget, retirement": (
        "runtime/policy/.*",
        "runtime/(worth|spending|retired_functions)",
    ),
    "versions made by hand": (
        "runtime/(specialize|include)/.*",
        "runtime/(specialize.*|dispatch.*|guard.*|ready_guards)",
    ),
    "Python package": ("runtime/python/.*",),
    "Python module in C++": ("runtime/module/.*",),
    "cache of graphs, reports": ("runtime/.*",),
}


def feature_of(path: str) -> str:
    """The feature that the file belongs to."""
    name = path.removesuffix(Path(path).suffix)
    return next(
        feature
        for feature, patterns in FEATURES.items()
        if any(re.fullmatch(pattern, name) for pattern in patterns)
    )


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


def files_of(commit: str) -> dict[str, int]:
    """The source files of a commit and their lines; of the working tree if `commit` is empty."""
    names = _git("ls-tree", "-r", "--name-only", commit) if commit else _git("ls-files")
    paths = [path for path in names.splitlines() if path.startswith(LIBRARIES) and path.endswith(SUFFIXES)]
    if not commit:
        return {path: len(Path(path).read_text().splitlines()) for path in paths if Path(path).exists()}
    # One line of output for each file: COMMIT:PATH:LINES, for files with lines.
    counted = _git("grep", "-c", "", commit, "--", *LIBRARIES).splitlines()
    lines = {path: int(count) for _, path, count in (line.rsplit(":", 2) for line in counted)}
    return {path: lines.get(path, 0) for path in paths}


def features(commits: list[str]) -> Iterator[str]:
    """A table in Markdown: lines by feature, a column for each commit; without commits one for the working tree."""
    columns = commits or [""]
    counts = []
    for commit in columns:
        lines = Counter[str]()
        for path, count in files_of(commit).items():
            lines[feature_of(path)] += count
        counts.append(lines)
    yield "| feature | " + " | ".join(commit or "lines" for commit in columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    for feature in FEATURES:
        yield f"| {feature} | " + " | ".join(f"{lines[feature]:,}" for lines in counts) + " |"
    yield "| all | " + " | ".join(f"{lines.total():,}" for lines in counts) + " |"
