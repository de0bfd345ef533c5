"""What a file says, value by value: each is checked where it is read, and the message names the place.

Chapter: :doc:`/book/wcm21`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

__all__ = ["Field", "Stored"]

FLOATS = ("float32", "float64", "bfloat16", "float16")
TYPES = {name: getattr(torch, name) for name in FLOATS} | {"exact": torch.int64}  # of tensors, by arithmetic
MAX_SIZE = 2**31  # of an axis
KINDS = {list: "a list", bool: "true or false", dict: "an object", str: "a string"}
DIGITS = re.compile(r"-?[0-9]{1,4000}")


def shown(value: object) -> str:
    """A value as it is in the file, short enough for a message."""
    return short(json.dumps(value, ensure_ascii=False, default=str))


def short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


@dataclass(frozen=True)
class Field:
    """A value of a file, and its place there.

    >>> file = Field({"modules": [{"kind": "linear"}, {"kind": 5}]})
    >>> [module["kind"].of(str) for module in file["modules"]]
    Traceback (most recent call last):
    ValueError: modules[1].kind should be a string, and 5 was found

    Chapter: :doc:`/book/wcm21`.
    """

    value: Any
    place: str = ""

    def should(self, what: str) -> ValueError:
        """The error that says what should be here."""
        return ValueError(f"{short(self.place)} should {what}, and {shown(self.value)} was found")

    def of(self, kind: type) -> Any:
        """The value, which is of a certain kind."""
        if type(self.value) is not kind:
            raise self.should(f"be {KINDS[kind]}")
        return self.value

    def one_of(self, known: Collection[str]) -> str:
        """The value, which is one of some names."""
        if self.value not in tuple(known):
            raise self.should(f"be one of {', '.join(known)}")
        return self.value

    def index(self, size: int) -> int:
        """The value, which is an integer from 0 on and less than that."""
        if type(self.value) is not int or not 0 <= self.value < size:
            raise self.should(f"be an integer from 0 to {size - 1}")
        return self.value

    def integer(self) -> int:
        """The value, which is an integer; where pages could not read it as a number, it is a string of digits."""
        value = self.value
        if type(value) is int or (type(value) is str and DIGITS.fullmatch(value)):
            return int(value)
        raise self.should("be an integer")

    def __getitem__(self, key: str) -> Field:
        found = self.get(key)
        if key not in self.value:
            raise ValueError(f"{short(found.place)} is missing")
        return found

    def get(self, key: str, default: object = None) -> Field:
        """What an object has under a key, or something else where it does not have it."""
        return Field(self.of(dict).get(key, default), f"{self.place}.{key}".lstrip("."))

    def __iter__(self) -> Iterator[Field]:
        return (Field(value, f"{self.place}[{number}]") for number, value in enumerate(self.of(list)))


ONE = Field(1)


class Stored:
    """A tensor of a file, in JSON or safetensors, with its shape known before its numbers are read.

    >>> Stored(Field({"shape": [3], "values": [[1, 5]]})).tensor("float32")
    tensor([0., 5., 0.])

    Chapter: :doc:`/book/wcm21`.
    """

    def __init__(self, found: Field, denominator: Field = ONE):
        self.found = found
        if isinstance(found.value, Tensor):
            self.shape = list(found.value.shape)
        else:
            self.shape = [size.index(MAX_SIZE) for size in found["shape"]]
            denominator = found.get("denominator", 1)
        self.denominator = denominator.integer()
        if self.denominator < 1:
            raise denominator.should("be an integer from 1 up")

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def expect(self, shape: Sequence[int], denominator: int = 1) -> None:
        """Raise unless it has this shape and this denominator."""
        for key, wanted in (("shape", list(shape)), ("denominator", denominator)):
            if (found := getattr(self, key)) != wanted:
                raise Field(found, f"{self.found.place}.{key}").should(f"be {wanted}")

    def tensor(self, arithmetic: str) -> Tensor:
        """Its numbers; in exact arithmetic they are numerators."""
        dtype, found = TYPES[arithmetic], self.found.value
        if not isinstance(found, Tensor):
            return self._read(dtype)
        if found.dtype != dtype or not found.isfinite().all():
            raise self.found.should(f"be finite and of {dtype}")
        return found

    def _read(self, dtype: torch.dtype) -> Tensor:
        values, found = self.found["values"], {}
        for entry in values.of(list):
            fits = type(entry) is list and len(entry) == len(self.shape) + 1
            fits = fits and all(type(i) is int and 0 <= i < size for i, size in zip(entry, self.shape, strict=False))
            if not fits or tuple(entry[:-1]) in found:
                raise Field(entry, values.place).should(
                    f"name each place inside the shape {self.shape} at most once, as [index, …, value]"
                )
            found[tuple(entry[:-1])] = _number(Field(entry[-1], values.place), dtype)
        tensor = torch.zeros(self.shape, dtype=dtype)
        if found:
            numbers = torch.tensor(list(found.values()), dtype=torch.float64 if dtype.is_floating_point else dtype)
            for number in numbers[numbers.to(dtype) != numbers].tolist()[:1]:
                raise Field(number, values.place).should(f"be numbers that {dtype} holds exactly")
            tensor[tuple(torch.tensor(list(found)).T)] = numbers.to(dtype)
        return tensor


def _number(field: Field, dtype: torch.dtype) -> float:
    limits: torch.finfo | torch.iinfo
    if dtype.is_floating_point:
        number, limits = field.value if type(field.value) in (int, float) else math.nan, torch.finfo(dtype)
    else:
        number, limits = field.integer(), torch.iinfo(dtype)
    if not limits.min <= number <= limits.max:
        raise field.should(f"be numbers that {dtype} holds exactly")
    return number
