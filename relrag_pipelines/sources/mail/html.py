"""HTML of a mail as text."""

from selectolax.lexbor import LexborHTMLParser


def to_text(source: str) -> str:
    """The text."""
    tree = LexborHTMLParser(source)
    tree.strip_tags(["script", "style", "head", "title"], recursive=True)
    return tree.root.text(separator="\n", strip=True) if tree.root else ""
