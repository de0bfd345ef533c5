# Two commands matter: `make book` and `make test`. Both set everything up themselves.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help venv book pdf site dist serve test test-all bench study study-quick refresh art slides clean

help:
	@echo "make book      build the book (sets up .venv first)"
	@echo "make pdf       build it, and print all of it to one PDF"
	@echo "make site      everything that is published: the book, its zip and its PDF"
	@echo "make dist      the library as wheel and sdist"
	@echo "make serve     build it and serve it on http://127.0.0.1:8000/"
	@echo "make test      everything that CI runs; test-all adds the exhaustive tests and a rehearsal of Colab"
	@echo "make bench     measure, and fail where a threshold is missed"
	@echo "make study     compute the tables of the last chapter again (resumes); study-quick in small, under a minute"
	@echo "make refresh   execute every notebook in place"
	@echo "make art       redraw logo, cover, social card and the pictures of the README"
	@echo "make slides    take the pictures for slides from the notebooks again"
	@echo "make clean     remove what was built; the environment too"

venv: $(READY)

$(READY): requirements.txt pyproject.toml tools/setup.py
	@echo "Setting up .venv (a few minutes the first time) …"
	$(PYTHON) tools/setup.py venv
	@touch $@

book: $(READY)
	@rm -rf _build  # an incremental build keeps old styles and hides old warnings
	$(BIN)/jupyter-book build . -W --keep-going -n
	@echo "The book is here: file://$(CURDIR)/_build/html/index.html"

pdf: book
	@$(BIN)/python tools/pdf.py

site: pdf
	@$(BIN)/python tools/pack.py _build/html/turing-book.zip
	@cp _build/turing-book.pdf _build/html/turing-book.pdf

dist: $(READY)
	@rm -rf dist
	$(BIN)/python -m build --no-isolation .

serve: book
	$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory _build/html

test: $(READY)
	@$(BIN)/python tools/test.py

test-all: $(READY)
	@$(BIN)/python tools/test.py --all

bench: $(READY)
	@$(BIN)/python -m benchmarks

study: $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/python -m turing.study

study-quick: $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/python -m turing.study --quick

refresh: $(READY)
	@$(BIN)/python tools/refresh.py

art: $(READY)
	@$(BIN)/python tools/art.py

slides: $(READY)
	@$(BIN)/python tools/slides.py

clean:
	rm -rf .venv _build build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
