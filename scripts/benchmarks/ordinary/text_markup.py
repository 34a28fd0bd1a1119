"""Turns a small markup language into HTML."""

import html
import re

LINE = (
    "# Title {0}\n\nSome *text* with `code` and a [link](http://example.org/{0}).\n\n- one\n- two & three\n\n"
)
EMPHASIS = re.compile(r"\*([^*]+)\*")
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def inline(text):
    text = html.escape(text)
    text = EMPHASIS.sub(r"<em>\1</em>", text)
    text = CODE.sub(r"<code>\1</code>", text)
    return LINK.sub(r'<a href="\2">\1</a>', text)


def blocks(lines):
    inside = False
    for line in lines:
        if line.startswith("- "):
            if not inside:
                yield "<ul>"
                inside = True
            yield f"<li>{inline(line[2:])}</li>"
            continue
        if inside:
            yield "</ul>"
            inside = False
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            yield f"<h{level}>{inline(line[level:].strip())}</h{level}>"
        elif line:
            yield f"<p>{inline(line)}</p>"
    if inside:
        yield "</ul>"


source = "".join(LINE.format(number) for number in range(12000))
page = "\n".join(blocks(source.splitlines()))
print(len(page))
print(page[:200])
