"""The pictures of the README and the cards: made from the network's own run, the same bytes each time."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import art
import pytest
from hosted import CARD_SIZE, card
from PIL import Image

import book
import turing
from book import ROOT

SVG = "{http://www.w3.org/2000/svg}"
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", list(art.MOVING))
def test_make_art_draws_what_is_committed_byte_for_byte(name, theme):
    drawn = art.MOVING[name](theme).encode()
    assert (art.STATIC / f"{name}-{theme}.svg").read_bytes() == drawn
    assert len(drawn) < 150_000
    root = ET.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    assert root.get("aria-label")
    assert b"var(" not in drawn
    assert not re.search(rb"<script|https?://(?!www\.w3\.org)", drawn)


def test_the_animation_says_what_the_network_found_and_stands_still_for_who_asks():
    root = ET.fromstring(art.moving("light"))
    said = [text.text for text in root.iter(f"{SVG}text")]
    arcs = [" ".join(pair) for pair in pairwise(said) if pair[0].startswith("attention")]
    net = art.network()
    for step in range(1, art.STEPS + 1):
        assert f"step {step} · network = machine" in said
        now, patterns = list(net.trace(art.WORD, step))[-1], net.patterns(art.WORD, step)
        sentence = f"attention: cell {now.head}? step {int(patterns['last'].argmax())} was here last"
        visited = net.activations(art.WORD, step)["visited"][net.layout.scr4["visited"]]
        assert (sentence in arcs) == bool(visited)
    style = next(root.iter(f"{SVG}style")).text
    outside = style.split("@media(prefers-reduced-motion:no-preference)")[0]
    assert "animation" not in outside
    names = set(re.findall(r"@keyframes (\w+)", style))
    assert names == {name for g in root.iter(f"{SVG}g") for name in g.get("class", "").split()} - {"line"}
    seen = [g for g in root.iter(f"{SVG}g") if g.get("class") and g.get("opacity") != "0"]
    texts = [text.text for g in seen for text in g.iter(f"{SVG}text")]
    assert f"step {art.STEPS} · network = machine" in texts
    assert f"step {art.STEPS - 1} · network = machine" not in texts


def test_the_readme_shows_both_pictures_in_light_and_dark_and_tells_the_steps_of_the_zoo():
    for name in art.MOVING:
        assert f'srcset="book/_static/{name}-dark.svg"' in README
        assert f'src="book/_static/{name}-light.svg"' in README
    (sample,) = turing.zoo.entry("bb5").samples
    assert f"after {sample.steps:,} steps" in README
    drawn = re.search(r"from step 0 to step ([\d,]+)\.", art.beaver("light"))[1]
    assert f"first\n{drawn} of them" in README
    assert ".png" not in README


def test_a_card_has_the_size_that_sites_ask_for_and_no_title_leaves_it():
    long = "A title that is longer than any other title of this book, by far, and goes on"
    for page, title in (("book/gates", "Gates"), ("book/why", long)):
        image = card(ROOT, page, title, book.config()["title"])
        assert image.size == CARD_SIZE
        right = image.crop((CARD_SIZE[0] - 40, 0, *CARD_SIZE))
        assert right.getcolors() == [(40 * CARD_SIZE[1], (255, 255, 255))]


def test_the_book_has_its_card():
    with Image.open(art.STATIC / "social.png") as image:
        assert image.size == CARD_SIZE
