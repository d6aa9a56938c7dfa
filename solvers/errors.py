"""The one exception that a user can cause."""

from typing import Any

from .wording import Said


class FootlockError(Exception):
    """Something that the user can mend. Its text is one sentence that says what is wrong and what to do, in English;
    ``said``, a Said, is the same with the template and the values that it was given, to be translated when it is
    shown. A Said is taken in place of a template, too."""

    said: Said

    def __init__(self, template: str, /, **values: Any) -> None:
        super().__init__(template)
        self.said = template if isinstance(template, Said) else Said(template, **values)

    @property
    def template(self) -> str:
        """The sentence with fields in place of its values."""
        return self.said.template

    @property
    def values(self) -> dict[str, Any]:
        """What stands in its fields."""
        return self.said.values

    def __str__(self) -> str:
        return str(self.said)

    def __reduce__(self) -> tuple:
        # Subclasses are made of something else than a template.
        return _restored, (type(self), str(self)), self.__dict__


def _restored(kind: type[FootlockError], text: str) -> FootlockError:
    return kind.__new__(kind, text)
