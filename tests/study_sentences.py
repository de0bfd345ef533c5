"""The sentences of the last chapter that hold measured numbers, made from the tables: each stands in the chapter."""

# ruff: noqa: E501  # a sentence stands in one line, as it is searched for

from math import log10

import turing
from turing.decompiler.damages import INTEGERS
from turing.study import parentheses
from turing.study.claims import factor, select, spread

UP = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power(x: float) -> str:
    """A number as the chapter writes it: $3.4 \\cdot 10^{-3}$."""
    exponent = int(f"{x:e}".split("e")[1])
    return f"${x / 10**exponent:.1f} \\cdot 10^{{{exponent}}}$"


def star(rows, bits, adder, restoring, feedback):
    return spread(select(rows, bits=bits, adder=adder, restoring=restoring, feedback=feedback))


def slope(rows, **kind):
    """The exponent p of σ* ~ L^p, by the least squares of logarithms."""
    bits = sorted({row["bits"] for row in select(rows, **kind)})
    points = [(log10(b), log10(spread(select(rows, bits=b, **kind))[0])) for b in bits]
    x, y = (sum(column) / len(points) for column in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def growth(rows):
    def of(noise, adder, restoring):
        return select(rows, noise=noise, adder=adder, restoring=restoring)

    weights = [factor(of("weights", adder, False)) for adder in ("lookahead", "ripple")]
    column = [factor(of("first column", adder, False)) for adder in ("lookahead", "ripple")]
    medians = [row["median"] for row in of("weights", "lookahead", True)]
    yield (
        f"The median error of a column then grows by a factor of {weights[0]:.1f} a step with the lookahead adder and of "
        f"{weights[1]:.1f} with the ripple adder."
    )
    yield (
        f"If only the first column is off and the weights are exact, the factor is {column[0]:.2f} and {column[1]:.2f} a step "
        f"on average over the run"
    )
    yield (
        f"With restoring layers the error of the lookahead network is {power(medians[0])} after the first step and "
        f"{power(medians[-1])} after the last one"
    )


def paper_word(rows):
    def steps(adder, restoring, feedback):
        return [row["step"] for row in select(rows, adder=adder, restoring=restoring, feedback=feedback)]

    def completed(name, restoring, feedback):
        counts = [steps(adder, restoring, feedback).count(None) for adder in ("lookahead", "ripple")]
        return f"| {name} | {counts[0]} | {counts[1]} |"

    word = "B()((()(()))())E"
    yield f"Take the word above, `{word}`, whose run has {turing.zoo['balanced_parentheses'].run(word).steps} steps"
    plain = steps("lookahead", False, "analog")
    assert None not in plain
    assert len(plain) == 20
    yield "| of 20 copies, completed | lookahead | ripple |"
    yield completed("plain", False, "analog")
    yield completed("token feedback", False, "token")
    yield completed("restoring layers", True, "analog")
    yield f"The plain lookahead copies fail between step {min(plain)} and step {max(plain)}."


def tolerance(rows):
    def medians(name, restoring, feedback):
        found = [star(rows, 7, adder, restoring, feedback)[0] for adder in ("lookahead", "ripple")]
        return f"| {name} | {power(found[0])} | {power(found[1])} |"

    plain = star(rows, 7, "lookahead", False, "analog")
    least = min(row["sigma"] for row in rows)
    assert set(star(rows, 7, "ripple", False, "analog")) == {least}  # every copy failed at the least noise tried
    yield "on a word of 19 steps. These are the medians at $L = 7$"
    yield f"| plain | {power(plain[0])} | none that we tried |"
    yield medians("token feedback", False, "token")
    yield medians("restoring layers", True, "analog")
    assert log10(least) < -7.9
    yield "fails even at the smallest noise that we tried, $10^{-8}$"
    yield f"(the quartiles are {power(plain[1])} and {power(plain[2])})"
    best, low, high = star(rows, 7, "lookahead", True, "analog")
    assert best / plain[0] > 10**4
    yield "raise the tolerated noise of the lookahead network by more than four orders of magnitude"
    yield f"For the restored one the quartiles are {power(low)} and {power(high)}."
    wide = star(rows, 17, "lookahead", True, "analog")[0]
    yield f"$\\sigma^*$ falls from {power(best)} at $L = 7$ to {power(wide)} at $L = 17$"
    slopes = [slope(rows, adder=adder, restoring=False, feedback="token") for adder in ("lookahead", "ripple")]
    yield f"a power law fits, with the exponent ${slopes[0]:.1f}$ for lookahead and ${slopes[1]:.1f}$ for ripple"


def kappa(rows):
    def step(number, restoring, feedback):
        (row,) = select(rows, measure="exact", kappa=number, restoring=restoring, feedback=feedback)
        return row["step"]

    numbers = sorted({row["kappa"] for row in select(rows, measure="exact")})
    plain = [step(number, False, "analog") for number in numbers]
    first = min(number for number, found in zip(numbers, plain, strict=True) if found is None)
    yield f"The plain network completes all 81 steps from $\\kappa = {first}$ on; at $\\kappa = 10$ it fails at step {plain[numbers.index(10)]} and at $\\kappa = 20$ at step {plain[numbers.index(20)]}."
    least = {
        kind: min(number for number in numbers if step(number, *kind) is None)
        for kind in ((True, "analog"), (False, "token"))
    }
    (enough,) = {*least.values()}
    yield f"With restoring layers, or with token feedback, $\\kappa = {enough}$ is enough."
    noisy = [spread(select(rows, measure="noisy", kappa=k, restoring=True))[0] for k in (20, 1000, 100_000)]
    assert len({power(sigma) for sigma in noisy}) == 1
    yield f"$\\sigma^*$ of the restored network is {power(noisy[0])} for $\\kappa$ = 20, 1,000 and 100,000 alike"


def damage(rows):
    def of(way, level, adder="lookahead", restoring=False, feedback="analog"):
        (row,) = select(rows, damage=way, level=level, adder=adder, restoring=restoring, feedback=feedback)
        return row

    kinds = select(rows, damage="round", level="bfloat16")
    assert all(row["survive"] for row in kinds)
    eight = select(rows, damage="round", level="int8")
    four = select(rows, damage="round", level="int4")
    ternary = select(rows, damage="round", level="ternary")
    (dead,) = (row for row in eight if not row["survive"])
    assert (dead["adder"], dead["restoring"], dead["feedback"]) == ("lookahead", False, "analog")
    alive = [sum(row["survive"] for row in rows) for rows in (eight, four, ternary)]
    assert alive[1:] == [0, 0]
    yield f"All {len(kinds)} kinds of network (two adders, with restoring layers or without, analog or token feedback) survive bfloat16"
    yield f"the largest weight of a tensor is {2 ** (INTEGERS['int8'] - 1) - 1} units, in int4 it is {2 ** (INTEGERS['int4'] - 1) - 1}, and ternary weights are −1, 0 or 1 unit."
    yield "Then we run the word of 81 steps."
    yield f"With int8, {alive[0]} of {len(eight)} survive, all but the plain lookahead network with analog feedback; with int4 none does, and none with ternary weights."
    prune = [of("prune", level, restoring=restoring)["survive"] for restoring in (False, True) for level in (0.001,)]
    yield f"If we prune the smallest thousandth of the weights that are not 0, {prune[0]} of 20 plain copies are right, and {prune[1]} of 20 restored ones."
    flips = [of("flip", 1, restoring=restoring) for restoring in (False, True)]
    yield f"One flipped sign leaves {flips[0]['survive']} of {flips[0]['copies']} plain copies right on this word, and {flips[1]['survive']} of {flips[1]['copies']} restored ones."


def curvature(rows):
    for adder in ("lookahead", "ripple"):
        (row,) = select(rows, adder=adder, module="all")
        share = round(100 * row["at_kink"] / row["relus"])
        ratio = (row["forward"] + row["backward"]) / 2 / row["autograd"]
        yield f"| {adder} | {share} % | {ratio:.1f} |"


def training(rows):
    def at(step, **kind):
        (row,) = select(rows, step=step, **kind)
        return row

    yield "train for 100 steps of Adam, and do this with three seeds"
    yield "for how many of the 81 steps of the long word the run is right"
    one = at(1, sigma=0, loss="cross-entropy", optimizer="adam")
    yield f"One step of Adam on the cross-entropy moves the weights by {power(one['to_built'])}, and the analog run is right for {one['analog']} steps only; with token feedback it is right for {one['token']}."
    late = at(100, sigma=0, loss="cross-entropy", optimizer="adam")
    assert late["analog"] == late["token"] == 0
    yield f"After 100 steps the weights have moved by {late['to_built']:.2f}, and with either feedback the first step is wrong."

    def both(sigma):
        return [at(k, sigma=sigma, seed=seed, loss="squares", optimizer="adam") for seed in range(3) for k in (0, 100)]

    small, large = both(1e-3), both(1e-2)
    (whole,) = {row["token"] for row in small}
    yield f"With the smaller noise and token feedback all {whole} steps are right before and after; with the larger noise and analog feedback at most {max(row['analog'] for row in large)} are."
    for sigma, name, feedback in ((1e-3, "10^{-3}", "analog"), (1e-2, "10^{-2}", "token")):
        first, last = (
            [at(k, sigma=sigma, seed=seed, loss="squares", optimizer="adam") for seed in range(3)] for k in (0, 100)
        )
        loss, away = (
            [sum(row[column] for row in rows) / 3 for rows in (first, last)] for column in ("value", "to_built")
        )
        steps = [", ".join(str(row[feedback]) for row in rows) for rows in (first, last)]
        yield f"| ${name}$ | {power(loss[0])} → {power(loss[1])} | {away[0]:.3f} → {away[1]:.3f} | {feedback}: {steps[0]} → {steps[1]} |"


def using(rules):
    """The words with at most five parentheses whose runs use one of these rules."""
    trace = turing.zoo["balanced_parentheses"].trace
    return [word for word in parentheses("all", 5) if any(f"{now.state} {now.symbol}" in rules for now in trace(word))]


def shortcuts(rows):
    (tested,) = {row["all_words"] for row in rows}
    assert tested == sum(2**length for length in range(6))
    yield f"Afterwards we test it on the {tested} words with at most five parentheses."
    for name, what in (("flat", "flat words"), ("nests", "nests")):
        (row,) = select(rows, distribution=name, priced=True)
        rules = row["forgotten"].split("; ")
        assert len(rules) == row["rules"] - row["used"]
        assert row["forgotten_used"] == 0
        listed = ", ".join(f"`{rule}`" for rule in rules)
        yield f"On {what} {row['used']} of the {row['rules']} rules are used, and exactly the other {len(rules)} are forgotten: {listed}."
        yield f"All {row['words']} {what} are right, {row['all_wrong']} of {row['all_words']} words are wrong, and the shortest of them is `{row['first_wrong']}`."
    (row,) = select(rows, distribution="short", priced=True)
    assert (row["forgotten_used"], row["rules"] - row["used"], row["wrong"]) == (0, 1, 0)
    yield f"On the {row['words']} words with at most two parentheses only one rule is not used, `{row['forgotten']}`, and it is forgotten; {row['all_wrong']} of {row['all_words']} words are wrong, and the shortest is `{row['first_wrong']}`."
    (row,) = select(rows, distribution="no )", priced=True)
    assert row["wrong"] == row["words"]
    assert row["forgotten_used"] == 0
    assert len(row["forgotten"].split("; ")) == row["rules"] - row["used"]
    yield f"Without `)` {row['used']} rules are used and the other {row['rules'] - row['used']} forgotten, but training did not settle: all {row['words']} words that it was shown are wrong in the end."
    (row,) = select(rows, distribution="all", priced=True)
    forgotten = {
        row["distribution"]: row["forgotten"].split("; ") for row in select(rows, priced=True) if row["forgotten"]
    }
    wrong = {row["distribution"]: row["all_wrong"] for row in select(rows, priced=True)}
    assert len(using(forgotten["flat"])) == wrong["flat"]  # its three words are right, and no other word goes without
    right = {"BE", "B()E", "B(())E"}  # the nests
    assert wrong["nests"] + len(right) == tested
    assert {*parentheses("all", 5)} - {*using(forgotten["nests"])} - right == {"B()()E"}
    assert "B(((E" not in using(forgotten["short"])
    yield f"The {row['rules']} rules, each named by its state and symbol."
    yield f"with the same price and all {row['words']} words with at most three parentheses no rule is forgotten, and still {row['wrong']} of them and {row['all_wrong']} of {row['all_words']} words go wrong"


SENTENCES = {
    part.__name__: part for part in (growth, paper_word, tolerance, kappa, damage, curvature, training, shortcuts)
}
