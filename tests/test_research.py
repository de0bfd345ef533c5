"""What the page for research says of hooks, patches, weights and gradients, and what its numbers come from."""

import copy
import json
import re

import pytest
import torch
import yaml
from whole_tape import WholeTape

import turing
from book import ROOT
from turing.construction import constructions
from turing.corpora.circuit import circuit
from turing.corpora.labels import labels_of
from turing.study import Gaussian, Round, cross_entropy, first_failure, forced, lesson, sweep

torch.set_num_threads(1)
BP, WORD = turing.zoo["balanced_parentheses"], "B()E"
NET = turing.compile(BP, "wcm21", T=16, adder="lookahead")
PAGE_NET = turing.compile(BP, "wcm21", T=64, adder="lookahead")
CELLS = json.loads((ROOT / "book/research.ipynb").read_text(encoding="utf-8"))["cells"]
TEXT = "\n".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown")


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
    assert shapes(lambda: NET.next_columns(columns, NET.encode(WORD))) == [(4, w)]
    assert shapes(lambda: NET.patterns(WORD, 3)) == [(1, 1, w)] * 3
    assert shapes(lambda: NET.rollout(WORD, 3)) == [(1, 1, w)] * 3
    assert shapes(lambda: NET.run_with_cache(WORD)) == [(1, 1, w)] * 18


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


def test_column_i_writes_what_step_i_plus_1_writes_and_sym2_holds_it_from_carry_on():
    trace, (_, cache) = list(BP.trace(WORD)), PAGE_NET.run_with_cache(WORD)
    for i, now in enumerate(trace[:-1]):
        place = PAGE_NET.machine.symbols.index(trace[i + 1].cells[now.head])
        for name in ("carry", "move", "visited", "search0", "last"):
            written = cache[name][i, PAGE_NET.layout_of(name).sym2.slice]
            assert written.nonzero().flatten().tolist() == [place], (i, name)
        if i:
            before = cache["column"][i, PAGE_NET.layout.sym2.slice].nonzero().flatten().tolist()
            assert before == [PAGE_NET.machine.symbols.index(trace[i].cells[trace[i - 1].head])]


def test_no_step_of_the_run_looks_for_a_visit_in_column_8_or_later():
    _, cache = PAGE_NET.run_with_cache(WORD)
    assert not cache["initial"][:, list(PAGE_NET.layout.scr3)[3:]].any()


def test_a_run_whose_column_contradicts_the_tape_stops():
    place, calls = NET.layout_of("initial").scr2.slice, []
    other = NET.activations("B((E", 2)["initial"]

    def hook(module, inputs, output):
        calls.append(output)
        if len(calls) == 2:
            output = output.clone()
            output[..., -1, place] = other[place]
            return output
        return None

    with (
        NET.pipeline["initial"].register_forward_hook(hook),
        pytest.raises(ArithmeticError, match=r"At step 2 the network reads '\('"),
    ):
        NET.run(WORD)


def test_the_edges_into_detect_are_those_of_30_detectors_and_12_position_bits():
    assert "72: each of 30 detectors reads a state and a symbol, and 12 position bits are passed on" in TEXT
    layout = PAGE_NET.layout_of("detect")
    assert (len(layout.det), len(layout.pos1) + len(layout.pos2)) == (30, 12)
    into = [edge.target.split("[")[0] for edge in circuit(PAGE_NET) if edge.module == "detect"]
    assert (into.count("det"), into.count("pos1") + into.count("pos2")) == (60, 12)


def test_int8_fails_at_step_6_by_the_weights_of_move_and_by_no_others():
    assert PAGE_NET.pipeline["move"].weight.min() == -2 == -PAGE_NET.pipeline["move"].weight.abs().max()
    own = {name: numbers.detach() for name, numbers in PAGE_NET.named_parameters()}
    rounded, of_move = Round()(own, "int8", 0), "pipeline.move.weight"
    assert abs(rounded[of_move].max().item() - 64 * 2 / 127) < 1e-6
    for only, fails in ((True, 6), (False, None)):
        net = copy.deepcopy(PAGE_NET)
        with torch.no_grad():
            for name, numbers in net.named_parameters():
                if (name == of_move) == only:
                    numbers.copy_(rounded[name])
        (failure,) = first_failure(net, [WORD])
        assert (failure and failure.step) == fails


