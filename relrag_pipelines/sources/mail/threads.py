"""Threads."""


def thread(ids: list[str], references: list[list[str]], gmail_threads: list[str | None]) -> list[str]:
    """The thread of each mail."""
    return [gmail or (refs[0] if refs else own) for own, refs, gmail in zip(ids, references, gmail_threads)]
