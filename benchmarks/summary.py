"""One table and one plot of all that was measured in steps a second of BB(5), and what others report of theirs."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

PLOT = Path(__file__).parent.parent / "_build" / "bench.svg"
# Tokens a second, as reported and not measured here; a token is not a step of a Turing machine.
PEERS = {
    "Transformer VM of Percepta, in tokens": (
        30_000,
        "about 30,000 tokens a second on a CPU: README of github.com/Percepta-Core/transformer-vm and "
        "percepta.ai/blog/can-llms-be-computers, 11 March 2026",
    )
}


def table(rates: dict[str, float]) -> str:
    """What was measured, the fastest first, and against the interpreter."""
    plain = rates["interpreter"]
    lines = [f"{'steps a second of BB(5), one core':52} {'':>14}  {'/ interpreter':>13}"]
    for name, rate in sorted(rates.items(), key=lambda pair: -pair[1]):
        lines.append(f"{name:52} {rate:>14,.1f}  {rate / plain:>13.3g}")
    lines += [f"{name:52} {rate:>14,.0f}  as reported: {source}" for name, (rate, source) in PEERS.items()]
    return "\n".join(lines)


def draw(rates: dict[str, float]) -> None:
    """The same as bars, on a logarithmic scale, in a file of the build."""
    bars = sorted({**rates, **{name: rate for name, (rate, _) in PEERS.items()}}.items(), key=lambda pair: pair[1])
    figure, axes = plt.subplots(figsize=(9, 0.35 * len(bars) + 1), layout="constrained")
    axes.barh([name for name, _ in bars], [rate for _, rate in bars], color="0.6")
    axes.axvline(rates["interpreter"], color="0.2", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("steps of BB(5) a second, one core; the line is the plain interpreter")
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT)
    plt.close(figure)
    print(f"        the same as a plot: {PLOT.relative_to(PLOT.parent.parent)}")
