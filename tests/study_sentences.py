"""The sentences of the last chapter that hold measured numbers, made from the tables: each stands in the chapter."""

# ruff: noqa: E501  # a sentence stands in one line, as it is searched for

from math import log10

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
        f"With noise on all weights, the median error of a column grows by a factor of {weights[0]:.1f} a step with the "
        f"lookahead adder and of {weights[1]:.1f} with the ripple adder."
    )
    yield (
        f"If only the first column is off, the factor is {column[0]:.2f} and {column[1]:.2f} a step on average over the run"
    )
    yield (
        f"With restoring layers the error of the lookahead network is {power(medians[0])} after the first step and "
        f"{power(medians[-1])} after the last one"
    )


def paper_word(rows):
    def steps(adder, restoring, feedback):
        return [row["step"] for row in select(rows, adder=adder, restoring=restoring, feedback=feedback)]

    plain = steps("lookahead", False, "analog")
    assert None not in plain
    yield f"all 20 copies of the plain lookahead network fail, between step {min(plain)} and step {max(plain)}"
    right = [steps(adder, True, "analog").count(None) for adder in ("lookahead", "ripple")]
    yield f"With restoring layers {right[0]} of 20 copies do all 81 steps, and with the ripple adder {right[1]} of 20 do."
    token = [steps(adder, False, "token").count(None) for adder in ("lookahead", "ripple")]
    yield f"Token feedback alone saves {token[0]} of 20 copies with the lookahead adder, and {token[1]} of 20 with the ripple adder."


def tolerance(rows):
    best, low, high = star(rows, 7, "lookahead", True, "analog")
    yield (
        f"At $L = 7$ the restored lookahead network tolerates $\\sigma^*$ = {power(best)} (quartiles {power(low)} and "
        f"{power(high)})"
    )
    yield f"the restored ripple network {power(star(rows, 7, 'ripple', True, 'analog')[0])}"
    tokens = [power(star(rows, 7, adder, False, "token")[0]) for adder in ("lookahead", "ripple")]
    yield f"token feedback without restoring {tokens[0]} and {tokens[1]}"
    middle, low, high = star(rows, 7, "lookahead", False, "analog")
    yield (
        f"The plain lookahead network tolerates {power(middle)} (quartiles {power(low)} and {power(high)}), over only "
        f"19 steps"
    )
    yield f"between $L = 7$ and $L = 17$ it falls from {power(best)} to {power(star(rows, 17, 'lookahead', True, 'analog')[0])}"
    slopes = [slope(rows, adder=adder, restoring=False, feedback="token") for adder in ("lookahead", "ripple")]
    yield f"a power law fits with the exponent ${slopes[0]:.1f}$ for lookahead and ${slopes[1]:.1f}$ for ripple"


def kappa(rows):
    def step(number, restoring, feedback):
        (row,) = select(rows, measure="exact", kappa=number, restoring=restoring, feedback=feedback)
        return row["step"]

    numbers = sorted({row["kappa"] for row in select(rows, measure="exact")})
    plain = [step(number, False, "analog") for number in numbers]
    first = min(number for number, found in zip(numbers, plain, strict=True) if found is None)
    yield f"The plain network does all 81 steps from $\\kappa = {first}$ on; at $\\kappa = 10$ it fails at step {plain[numbers.index(10)]} and at $\\kappa = 20$ at step {plain[numbers.index(20)]}."
    least = {
        kind: min(number for number in numbers if step(number, *kind) is None)
        for kind in ((True, "analog"), (False, "token"))
    }
    yield f"With restoring layers $\\kappa = {least[True, 'analog']}$ is enough, with token feedback $\\kappa = {least[False, 'token']}$."
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
    yield f"All {len(kinds)} kinds of network survive bfloat16, in which their weights are exact; int8 leaves {sum(r['survive'] for r in eight)} of {len(eight)} alive, int4 {sum(r['survive'] for r in four)}, and ternary weights none."
    prune = [of("prune", level, restoring=restoring)["survive"] for restoring in (False, True) for level in (0.001,)]
    yield f"Pruning the smallest thousandth of the weights that are not 0 leaves {prune[0]} of 20 plain copies right, and {prune[1]} of 20 restored ones."
    flips = [of("flip", 1, restoring=restoring) for restoring in (False, True)]
    yield f"One flipped sign leaves {flips[0]['survive']} of {flips[0]['copies']} plain copies right on this word, and {flips[1]['survive']} of {flips[1]['copies']} restored ones."


def curvature(rows):
    for adder in ("lookahead", "ripple"):
        (row,) = select(rows, adder=adder, module="all")
        share = round(100 * row["at_kink"] / row["relus"])
        ratio = (row["forward"] + row["backward"]) / 2 / row["autograd"]
        yield f"In the {adder} network {share} % of the ReLUs stand exactly at their kink, and what is measured is {ratio:.1f} times what autograd reports."


def training(rows):
    def at(step, **kind):
        (row,) = select(rows, step=step, **kind)
        return row

    one = at(1, sigma=0, loss="cross-entropy", optimizer="adam")
    yield f"One step of Adam on the cross-entropy moves the weights by {power(one['to_built'])}, and the analog run is right for {one['analog']} steps only; with token feedback it is right for {one['token']}."
    late = at(100, sigma=0, loss="cross-entropy", optimizer="adam")
    yield f"After 100 steps it has moved by {late['to_built']:.2f}, and the two are right for {late['analog']} and {late['token']} steps."
    for sigma, name, feedback in ((1e-3, "10^{-3}", "analog"), (1e-2, "10^{-2}", "token")):
        first, last = (
            [at(k, sigma=sigma, seed=seed, loss="squares", optimizer="adam") for seed in range(3)] for k in (0, 100)
        )
        loss, away = (
            [sum(row[column] for row in rows) / 3 for rows in (first, last)] for column in ("value", "to_built")
        )
        steps = [", ".join(str(row[feedback]) for row in rows) for rows in (first, last)]
        yield f"From noise of ${name}$ the loss falls from {power(loss[0])} to {power(loss[1])} on average over three seeds, while the distance to the built weights goes from {away[0]:.3f} to {away[1]:.3f} and the right steps of the {feedback} run from {steps[0]} to {steps[1]}."


def shortcuts(rows):
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
    yield f"On the {row['words']} words with at most two parentheses one rule is not used, `{row['forgotten']}`, and it is forgotten; {row['all_wrong']} of {row['all_words']} words are wrong, the shortest is `{row['first_wrong']}`."
    (row,) = select(rows, distribution="no )", priced=True)
    assert row["forgotten_used"] == 0
    assert len(row["forgotten"].split("; ")) == row["rules"] - row["used"]
    yield f"Without `)` {row['used']} rules are used and the other {row['rules'] - row['used']} forgotten, but training did not settle: {row['wrong']} of its own {row['words']} words are wrong in the end."
    (row,) = select(rows, distribution="all", priced=True)
    yield f"With the same price and all {row['words']} words with at most three parentheses no rule is forgotten, and still {row['wrong']} of them and {row['all_wrong']} of {row['all_words']} words go wrong"


SENTENCES = {
    part.__name__: part for part in (growth, paper_word, tolerance, kappa, damage, curvature, training, shortcuts)
}
