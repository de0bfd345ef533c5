"""What a type checker sees of the library in somebody else's program."""

import os
import re
import subprocess
import sys

from book import ROOT

TYPES = {
    'turing.zoo["bb4"]': "turing.machine.TuringMachine",
    'turing.zoo["bb4"].run()': "turing.machine.Run",
    'turing.zoo["bb4"].run().tape': "Mapping[int, str]",
    'next(turing.zoo["bb4"].trace()).cells': "dict[int, str]",
    'turing.compile(m, "wcm21", T=100)': "turing.construction.Construction",
    'turing.compile(m, "wcm21", T=100).run("B()E", engine="native")': "turing.machine.Run",
    'turing.compile(m, "wcm21", T=100).activations("B()E", 1)': "dict[str, Any]",
    'turing.compile(m, "ss95", base=4, digits=(1, 3))': "turing.construction.Construction",
    'turing.compile(m, "ss95-realtime")': "turing.construction.Construction",
    'turing.compile(m, "ss95").run("B()E")': "turing.machine.Run",
    "turing.compile(m, input())": "turing.construction.Construction",
    "turing.compile(m, input(), T=100).run()": "turing.machine.Run",
    'turing.verify(turing.compile(m, "ss95"), m, ["B()E"])': "turing.verification.Report",
    "turing.show(turing.gates.AND(2))": "turing.views.equations.Equations",
    "turing.gates.XOR()[0].weight": "torch.nn.parameter.Parameter",
    "turing.draw(turing.gates.XOR())": "turing.pictures.base.Picture",
    'turing.space_time(m, "B()E")': "turing.pictures.base.Picture",
    'turing.load("net.json")': "torch.nn.modules.module.Module",
    "next(turing.corpus(1)).machine": "turing.machine.TuringMachine",
    'turing.stack_machine.balanced().run("()")': "turing.stack_machine.StackRun",
    "turing.cantor.Cantor().digits": "tuple[int, int]",
    "turing.engine.run_batch([], [])": "list[turing.machine.Run]",
    "turing.CapacityError()": "turing.wcm.network.CapacityError",
    "turing.__version__": "str",
}
WRONG = {
    "turing.nonsense": "attr-defined",
    'turing.zoo["bb4"].run(7)': "arg-type",
    'turing.zoo["bb4"].run().stat': "attr-defined",
    'turing.TuringMachine({("A", "0"): ("A", "1")}, "A", {"H"}, "0")': "arg-type",
    "turing.verify(turing.gates.AND(2), m, [])": "arg-type",
    "turing.gates.embed(2, [0])": "arg-type",
}


def test_a_type_checker_sees_the_real_types_and_finds_slips(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    lines = [*code.splitlines(), *(f"reveal_type({line})" for line in TYPES), *WRONG]
    (tmp_path / "user.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    # The cache is that of the stage "types", which has read torch already: this takes seconds then, else half a minute.
    command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir"]
    ran = subprocess.run(
        [*command, ROOT / ".mypy_cache", "user.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    said: dict[str, list[str]] = {}
    for number, message in re.findall(r"^user\.py:(\d+): (.*)$", ran.stdout, re.MULTILINE):
        said.setdefault(lines[int(number) - 1], []).append(message)
    revealed = {line: " ".join(said.pop(f"reveal_type({line})", [ran.stderr])) for line in TYPES}
    seen = {line: re.sub(r"\b(typing|builtins|collections\.abc)\.", "", text) for line, text in revealed.items()}
    assert seen == {line: f'note: Revealed type is "{kind}"' for line, kind in TYPES.items()}
    errors = {
        line: re.findall(r"error: .*\[([\w-]+)\]$", "\n".join(said.pop(line, [])), re.MULTILINE) for line in WRONG
    }
    assert errors == {line: [code] for line, code in WRONG.items()}
    assert said == {}  # nothing is wrong with the README's code
