#!/usr/bin/env python3
"""chat_templates.py RENDER_TEMPLATES: our chat templates are rendered as Jinja renders them.

Renders templates in the style of published ones, and many small ones, over lists of messages that
are made from a seed, with RENDER_TEMPLATES and with the library `jinja2` in the settings that
transformers has. What is rendered must be equal; where Jinja fails, we must refuse; and of what
Jinja renders only what `templates/small.json` names may be refused. Exits 1 where anything differs,
77 where jinja2 is not installed.
"""
import json
import random
import subprocess
import sys
from pathlib import Path

try:
    import jinja2
    import jinja2.ext
    import jinja2.nodes
    import jinja2.sandbox
except ImportError as missing:
    print(f"chat_templates: {missing}: not tested")
    sys.exit(77)

# What stands in refusals of lists and maps that are printed as Python writes them.
AS_PYTHON = "is printed as Python writes it"


class Generation(jinja2.ext.Extension):
    """As transformers has it, less what remembers where it was."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    @staticmethod
    def _body(caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: form
    return made


def text(draw):
    pieces = ["Hello", " ", "\n", "ä", "日本", "<|im_end|>", "'", '"', "\\n", "{{ x }}", "<think>",
              "</think>", "a\u00a0", "\t", "1", "👍", "</s>", "{% if %}", "\u2028"]
    return "".join(draw.choice(pieces) for _ in range(draw.randint(0, 9)))


def message(draw, role):
    made = {"role": role, "content": text(draw)}
    if draw.random() < 0.1:
        made["content"] = [{"type": "text", "text": text(draw)},
                           draw.choice([{"type": "image"}, {"type": "text", "text": text(draw)}])]
    if role == "assistant" and draw.random() < 0.2:
        made["tool_calls"] = [{"type": "function", "function": {
            "name": "f", "arguments": {"a": draw.choice([1, -2.5, None, True, text(draw), [1]])}}}]
        if draw.random() < 0.3:
            del made["content"]
    if role == "assistant" and draw.random() < 0.1:
        made["reasoning_content"] = text(draw)
    if draw.random() < 0.03:
        made["content"] = None
    return made


def variables(draw):
    roles = ["user", "assistant"] * 4
    if draw.random() < 0.3:
        roles = [draw.choice(["user", "assistant", "tool", "system"]) for _ in range(6)]
    if draw.random() < 0.4:
        roles.insert(0, "system")
    made = {"messages": [message(draw, role) for role in roles[:draw.randint(1, 7)]],
            "add_generation_prompt": draw.random() < 0.5, "bos_token": "<s>", "eos_token": "</s>"}
    if draw.random() < 0.2:
        made["tools"] = [{"type": "function", "function": {"name": "f", "parameters": {
            "type": "object", "properties": {"a": {"type": "string"}}}, "return": "x"}}]
    if draw.random() < 0.2:
        made["enable_thinking"] = draw.random() < 0.5
    return made


def theirs(made, source, given):
    try:
        return made.from_string(source).render(**given)
    except (jinja2.exceptions.TemplateError, TypeError, ValueError, OverflowError, KeyError):
        return None


def main():
    draw = random.Random(5)
    folder = Path(__file__).parent / "templates"
    small = json.loads((folder / "small.json").read_text(encoding="utf-8"))
    cases = [(path.name, path.read_bytes().decode(), variables(draw))
             for path in sorted(folder.glob("*.jinja")) for _ in range(400)]
    cases += [(source, source, variables(draw))
              for source in small["rendered"] + small["refused"] for _ in range(3)]
    asked = "".join(json.dumps({"template": source, "variables": given}) + "\n"
                    for _, source, given in cases)
    done = subprocess.run([sys.argv[1]], input=asked, capture_output=True, check=True, text=True,
                          timeout=600)
    made = environment()
    wrong, rendered = 0, 0
    for (name, source, given), line in zip(cases, done.stdout.split("\n")[:-1], strict=True):
        ours, expected = json.loads(line), theirs(made, source, given)
        rendered += "text" in ours
        may_refuse = (expected is None or name in small["refused"]
                      or AS_PYTHON in ours.get("refused", ""))
        if ours.get("text") == expected or ("refused" in ours and may_refuse):
            continue
        wrong += 1
        if wrong <= 20:
            print(f"{name!r}: {str(ours)[:200]} instead of {expected!r:.200} of "
                  f"{json.dumps(given)[:200]}")
    print(f"chat_templates: {len(cases)} cases, {rendered} rendered, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
