"""What notebooks show: tables, and a card for each chosen row or topic."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_GRID = "display:flex;flex-wrap:wrap;gap:10px;margin:8px 0"
_CARD = (
    "border:1px solid rgba(128,128,128,.45);border-radius:6px;padding:8px 12px;"
    "width:230px;box-sizing:border-box;overflow-wrap:anywhere;text-align:left"
)
_SMALL = "font-size:85%;opacity:.75"
_BAR = "background:rgba(0,114,178,.45);height:5px;border-radius:2px"


def brief(words: Iterable[str], most: int = 12) -> str:
    """The first words, and how many more there are."""
    words = list(words)
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def html_table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table for notebooks."""

    def line(cells: Iterable[Any], tag: str) -> str:
        return "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells)

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{line(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def card(title: str, about: str, members: Sequence[tuple[str, float]], below: str = "") -> str:
    """A title, a line about it, members over bars in proportion to the first, and a last line."""
    top = max((value for _, value in members), default=0.0)
    bars = "".join(
        f'<div style="display:flex;justify-content:space-between">'
        f"<span>{html.escape(name)}</span>"
        f'<span style="{_SMALL}">{value:.3g}</span></div>'
        f'<div style="{_BAR};width:{100 * value / top if top > 0 else 0:.0f}%"></div>'
        for name, value in members
    )
    last = f'<div style="{_SMALL}">{html.escape(below)}</div>' if below else ""
    return (
        f'<div style="{_CARD}"><b>{html.escape(title)}</b> '
        f'<span style="{_SMALL}">{html.escape(about)}</span>{bars}{last}</div>'
    )


def deck(cards: Iterable[str]) -> str:
    """Cards side by side."""
    return f'<div style="{_GRID}">{"".join(cards)}</div>'
