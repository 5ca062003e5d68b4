"""The made-up language has one ending in all cases, and plurals."""


def cases(word: str, gender: str = "") -> tuple[tuple[str, ...], ...]:
    return ((f"{word}nok",),) * 5


def plurals(word: str) -> tuple[str, ...]:
    return (f"{word}zi",)
