"""What the page for research says of hooks: the shapes they see, and how long a patch lasts."""

import torch

import turing

torch.set_num_threads(1)
BP, WORD = turing.zoo["balanced_parentheses"], "B()E"
NET = turing.compile(BP, "wcm21", T=16, adder="lookahead")


def shapes(call):
    seen = []
    with NET.pipeline["carry"].register_forward_hook(lambda m, i, output: seen.append(tuple(output.shape))):
        call()
    return seen


def test_a_hook_sees_the_shapes_that_the_page_tells():
    w = NET.layout_of("carry").width
    columns = torch.cat([vectors["column"] for vectors in NET.vectors([WORD], 4)])
    assert shapes(lambda: NET.run(WORD, 3)) == [(1, 1, w)] * 3
    assert shapes(lambda: list(NET.trace(WORD, 3))) == [(1, 1, w)] * 3
    assert shapes(lambda: NET.step(NET.start([WORD]))) == [(1, 1, w)]
    assert shapes(lambda: NET.run_batch([WORD, "B("], 3)) == [(2, 1, w)] * 3
    assert shapes(lambda: list(NET.vectors([WORD, "B("], 3))) == [(2, 1, w)] * 3
    assert shapes(lambda: NET.activations(WORD, 3)) == [(1, 1, w)] * 3
    assert shapes(lambda: NET(columns[-1], columns[:-1], NET.encode(WORD))) == [(4, w)]


def erase_at(call):
    """A hook that takes the written symbol out of the present column, at one call only."""
    calls, place = 0, NET.layout_of("move").sym2.slice

    def hook(module, inputs, output):
        nonlocal calls
        calls += 1
        if calls == call:
            output = output.clone()
            output[..., -1, place] = 0
            return output
        return None

    return NET.pipeline["move"].register_forward_hook(hook)


def test_a_patch_stays_in_memory_and_is_gone_where_columns_are_computed_anew():
    """In step 4 the machine marks cell 1; in step 7 it reads the mark."""
    with erase_at(4):
        kept = list(NET.vectors([WORD], 8))
    tape, history = NET.encode(WORD), NET.initial(WORD).unsqueeze(0)
    with erase_at(4), torch.no_grad():
        for step in range(1, 8):
            column = NET(history[-1], history[:-1], tape) + NET.beta(step)
            history = torch.cat([history, column.unsqueeze(0)])
    sym1 = NET.layout.sym1.slice
    clean = list(BP.trace(WORD))[7].symbol
    assert history[7, sym1][NET.machine.symbols.index(clean)] == 1
    assert kept[7]["column"][0, sym1].sum() == 0
