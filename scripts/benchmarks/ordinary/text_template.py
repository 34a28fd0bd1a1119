"""A little template engine with variables, loops and filters."""

import re

TOKEN = re.compile(r"({{.*?}}|{%.*?%})")
TEMPLATE = "<ul>{% for item in items %}<li>{{ item.name|upper }}: {{ item.price }}</li>{% end %}</ul><p>{{ title }}</p>"
FILTERS = {"upper": str.upper, "lower": str.lower}


class Text:
    def __init__(self, text):
        self.text = text

    def render(self, names, out):
        out.append(self.text)


class Value:
    def __init__(self, text):
        path, *self.filters = text.strip().split("|")
        self.path = path.split(".")

    def render(self, names, out):
        value = names
        for part in self.path:
            value = value[part]
        text = str(value)
        for name in self.filters:
            text = FILTERS[name](text)
        out.append(text)


class Loop:
    def __init__(self, name, source, body):
        self.name, self.source, self.body = name, source, body

    def render(self, names, out):
        for item in names[self.source]:
            inner = {**names, self.name: item}
            for node in self.body:
                node.render(inner, out)


def parse(tokens):
    nodes = []
    for token in tokens:
        if token.startswith("{{"):
            nodes.append(Value(token[2:-2]))
        elif token.startswith("{%"):
            words = token[2:-2].split()
            if words[0] == "end":
                return nodes
            nodes.append(Loop(words[1], words[3], parse(tokens)))
        elif token:
            nodes.append(Text(token))
    return nodes


def render(nodes, names):
    out = []
    for node in nodes:
        node.render(names, out)
    return "".join(out)


nodes = parse(iter(TOKEN.split(TEMPLATE)))
total = 0
for number in range(16000):
    items = [{"name": f"thing {k}", "price": k * number} for k in range(20)]
    total += len(render(nodes, {"items": items, "title": f"page {number}"}))
print(total)
print(render(nodes, {"items": [{"name": "a", "price": 1}], "title": "t"}))
