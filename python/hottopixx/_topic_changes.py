"""What became of topics when documents were added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._types import Floats


@dataclass(frozen=True)
class TopicChanges:
    """What became of the topics of an earlier model, by the names of their anchors."""

    #: Topics of the same name as before.
    stayed: list[str]
    #: Topics of another name: the name before, the name now, and how much both have in common:
    #: the sum over words of `sqrt(p(word | topic before) p(word | topic now))`, at most 1.
    moved: list[tuple[str, str, float]]
    #: Other topics that are there now.
    came: list[str]
    #: Other topics that were there.
    went: list[str]

    def __str__(self) -> str:
        """A sentence."""
        parts = [f"{len(self.stayed)} stayed"]
        moved = [f"{before} to {now}" for before, now, _ in self.moved]
        for what, named in (("moved", moved), ("came", self.came), ("went", self.went)):
            if named:
                parts.append(f"{len(named)} {what} ({', '.join(named)})")
        return f"Topics since the documents before: {', '.join(parts)}."


@dataclass(frozen=True)
class Topics:
    """Names of topics, and p(word | topic) by words."""

    names: list[str]
    words: list[str]
    given_topic: Floats

    @classmethod
    def of(cls, model: Any) -> Topics:
        """Those of a model."""
        words = [str(model.words_[j]) for j in model._kept]
        names = [str(name) for name in model.anchors_]
        return cls(names, words, np.array(model.components_[:, model._kept]))


def topic_changes(before: Topics, now: Topics) -> TopicChanges:
    """What became of the topics.

    One of another name is the same topic where each of the two has more in common with the other
    than with any other topic of either model.
    """
    common = _common(before, now)
    apart = [_nearest_other(topics) for topics in (before, now)]
    stayed = [name for name in now.names if name in before.names]
    moved = []
    for k, name in enumerate(before.names):
        best = int(common[k].argmax())
        share, other = float(common[k, best]), now.names[best]
        same = int(common[:, best].argmax()) == k and share > max(apart[0][k], apart[1][best])
        if same and name not in stayed and other not in stayed:
            moved.append((name, other, share))
    gone, new = [old for old, _, _ in moved], [name for _, name, _ in moved]
    return TopicChanges(
        stayed=stayed,
        moved=moved,
        came=[name for name in now.names if name not in (*stayed, *new)],
        went=[name for name in before.names if name not in (*stayed, *gone)],
    )


def _nearest_other(topics: Topics) -> Floats:
    """For each topic, what it has in common with the one that is most like it."""
    common = _common(topics, topics)
    np.fill_diagonal(common, 0.0)
    return np.asarray(common.max(axis=1, initial=0.0), dtype=float)


def _common(before: Topics, now: Topics) -> Floats:
    """What topics have in common (the Bhattacharyya coefficient): topics before x topics now."""
    place = {word: column for column, word in enumerate(now.words)}
    both = [(j, place[word]) for j, word in enumerate(before.words) if word in place]
    if not both:
        return np.zeros((len(before.names), len(now.names)))
    old, new = (list(columns) for columns in zip(*both, strict=True))
    common = np.sqrt(before.given_topic[:, old]) @ np.sqrt(now.given_topic[:, new]).T
    return np.asarray(common, dtype=float)
