"""Pictures of answers, with matplotlib where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import dense

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._answer import Factorization
    from ._path import RankPath
    from ._topic_views import TopicViews

#: Colours that the colour-blind can tell apart (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
#: With these, more curves than colours can be told apart.
_DASHES = ("-", "--", ":", "-.")
_GREY = "#777777"
#: Pictures side by side.
_ACROSS = 4
#: Labels longer than this are cut.
_LONGEST = 28


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from None
    return pyplot


def _new(ax: Any, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """The axes, or new ones."""
    if ax is not None:
        return ax
    return _pyplot().subplots(figsize=size, layout="constrained")[1]


def _grid(count: int, each: tuple[float, float], across: int = _ACROSS) -> tuple[Any, Any]:
    """A figure with this many axes, and the axes."""
    lines = max(-(-count // across), 1)
    columns = max(-(-count // lines), 1)
    figure, axes = _pyplot().subplots(
        lines,
        columns,
        figsize=(each[0] * columns, each[1] * lines),
        squeeze=False,
        layout="constrained",
    )
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    return figure, np.array(axes.flat[:count], dtype=object)


def _style(k: int) -> dict[str, str]:
    return {
        "color": COLOURS[k % len(COLOURS)],
        "ls": _DASHES[k // len(COLOURS) % len(_DASHES)],
    }


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"


def _plain(text: str) -> str:
    """A name in which no dollar sign begins a formula."""
    return text.replace("$", r"\$")


def draw_bars(titles: Sequence[str], members: Sequence[Sequence[tuple[str, float]]]) -> Any:
    """For each topic its strongest members as bars."""
    longest = max((len(some) for some in members), default=1)
    _, axes = _grid(len(titles), (2.9, 0.7 + 0.24 * max(longest, 2)))
    for k, (axis, title, some) in enumerate(zip(axes, titles, members, strict=True)):
        names = [_plain(_cut(name)) for name, _ in some]
        places = np.arange(len(some))
        axis.barh(places, [value for _, value in some], color=COLOURS[k % len(COLOURS)])
        axis.set_yticks(places, names, fontsize=8)
        axis.invert_yaxis()
        axis.set_title(_plain(_cut(title)), fontsize=10, fontweight="bold", loc="left")
        axis.tick_params(axis="x", labelsize=7)
        axis.locator_params(axis="x", nbins=3)
        axis.spines[["top", "right"]].set_visible(False)
    return axes


def draw_path(path: RankPath, ax: Any = None) -> Any:
    """Errors and bounds against the rank."""
    ax = _new(ax)
    ax.plot(path.ranks, path.inf1, "s--", color=COLOURS[1], ms=4, label="largest error")
    ax.plot(path.ranks, path.mean_l1, "o-", color=COLOURS[0], ms=4, label="mean error")
    if np.isfinite(path.lower_bound).any():
        label = "no choice has a mean error below"
        ax.plot(path.ranks, path.lower_bound, ":", color=COLOURS[2], label=label)
    ax.axvline(path.suggested, color=_GREY, lw=1, label=f"suggested: {path.suggested}")
    ax.set(
        xlabel=f"number of chosen {path.noun}s",
        ylabel=f"l1 error of a {path.noun}",
        ylim=(0, None),
    )
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False, fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


class Plots:
    """Pictures of one answer; each method returns matplotlib axes."""

    def __init__(
        self,
        answer: Factorization,
        shape: tuple[int, int] | None = None,
        spectra: Any = None,
    ) -> None:
        self._answer = answer
        #: Height and width of the picture that the rows of the data are the pixels of.
        self._shape = shape
        #: What stands for the chosen rows, as these are ordered in the data; unless given, they do.
        self._spectra = spectra

    def _titles(self) -> list[str]:
        answer = self._answer
        if answer.names:
            return answer.hott_names
        return [f"{answer.noun} {name}" for name in answer.hott_names]

    def topics(self, n: int = 8) -> Any:
        """The strongest members of all that was chosen, as bars: how much of each it explains.

        Parameters
        ----------
        n : int, default=8
            How many members.

        Returns
        -------
        ndarray of axes
            One for each.
        """
        answer = self._answer
        return draw_bars(
            self._titles(), [answer.member_shares(k, n) for k in range(len(answer.hott))]
        )

    def errors(self, ax: Any = None) -> Any:
        """How many rows have which l1 error.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new ones unless given.

        Returns
        -------
        matplotlib axes
            With a histogram.
        """
        answer, ax = self._answer, _new(ax)
        counted = np.delete(answer.error.per_row, answer.zero_rows)
        ax.hist(counted, bins="auto" if len(counted) < 10_000 else 100, color=COLOURS[0])
        for value, name, colour in (
            (answer.error.mean_l1, "mean", COLOURS[1]),
            (answer.error.inf1, "largest", _GREY),
        ):
            ax.axvline(value, color=colour, ls="--", lw=1.2, label=f"{name} {value:.3g}")
        ax.set(
            xlabel=f"l1 error of a {answer.noun} (0 perfect, 1 nothing explained)",
            ylabel=f"number of {answer.noun}s",
            xlim=(0, None),
        )
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def path(self, ax: Any = None) -> Any:
        """Errors and bounds against the rank; computes the path where it is not known.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new ones unless given.

        Returns
        -------
        matplotlib axes
            With the curves.
        """
        known = self._answer.__dict__.get("_path")
        return draw_path(self._answer.path() if known is None else known, ax)

    def diagonal(self, ax: Any = None) -> Any:
        """The diagonal of the localising matrix: how much speaks for choosing each row.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new ones unless given.

        Returns
        -------
        matplotlib axes
            With a stem for each row, the chosen ones marked and named.
        """
        answer = self._answer
        if answer.diagonal is None:
            raise ValueError(
                f'the method {answer.method} has no diagonal: take "hottopixx", "minimax", '
                '"total", "lp" or "gradient"'
            )
        ax = _new(ax)
        ax.vlines(np.arange(len(answer.diagonal)), 0, answer.diagonal, color=_GREY, lw=1)
        chosen = answer.diagonal[answer.hott]
        ax.plot(answer.hott, chosen, "o", color=COLOURS[1], label="chosen")
        if len(answer.hott) <= 20:
            for row, value, name in zip(answer.hott, chosen, answer.hott_names, strict=True):
                text = _plain(_cut(name))
                ax.annotate(
                    text,
                    (row, value),
                    xytext=(2, 5),
                    textcoords="offset points",
                    fontsize=7,
                    rotation=40,
                    rotation_mode="anchor",
                )
        ax.set(
            xlabel=f"{answer.noun} of the data",
            ylabel="diagonal of the localising matrix",
            ylim=(0, 1.25 * max(1.0, float(answer.diagonal.max(initial=0.0)))),
        )
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def maps(self, shape: tuple[int, int] | None = None) -> Any:
        """Where each chosen row is found: its shares in all rows, as pictures.

        Parameters
        ----------
        shape : (int, int), optional
            Height and width of the picture that the rows of the data are the pixels of; may be left
            out for a model that was fitted to a cube.

        Returns
        -------
        ndarray of axes
            A map for each, its own pixel marked.
        """
        answer, shape = self._answer, self._shape if shape is None else shape
        if shape is None:
            raise ValueError("give shape=(height, width): the data were no cube")
        height, width = (int(side) for side in shape)
        count = answer.F.shape[0]
        if height * width != count:
            raise ValueError(f"shape {(height, width)} does not hold {count} {answer.noun}s")
        shares = dense(answer.shares())
        figure, axes = _grid(len(answer.hott), (2.6, 0.4 + 2.4 * min(height / width, 2.0)))
        for k, axis in enumerate(axes):
            picture = axis.imshow(
                shares[:, k].reshape(height, width), cmap="cividis", vmin=0, vmax=1
            )
            line, column = divmod(int(answer.hott[k]), width)
            axis.plot(column, line, "o", mfc="none", mec=COLOURS[1], ms=9, mew=1.6)
            axis.set_title(_plain(_cut(self._titles()[k])), fontsize=9)
            axis.set(xticks=[], yticks=[])
        figure.colorbar(picture, ax=list(axes), shrink=0.8, label=f"share of the {answer.noun}")
        return axes

    def spectra(self, wavelengths: Any = None, ax: Any = None, unit: str = "wavelength") -> Any:
        """The chosen rows themselves as curves, or what an estimator has in their place.

        Parameters
        ----------
        wavelengths : array-like of shape (examples,), optional
            Where the columns of the data are on the horizontal axis; their numbers unless given.
        ax : matplotlib axes, optional
            Where to draw; new ones unless given.
        unit : str, default="wavelength"
            What the horizontal axis is called where `wavelengths` are given.

        Returns
        -------
        matplotlib axes
            With a curve for each.
        """
        answer, ax = self._answer, _new(ax)
        if self._spectra is None:
            order, W = list(range(len(answer.hott))), dense(answer.W)
        else:
            order, W = np.argsort(answer.hott).tolist(), self._spectra
        where = np.arange(W.shape[1]) if wavelengths is None else np.asarray(wavelengths)
        if where.shape != (W.shape[1],):
            raise ValueError(f"there are {where.size} wavelengths for {W.shape[1]} columns")
        titles = self._titles()
        for k, curve in zip(order, W, strict=True):
            ax.plot(where, curve, lw=1.4, label=_plain(_cut(titles[k])), **_style(k))
        ax.set(
            xlabel="column of the data" if wavelengths is None else unit,
            ylabel="units of the data",
        )
        ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        ax.spines[["top", "right"]].set_visible(False)
        return ax


class TopicPlots:
    """Pictures of a topic model; each method returns matplotlib axes."""

    def __init__(self, model: TopicViews) -> None:
        self._model = model

    def topics(self, n: int = 8, measure: str | None = None) -> Any:
        """The strongest words of each topic, as bars of p(word | topic).

        Parameters
        ----------
        n : int, default=8
            How many words.
        measure : str, optional
            What they are sorted by; see `HottTopics.top_words`. "keyness", as everywhere, unless
            given; a loaded model may only know "probability".

        Returns
        -------
        ndarray of axes
            One for each topic.
        """
        model = self._model
        measure = measure or model._telling()
        words = [model.top_words(k, n, measure) for k in range(len(model.anchors_))]
        return draw_bars([str(name) for name in model.anchors_], words)

    def sizes(self, ax: Any = None) -> Any:
        """The share of each topic in the corpus.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new ones unless given.

        Returns
        -------
        matplotlib axes
            With a bar for each topic.
        """
        model = self._model
        ax = _new(ax, (6.4, 0.9 + 0.27 * len(model.anchors_)))
        places = np.arange(len(model.anchors_))
        ax.barh(places, model.topic_proportions_, color=COLOURS[0])
        ax.set_yticks(places, [_plain(_cut(str(name))) for name in model.anchors_])
        ax.invert_yaxis()
        ax.set(xlabel="share of the corpus")
        ax.spines[["top", "right"]].set_visible(False)
        return ax
