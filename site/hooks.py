"""What the site is made of beside `docs/`: generated pages, and formulas.

The reference of the command line is what the program itself prints, that of Python what its
docstrings say: both are made again whenever the site is built, by the package that is installed.
Formulas between `$` and `$$` become MathML, which browsers draw by themselves.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import python_reference  # noqa: E402


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    pages = {
        "reference/command-line.md": command_line(),
        "reference/python.md": python_reference.page(),
        "changelog.md": beside("CHANGELOG.md"),
        "contributing.md": beside("CONTRIBUTING.md"),
        "security.md": beside("SECURITY.md"),
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def command_line() -> str:
    """The manual, as the program prints it."""
    command = [sys.executable, "-m", "hottopixx", "man", "--markdown"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def beside(name: str) -> str:
    """A page of the root of the repository; its links into `docs/` are links of the site."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.sub(r"\]\(docs/", "](", text).replace("](SECURITY.md)", "](security.md)")


#: What would make a browser ask the network for something.
FOREIGN = re.compile(
    r"""<(?:script|img|iframe|source)[^>]+src=["']?(?:https?:)?//|<link[^>]+rel=["']?"""
    r"""(?:stylesheet|preconnect|icon|preload)[^>]+href=["']?(?:https?:)?//|@import\s+url\(["']?http"""
)


#: Links and pictures, also those that are written as HTML, at which strict mode does not look.
LINK = re.compile(r"""(?:href|src)=["']?([^"'#?\s>]+)""")


def on_post_build(config: MkDocsConfig) -> None:
    """Refuses pages that ask the network for anything, and links that lead nowhere."""
    site = Path(config.site_dir).resolve()
    # Put there by scripts/site after this.
    later = (site / "rust", site / "try-program.js")
    for page in site.glob("**/*.html"):
        text = page.read_text(encoding="utf-8")
        if found := FOREIGN.search(text):
            raise PluginError(f"{page}: {found.group()} asks the network")
        for link in set(LINK.findall(text)):
            to = (page.parent / unquote(link)).resolve()
            # A page for addresses that do not exist has links from the root, wherever that is.
            outside = re.match(r"[a-z]+:|//", link) or page.name == "404.html"
            if outside or any(to.is_relative_to(one) for one in later):
                continue
            if not to.is_relative_to(site) or not to.exists():
                raise PluginError(f"{page}: {link} leads nowhere")


#: What the page that takes readers' files may do: use what came with it, and connect to nobody.
POLICY = (
    "default-src 'self' 'unsafe-inline' data: blob:; connect-src 'none'; form-action 'none'; "
    "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src 'self' blob:; "
    "frame-src 'self' blob: data:"
)


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Gives the page that takes files its policy; from a folder, `self` is no origin."""
    if page.file.src_path != "try.md":
        return output
    policy = POLICY.replace("'self'", "'self' file:")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return output.replace("<head>", f"<head>{meta}", 1)


CODE = re.compile(r"(?ms)^(```|~~~).*?^\1|`[^`\n]*`|^ {4,}\S[^\n]*$")
FORMULA = re.compile(r"(?s)\$\$(.+?)\$\$|(?<![\\\w$])\$([^\s$](?:[^$\n]*[^\s$])?)\$(?![\w$])")


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turns formulas into MathML, except in code."""

    def drawn(found: re.Match[str]) -> str:
        block, inline = found.groups()
        formula = convert((block or inline).strip(), display="block" if block else "inline")
        if unknown := re.search(r"\\[a-zA-Z]+", formula):
            raise PluginError(f"{page.file.src_path}: {unknown.group()} is no command of formulas")
        # Markdown takes a line that begins with the element itself for a paragraph of its own.
        return f"\n\n{formula}\n\n" if block else f"<span>{formula}</span>"

    pieces, at = [], 0
    for code in CODE.finditer(markdown):
        pieces += [FORMULA.sub(drawn, markdown[at : code.start()]), code.group()]
        at = code.end()
    pieces.append(FORMULA.sub(drawn, markdown[at:]))
    return "".join(pieces)
