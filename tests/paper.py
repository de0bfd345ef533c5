"""What the paper prints, letter for letter: the tests compare with this and nothing else repeats it."""

from turing.machine import TuringMachine

# The paper's Table 2, row by row.
TABLE_2 = [
    ("I", "B", "R", "B", +1),
    ("R", "(", "R", "(", +1),
    ("R", ")", "M", "*", -1),
    ("R", "*", "R", "*", +1),
    ("R", "E", "V", "E", -1),
    ("M", "B", "F", "*", -1),
    ("M", "(", "R", "*", +1),
    ("M", "*", "M", "*", -1),
    ("V", "(", "F", "*", -1),
    ("V", "*", "V", "*", -1),
    ("V", "B", "T", "B", +1),
]
FIGURE_1 = """\
I  [B]()E
R  B[(])E
R  B([)]E
M  B[(]*E
R  B*[*]E
R  B**[E]
V  B*[*]E
V  B[*]*E
V  [B]**E
T  B[*]*E"""

BALANCED = TuringMachine(TABLE_2, "I", {"T", "F"}, "E")
