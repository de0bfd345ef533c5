"""What the examples of the library take for granted, as the pages of the reference say: ``import turing``."""

import pytest

import turing


@pytest.fixture(scope="session", autouse=True)
def _examples_follow_import_turing(doctest_namespace):
    doctest_namespace["turing"] = turing