def test_after_a_step_of_gradient_descent_keys_have_gradients_and_queries_hardly_any():
    net = copy.deepcopy(PAGE_NET)
    given = lesson(net, ["B(((())))E"])
    assert int(given.steps.sum()) == 51
    most = []
    for _ in range(2):
        net.zero_grad()
        sum(cross_entropy(net, forced(net, given), given).values()).backward()
        named = [(name, numbers.grad.abs().max().item()) for name, numbers in net.named_parameters()]
        most.append([max(size for name, size in named if f".{part}." in name) for part in ("query", "key")])
        torch.optim.SGD(net.parameters(), lr=1e-3).step()
    assert most[0] == [0, 0]
    assert most[1][1] > 1e-4 > 100 * most[1][0]


def compiled(name, machine, **options):
    return turing.compile(machine, name, **constructions()[name].options_for({}), **options)


OURS = [name for name in constructions() if name != WholeTape.construction]
EXACT = [name for name in OURS if compiled(name, turing.zoo["bb2"]).arithmetic == "exact"]


def test_the_five_with_fractions_have_hooks_and_gradients_in_float64_and_are_right_there_on_the_word():
    assert (len(EXACT), len(OURS)) == (5, 9)
    assert "Five of the nine compute with fractions by default" in TEXT
    for name in EXACT:
        for given in ("exact", "float64"):
            net, seen = compiled(name, BP, arithmetic=given), []
            with next(iter(net.pipeline.values())).register_forward_hook(lambda *a, seen=seen: seen.append(a[2])):
                net.run(WORD, 2)
            assert seen
            assert all(isinstance(output, torch.Tensor) == (given == "float64") for output in seen)
        assert not turing.verify(net, BP, [WORD]).divergences
        net.rollout(WORD, 2)[-1].sum().backward()
        assert any(numbers.grad is not None and numbers.grad.any() for numbers in net.parameters())


def test_six_of_the_nine_are_proved_for_all_words():
    assert "for six of the nine constructions {doc}`a proof for all words" in TEXT
    proved = [name for name in OURS if turing.prove(compiled(name, BP)).verdict == "proved"]
    assert proved == ["wcm21", "ss95", "ss95-realtime", "li24", "liwang25", "conv"]


def test_the_slices_that_are_0_in_every_column_and_that_the_first_task_does_not_count():
    assert "`pos3` and `scr1` to `scr4` are 0 in every column" in TEXT
    for example in turing.corpus(10, seed=1, T=64, adder="lookahead"):
        layout, (_, cache) = example.network.layout, example.network.run_with_cache(example.word)
        empty = ("pos3", "scr1", "scr2", "scr3", "scr4")
        assert not any(cache["column"][:, list(getattr(layout, name))].any() for name in empty)
        assert cache["column"][:, list(layout.scr5)].any()


def test_which_constructions_the_tools_take_that_the_page_names():
    took = {}
    for name in OURS:
        net = compiled(name, turing.zoo["bb2"], **({"arithmetic": "float64"} if name in EXACT else {}))
        for tool, given in {
            first_failure: (net, [""]),
            sweep: (net, Gaussian(), [0.1], [0], [""]),
            lesson: (net, [""]),
            circuit: (net,),
        }.items():
            try:
                tool(*given)
            except (TypeError, ValueError):
                continue
            took.setdefault(tool, []).append(name)
    assert took[first_failure] == took[sweep] == took[lesson] == ["wcm21", "li24"]
    assert took[circuit] == [name for name in OURS if name != "conv"]


