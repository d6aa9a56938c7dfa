"""The one exception that a user can cause."""


class FootlockError(Exception):
    """Something that the user can mend. Its text is one sentence that says what is wrong and what to do."""
