"""The reference of the Python package, from its docstrings (numpy style) and signatures."""

from __future__ import annotations

import inspect
import re
from types import FunctionType
from typing import Any

import hottopixx
import hottopixx.ray

#: What stands under which heading; a name of the package that is in none of them is an error.
GROUPS = {
    "Estimators": ["HottTopics", "Hottopixx", "HottSamples"],
    "Functions": [
        *[
            "factor",
            "evaluate",
            "held_out",
            "certify",
            "compare",
            "spa",
            "snpa",
            "xray",
            "l1_fit",
            "squish",
        ],
        *["cooccurrence", "generate", "read", "load"],
    ],
    "Results": [
        *[
            "Factorization",
            "Applied",
            "AppliedColumns",
            "Certificate",
            "Certified",
            "Changes",
            "Comparison",
            "Errors",
            "Instance",
        ],
        *["HeldOut", "L1Fit", "NamedMatrix", "RankPath", "RankPoint", "Theorem", "TopicChanges"],
    ],
    "Errors and warnings": ["InfeasibleError", "NoAnswerError", "AdviceWarning"],
}
OMITTED = ["__version__"]
#: What scikit-learn gives every estimator.
INHERITED = ["get_params", "set_params", "get_metadata_routing", "set_output"]

HEADING = re.compile(r"(?m)^([A-Z][A-Za-z ]+)\n-{3,}\n")


def page() -> str:
    """The page, in Markdown."""
    listed = [name for names in GROUPS.values() for name in names]
    missing = sorted(set(hottopixx.__all__) - set(listed) - set(OMITTED))
    if missing:
        raise ValueError(f"add {missing} to GROUPS of site/python_reference.py")
    out = [
        "# Python\n",
        "Made from the docstrings of the package, which `help(hottopixx.factor)` shows as well.",
        "Estimators are those of scikit-learn in every respect: `set_output`, `clone`, pipelines",
        "and grid searches work as usual.\n",
    ]
    for group, names in GROUPS.items():
        out.append(f"## {group}\n")
        for name in names:
            out += described(name, getattr(hottopixx, name))
    out.append("## On a cluster\n")
    out.append("How to start one, and what holds: [On many machines](../scale-out.md).\n")
    for name in sorted(hottopixx.ray.__all__):
        out += described(f"ray.{name}", getattr(hottopixx.ray, name))
    return "\n".join(out)


def described(name: str, thing: Any) -> list[str]:
    """A class with its methods, or a function."""
    anchor = name.lower().replace(".", "-")
    out = [f"### {name} {{ #{anchor} }}\n"]
    if not callable(thing):
        return [*out, body(inspect.getdoc(thing) or "")]
    out.append(f"```python\n{signature(f'hottopixx.{name}', thing)}\n```\n")
    out.append(body(inspect.getdoc(thing) or ""))
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        for method, member in methods(thing):
            out.append(f"#### {name}.{method} {{ #{anchor}-{method.strip('_')} }}\n")
            if isinstance(member, property):
                out.append(body(inspect.getdoc(member) or ""))
                continue
            out.append(f"```python\n{signature(method, member)}\n```\n")
            out.append(body(inspect.getdoc(member) or ""))
    return out


def methods(thing: type) -> list[tuple[str, Any]]:
    """Public methods and properties that have something to say, in the order of the source."""
    found: dict[str, Any] = {}
    for owner in thing.__mro__:
        if not owner.__module__.startswith("hottopixx"):
            continue
        for name, member in vars(owner).items():
            plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            is_ours = isinstance(plain, FunctionType | property) and not name.startswith("_")
            if is_ours and name not in INHERITED and inspect.getdoc(plain):
                found.setdefault(name, plain)
    return sorted(found.items())


def signature(name: str, thing: Any) -> str:
    """`name(a, b=1)`, one parameter per line where it is long; without types, which follow."""
    try:
        given = inspect.signature(thing)
    except ValueError:
        return name
    words, starred = [], False
    for parameter in given.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        plain = parameter.replace(annotation=parameter.empty)
        words.append(str(plain))
    line = f"{name}({', '.join(words)})"
    if len(line) <= 88:
        return line
    return f"{name}(\n    " + ",\n    ".join(words) + ",\n)"


def body(text: str) -> str:
    """A docstring in Markdown: parameters and the like as lists of definitions."""
    pieces = HEADING.split(text)
    out = [prose(pieces[0])]
    for title, content in zip(pieces[1::2], pieces[2::2], strict=True):
        if title in ("Examples", "Example"):
            out.append(f"**{title}**\n\n```pycon\n{content.strip()}\n```\n")
        elif title in ("Notes", "References", "See Also"):
            out.append(f"**{title}**\n\n{prose(content)}")
        else:
            out.append(f"**{title}**\n\n{definitions(content)}")
    return "\n".join(out)


def prose(text: str) -> str:
    """Paragraphs, with reStructuredText's double backticks as Markdown's."""
    return text.strip().replace("``", "`") + "\n"


def definitions(content: str) -> str:
    """`name : type` with the lines indented below."""
    out: list[str] = []
    for line in content.strip("\n").splitlines():
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            out.append("")
            kind = kind.replace("`", "").replace("*", "\\*").replace("<", "&lt;")
            out.append(f"`{name.strip('`')}`" + (f" &nbsp; *{kind}*" if kind else ""))
            out.append(":   ")
        elif line.strip():
            text = line.strip().replace("``", "`")
            if out and out[-1].strip() == ":":
                out[-1] += text
            else:
                out.append("    " + text)
    return "\n".join(out).strip("\n").replace(":   \n", ":   &nbsp;\n") + "\n"
