"""Sentences that can be said in the language of the interface: each is the English one and knows what it is made of.

A template is a plain literal with fields by name, as of ``str.format``. It is looked up in the translation when the
sentence is shown (``rig.sentences``) and never before, so that files and the console stay English.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

# What would make several lines of a sentence, or none that can be read.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Said(str):
    """A sentence, or a clause or a word within one: the English text, made of a ``template`` and ``values``. A template
    without values is taken as it stands, braces included. Values are numbers, names that users give, which are never
    translated and stay on one line, or other Said and Listed, which are translated with it."""

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> "Said":
        made = super().__new__(cls, filled(template, values))
        made.template, made.values = template, values
        return made

    def __reduce__(self) -> tuple:
        return _said, (self.template, self.values)


class Listed(str):
    """Several of them, or names, with a ``separator`` between."""

    parts: tuple
    separator: str

    def __new__(cls, parts: Iterable[Any], separator: str = ", ") -> "Listed":
        parts = tuple(parts)
        made = super().__new__(cls, separator.join(_line(part, str) for part in parts))
        made.parts, made.separator = parts, separator
        return made

    def __reduce__(self) -> tuple:
        return Listed, (self.parts, self.separator)


def counted(count: int, one: str, several: str, /, **values: Any) -> Said:
    """A sentence with a number, which its templates call ``count``: one for 1, and one for all others."""
    return Said(one if count == 1 else several, count=count, **values)


def together(*sentences: str) -> Listed:
    """Sentences one after the other, empty ones left out."""
    return Listed(filter(None, sentences), " ")


def contacts_of(leg: str, count: int) -> Said:
    """How many contacts a leg has, by its label."""
    return counted(count, "{leg} {count} contact", "{leg} {count} contacts", leg=leg)


def out_of_reach(count: int) -> Said:
    """In how many frames a leg is too short."""
    return counted(count, "{count} frame out of reach", "{count} frames out of reach")


def clause(text: str) -> Said:
    """A literal as a Said; what is one stays it."""
    return text if isinstance(text, Said) else Said(text)


def shown(name: str) -> str:
    """A name that somebody gave, on one line."""
    return _CONTROL.sub(" ", name)


def filled(template: str, values: Mapping[str, Any], say: Callable[[Any], str] = str) -> str:
    """A template with its values, of which ``say`` makes the text of those that are said themselves."""
    return template.format_map({name: _line(value, say) for name, value in values.items()}) if values else template


def retold(text: str, translate: Callable[[str], str]) -> str:
    """A Said or Listed by a translation of its templates, a function of the English one; other texts as they are. A
    translation with other fields than the template's is none."""
    if isinstance(text, Listed):
        return translate(text.separator).join(_line(part, lambda one: retold(one, translate)) for part in text.parts)
    if not isinstance(text, Said):
        return text
    try:
        return filled(translate(text.template), text.values, lambda one: retold(one, translate))
    except (LookupError, ValueError, AttributeError, TypeError):
        return str(text)


def _line(value: Any, say: Callable[[Any], str]) -> Any:
    if isinstance(value, Said | Listed):
        return say(value)
    return shown(str(value)) if isinstance(value, str | os.PathLike) else value


def _said(template: str, values: Mapping[str, Any]) -> Said:
    return Said(template, **values)
