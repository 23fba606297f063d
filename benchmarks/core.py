"""Measure the routing core: profiles against a plain transcription of the paper's formulas.

The baseline writes e, c, f, Abs, Net, flips and opposed mass out at every stage and integrates
each. Both return the same columns, which is checked. Times are the best of interleaved rounds;
memory is that allocated by NumPy, results included.
Run: python benchmarks/core.py
"""

import gc
import os
import platform
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from decaf.routing.profiles import Profiles, profile

GRID = np.linspace(0, 1, 9)
EPSILON = 0.02
PAIRS, ROUNDS = 1_000_000, 30
MB = 1e6


def plain(response: NDArray[np.float64], grid: NDArray[np.float64], epsilon: float) -> Profiles:
    """Equation 1 as it is written: every component at every stage, then the trapezoid rule."""
    if not np.isfinite(response).all():
        raise ValueError("response is not finite")
    d = response[:, -1].copy()
    active = np.abs(d) >= epsilon
    a = active[:, None]
    z = np.sign(d)[:, None] * response
    e = np.where(a, np.maximum(z, 0.0), 0.0)
    c = np.where(a, np.maximum(-z, 0.0), 0.0)
    f = np.where(a, 0.0, np.abs(response))
    stages = (e, c, f, e + c + f, e - c, np.where(a, z < 0, np.nan), np.maximum(-z, 0.0))
    e, c, f, total, _, flips, opposed = (np.trapezoid(values, grid, axis=1) for values in stages)
    return Profiles(d, e, c, f, total, flips, opposed, active)


def trajectories(pairs: int) -> NDArray[np.float64]:
    """Responses that start at zero; one pair in twelve is endpoint-null."""
    response = np.random.default_rng(0).normal(0, 0.2, (pairs, GRID.size))
    response[:, 0] = 0
    return response


def seconds(function: Callable[..., Profiles], response: NDArray[np.float64]) -> float:
    """Duration of one call; the results are freed outside it."""
    started = time.perf_counter()
    results = function(response, GRID, EPSILON).columns()
    took = time.perf_counter() - started
    del results
    return took


def peak_bytes(function: Callable[..., Profiles], response: NDArray[np.float64]) -> tuple[int, int]:
    """Most memory allocated during a call, and what its results still hold."""
    gc.collect()
    tracemalloc.start()
    results = function(response, GRID, EPSILON)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak, sum(column.nbytes for column in results)


def main() -> None:
    """Print a table of both ways."""
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, no GPU;", end=" ")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}\n")
    response = trajectories(PAIRS)
    pairs = zip(profile(response, GRID), plain(response, GRID, EPSILON), strict=True)
    for profile_values, plain_values in pairs:
        np.testing.assert_allclose(profile_values, plain_values, atol=1e-15)

    ways = {"plain NumPy": plain, "`profile`": profile}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, function in ways.items():
            times[name].append(seconds(function, response))
    slow = min(times["plain NumPy"])
    print(f"{PAIRS:,} x {GRID.size} float64, {response.nbytes / MB:.0f} MB\n")
    print("| way | best, ms | median, ms | ratio of the best | peak, MB | beyond the results, MB |")
    print("|---|---|---|---|---|---|")
    for name, function in ways.items():
        best, (peak, held) = min(times[name]), peak_bytes(function, response)
        print(
            f"| {name} | {best * 1e3:.1f} | {np.median(times[name]) * 1e3:.1f} "
            f"| {slow / best:.1f} | {peak / MB:.1f} | {(peak - held) / MB:.1f} |"
        )


if __name__ == "__main__":
    main()