def test_position_and_search_bits_get_no_gradient_and_flipping_any_but_one_changes_the_symbol():
    assert "The 6 bits of the new position and the 6 of the search get no gradient" in TEXT
    asked = [("move", f"pos3[{k}]") for k in range(6)] + [(f"search{k}", f"scr3[{k}]") for k in range(6)]
    columns, kept = torch.cat([vectors["column"] for vectors in PAGE_NET.vectors([WORD], 6)]), {}

    def keep(name):
        return lambda module, inputs, output: kept.update({name: output})

    hooks = [module.register_forward_hook(keep(name)) for name, module in PAGE_NET.pipeline.items()]
    star = PAGE_NET(columns[-1], columns[:-1], PAGE_NET.encode(WORD))[PAGE_NET.layout.sym1["*"]]
    for hook in hooks:
        hook.remove()
    sym1, was, same = PAGE_NET.layout_of("assemble").sym1.slice, PAGE_NET.activations(WORD, 6)["assemble"], []
    for name, place in asked:
        i, calls = PAGE_NET.layout_of(name).names().index(place), []
        assert torch.autograd.grad(star, kept[name], retain_graph=True)[0][-1, i] == 0

        def flip(module, inputs, output, i=i, calls=calls):
            calls.append(1)
            if len(calls) == 6:
                output = output.clone()
                output[..., -1, i] = 1 - output[..., -1, i]
            return output

        with PAGE_NET.pipeline[name].register_forward_hook(flip):
            now = PAGE_NET.activations(WORD, 6)["assemble"]
        if now[sym1].equal(was[sym1]):
            same.append(place)
    assert same == ["scr3[2]"]


def test_a_column_of_the_corpus_has_11_slices_and_each_network_its_own_width_and_order():
    assert "An answer is one of the 11 slices of a column" in TEXT
    places = [e.labels["vectors"]["column"] for e in turing.corpus(10, seed=1, T=64, adder="lookahead", hide=True)]
    assert {len({place.split("[")[0] for place in column}) for column in places} == {11}
    assert len({len(column) for column in places}) > 1
    assert len({tuple(column) for column in places}) == 10


def test_the_rotated_machine_of_the_page_moves_in_every_step_and_rotated_labels_name_no_places():
    (rotated,), (plain,) = (
        turing.corpus(1, seed=1, hide="orthogonal"),
        turing.corpus(1, seed=1, adder="lookahead"),
    )
    assert rotated.machine.delta == plain.machine.delta
    assert all(move for _, _, move in rotated.machine.delta.values())
    assert list(rotated.labels) == ["slices", "rules", "heads"]
    x = rotated.network.run_with_cache(rotated.word)[1]["column"] @ rotated.network.rotations["column"]
    own = plain.network.run_with_cache(plain.word)[1]["column"]
    assert torch.allclose(x, own.double(), atol=1e-9)
    names = plain.network.layout.names()
    bits = [own[:, names.index(f"{slice_}[0]")] for slice_ in ("pos1", "pos2")]
    assert bits[0].equal(bits[1])


def test_labels_tell_of_a_network_what_is_true_of_it():
    told = labels_of(PAGE_NET)["slices"]
    assert all(told.values())
    assert told["scr4"] == "flags: visited; the other two stay 0"
    _, cache = PAGE_NET.run_with_cache("B(((())))E")
    assert not cache["initial"][:, list(PAGE_NET.layout.scr4)[1:]].any()
    ripple = labels_of(turing.compile(BP, "wcm21", T=16))["slices"]
    assert "carry" in ripple["scr4"]
    assert all(ripple.values())
    gates = labels_of(turing.compile(turing.zoo["bb2"], "li24", T=4))
    assert gates["heads"]["first"]["over"] == "word and columns"
    assert gates["slices"]["pos2"] == ""  # not the tape head's position


def test_the_bibtex_entries_are_those_of_the_citation_file_and_of_the_bibliography():
    (entries,) = re.findall(r"```bibtex\n(.*?)```", TEXT, re.DOTALL)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    own, paper = entries.split("\n\n")
    for said in (citation["title"], citation["authors"][0]["name"], citation["repository-code"]):
        assert said in own
    bibliography = (ROOT / "book/references.bib").read_text(encoding="utf-8")
    lines = paper.strip().splitlines()[1:-1]
    assert len(lines) == 6
    assert all(line.strip().rstrip(",") in bibliography for line in lines)
