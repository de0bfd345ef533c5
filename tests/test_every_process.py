"""What holds in other processes: the same bytes with any seed of hashing, and no torch for machines and widgets."""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_processes_with_other_hash_seeds_give_the_same_networks_files_pictures_examples_and_pages():
    """Both at a time, because most of each is the import of torch."""
    path = os.pathsep.join(filter(None, [str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH")]))
    processes = [
        subprocess.Popen(
            [sys.executable, HERE / "fingerprints.py"], stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
        )
        for seed in ("1", "2")
    ]  # fmt: skip
    outputs = [process.communicate()[0] for process in processes]
    one, other = map(json.loads, outputs)
    assert one == other
    assert len(set(one.values())) == len(one) == 7


WITHOUT_TORCH = """
import sys
import turing

def check(what):
    assert {"torch", "matplotlib"}.isdisjoint(sys.modules), f"{what} imported torch or matplotlib"

check("import turing")
turing.zoo["bb4"].run()
from turing.zoo import _load
assert _load.cache_info().currsize == 1, "the zoo read more than the machine that was asked for"
turing.zoo["balanced_parentheses"].run("B()E")
check("a machine of the zoo")
turing.layout.state_vector(turing.zoo["bb4"], 3) + turing.Layout(a=1)
check("a layout")
turing.architecture, turing.show, turing.draw
check("the name of a view")

from turing.cli import main
for argv in (["run", "bb4"], ["run", "bb4", "--trace"], ["zoo"], ["show", "bb4"], ["show", "1RB1LB_1LA1RZ"],
             ["convert", "bb4", "--to", "json"], ["convert", "bb4", "--to", "jflap", "--rename"]):
    assert main(argv) == 0
    check(f"turing {' '.join(argv)}")

import turing.widgets
check("import turing.widgets")
turing.widgets.Lab()._repr_mimebundle_()
turing.widgets.Stepper(turing.zoo["bb4"])._repr_mimebundle_()
check("a widget of a machine")

for name in ("gates", "adders", "dnf"):
    assert f"turing.{name}" not in sys.modules, f"{name} was imported before it was used"
    assert getattr(turing, name) is sys.modules[f"turing.{name}"]
assert turing.gates.AND(2).bias.item() == -1
try:
    turing.nothing
except AttributeError as error:
    assert str(error) == "module 'turing' has no attribute 'nothing'"
"""


def test_machines_layouts_the_command_line_and_widgets_do_without_torch_until_a_network_is_asked_for():
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
