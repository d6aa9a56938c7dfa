"""Sentences: what they are made of, and that no sentence in the code is made in a way that cannot be translated."""

import ast
import copy
import pickle
import string
import unittest
from pathlib import Path

from footlock.solvers import report_table, wording
from footlock.solvers.errors import FootlockError
from footlock.solvers.wording import Listed, Said, clause, counted, retold, together

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("operators", "rig", "ui", "solvers", "batching")
# What is made of a template, by the name of the function, and which of its arguments are templates or clauses.
TEMPLATES = {
    "FootlockError": (0,), "Said": (0,), "counted": (1, 2), "error": (1, 2), "fail": (0, 1), "wrong": (0,),
    "clause": (0,), "_broken": (0,),
}  # fmt: skip
# What shows a text: the argument, by its place or name.
SHOWN = {
    "report": 1, "poll_message_set": 0, "status_text_set": 0, "label": "text", "operator": "text", "menu": "text",
    "prop": "text", "popover": "text", "operator_menu_enum": "text", "prop_search": "text", "draw_hint": 1,
}  # fmt: skip
TRANSLATED = ("iface_", "tip_", "rpt_", "translated", "on_screen")


class Faults(ast.NodeVisitor):
    """Looks through a module for sentences that no translation could reach. ``found``: what is wrong, with its line;
    ``made``: how many sentences were looked at, by what makes them."""

    def __init__(self, tree):
        self.found, self.made = [], {}
        self._module, self._function = tree, tree
        self.visit(tree)

    def visit_FunctionDef(self, node):
        outer, self._function = self._function, node
        if node.name in ("run", "work", "sentence"):
            for one in ast.walk(node):
                if isinstance(one, ast.Return) and self._is_plain(one.value):
                    self._say(one, "returns a text and no Said")
        self.generic_visit(node)
        self._function = outer

    def visit_Call(self, node):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in TEMPLATES and not (name == "error" and self._text(node.func) == "p.error"):
            self._made(name, node)
        if name in SHOWN:
            self._shown(node, SHOWN[name])
        self.generic_visit(node)

    def _made(self, name, node):
        self.made[name] = self.made.get(name, 0) + 1
        for place in TEMPLATES[name]:
            for one in self._values(node.args[place]) if place < len(node.args) else ():
                if isinstance(one, (ast.JoinedStr, ast.BinOp)) or self._is_format(one):
                    self._say(node, f"{name} is given a text that was put together")
                elif isinstance(one, ast.Constant) and name in ("FootlockError", "Said", "counted"):
                    self._fields(name, node, one.value)

    def _fields(self, name, node, template):
        """The fields of a template are the values given with it. Where there are several templates for the same values,
        each may leave some out, but no value is in none."""
        given = {"count"} if name == "counted" else set()
        for keyword in node.keywords:
            given |= {keyword.arg} if keyword.arg else self._keys(keyword.value)
        every = set()
        for place in TEMPLATES[name]:
            for one in self._values(node.args[place]):
                every |= fields(one.value) if isinstance(one, ast.Constant) else set()
        own = fields(template) if given else set()
        if not all(field.isidentifier() for field in own):
            self._say(node, f"a field without a plain name in {template!r}")
        if own - given:
            self._say(node, f"no value for {own - given} of {template!r}")
        if given - every:
            self._say(node, f"{given - every} is in no template, as in {template!r}")
        if name == "counted" and "{count" not in template:
            self._say(node, f"does not say its number: {template!r}")

    def _shown(self, node, place):
        given = [keyword.value for keyword in node.keywords if keyword.arg == place]
        if isinstance(place, int):
            given = node.args[place : place + 1]
        poll = getattr(node.func, "attr", "") == "poll_message_set"
        for one in (value for text in given for value in self._values(text)):
            if isinstance(one, (ast.JoinedStr, ast.BinOp)) or self._is_format(one):
                self._say(node, "shows a text that was put together")
            elif isinstance(one, ast.Call) and one.args and self._called(one) in TRANSLATED:
                if any(isinstance(part, (ast.JoinedStr, ast.BinOp)) for part in self._values(one.args[0])):
                    self._say(node, "translates a text that was put together")
            elif poll and isinstance(one, ast.Constant):
                self._say(node, "Blender does not translate what a poll says")

    def _is_plain(self, value):
        return any(
            isinstance(one, (ast.JoinedStr, ast.BinOp))
            or self._is_format(one)
            or (isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value)
            for one in (self._values(value) if value is not None else ())
        )

    def _is_format(self, node):
        """True for a .format of something that is not translated."""
        if not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("format", "join")):
            return False
        owner = node.func.value
        return not all(self._called(one) in TRANSLATED for one in self._values(owner))

    def _values(self, node):
        """What an expression may be: names stand for all that is assigned to them in the function or module."""
        if isinstance(node, ast.IfExp):
            return self._values(node.body) + self._values(node.orelse)
        if isinstance(node, ast.BoolOp):
            return [one for value in node.values for one in self._values(value)]
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            held = [one for one in self._assigned(node.value.id) if isinstance(one, ast.Dict)]
            return [one for table in held for value in table.values for one in self._values(value)] or [node]
        if isinstance(node, ast.Name):
            found = self._assigned(node.id)
            return [one for value in found for one in self._values(value)] if found else [node]
        return [node]

    def _assigned(self, name):
        for scope in (self._function, self._module):
            found = []
            for one in ast.walk(scope):
                for target in one.targets if isinstance(one, ast.Assign) else ():
                    if isinstance(target, ast.Name) and target.id == name:
                        found.append(one.value)
                    elif isinstance(target, ast.Tuple) and isinstance(one.value, ast.Tuple):
                        pairs = zip(target.elts, one.value.elts, strict=False)
                        found += [value for part, value in pairs if getattr(part, "id", "") == name]
            found = [value for value in found if name not in {getattr(n, "id", "") for n in ast.walk(value)}]
            if found:
                return found
        return []

    def _keys(self, node):
        return {key.value for one in self._values(node) if isinstance(one, ast.Dict) for key in one.keys}

    def _called(self, node):
        return getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""

    def _text(self, node):
        return ast.unparse(node)

    def _say(self, node, what):
        self.found.append(f"line {node.lineno}: {what}")


def fields(template):
    """The names of a template's fields."""
    return {field for _, field, _, _ in string.Formatter().parse(template) if field is not None}


class Code(unittest.TestCase):
    def test_every_sentence_can_be_translated(self):
        made = {}
        for folder in FOLDERS:
            for path in sorted((ROOT / folder).glob("*.py")):
                faults = Faults(ast.parse(path.read_text(encoding="utf-8")))
                for name, count in faults.made.items():
                    made[name] = made.get(name, 0) + count
                with self.subTest(f"{folder}/{path.name}"):
                    self.assertEqual(faults.found, [])
        self.assertGreater(made["FootlockError"], 130)
        self.assertGreater(made["Said"], 100)
        self.assertGreater(made["counted"], 15)

    def test_faults_are_found(self):
        for text, said in (
            ('raise FootlockError(f"“{name}” is gone")', "put together"),
            ('raise FootlockError("gone: " + name)', "put together"),
            ('raise FootlockError("gone: {}".format(name))', "put together"),
            ('what = f"“{name}” is gone"\nraise FootlockError(what)', "put together"),
            ('raise FootlockError("“{name}” is gone" if name else f"{what} is gone", name=name)', "put together"),
            ('raise FootlockError("“{name}” is gone", bone=name)', "no value for {'name'}"),
            ('raise FootlockError("“{name}” is gone", name=name, bone=bone)', "{'bone'} is in no template"),
            ('raise FootlockError("“{}” is gone", name=name)', "without a plain name"),
            ('raise FootlockError("“{bone.name}” is gone", bone=bone)', "without a plain name"),
            ('Said(f"{count} feet")', "put together"),
            ('Said("{count} feet", feet=2)', "no value"),
            ('counted(n, "{count} foot", f"{n} feet")', "put together"),
            ('counted(n, "one foot", "{count} feet")', "does not say its number"),
            ('whole_file.error(path, f"is of {version}")', "put together"),
            ('raise fail("is " + what)', "put together"),
            ('self.report({"INFO"}, f"{count} feet")', "shows a text"),
            ('self.report({"INFO"}, "{} feet".format(count))', "shows a text"),
            ('layout.label(text=f"{count} feet")', "shows a text"),
            ('layout.label(text=name + " is gone")', "shows a text"),
            ('text = "%s is gone" % name\nlayout.operator("a.b", text=text)', "shows a text"),
            ('layout.label(text=iface_(f"{count} feet"))', "translates a text"),
            ('layout.label(text="{} feet".format(count))', "shows a text"),
            ('cls.poll_message_set("Leave Edit Mode")', "does not translate"),
            ('def run(self):\n    return f"{self.name} is gone"', "no Said"),
            ('def run(self):\n    return "Gone."', "no Said"),
            ('def work(self):\n    said = "Gone."\n    yield\n    return said', "no Said"),
        ):
            with self.subTest(text):
                found = Faults(ast.parse(text)).found
                self.assertTrue(any(said in one for one in found), found)

    def test_good_ones_are_not(self):
        for text in (
            'raise FootlockError("“{name}” is gone", name=bone.name)',
            'raise FootlockError("“{name}” is gone" if name else "It is gone", name=name)',
            'raise FootlockError(counted(n, "{count} foot", "{count} feet"))',
            'named = {"a": 1}\nSaid("{a} {b:.2f}", b=2, **named)',
            'layout.label(text=iface_("{:d} feet").format(count))',
            'cls.poll_message_set(tip_("Leave Edit Mode"))',
            'layout.label(text="Which are the legs?")',
            'def run(self):\n    return Said("Gone.")',
        ):
            with self.subTest(text):
                self.assertEqual(Faults(ast.parse(text)).found, [])


GERMAN = {
    "{leg} {count} contact": "{leg}: {count} Kontakt",
    "{leg} {count} contacts": "{leg}: {count} Kontakte",
    "{contacts}; “{action}” is {state}.": "„{action}“ ist {state}; {contacts}.",
    "Left": "Links",
    "locked": "gesperrt",
    " and ": " und ",
}


def in_german(text):
    return retold(text, lambda template: GERMAN.get(template, template))


class Sentences(unittest.TestCase):
    def sentence(self, action="walk", count=2):
        contacts = counted(count, "{leg} {count} contact", "{leg} {count} contacts", leg=Said("Left"))
        return Said(
            "{contacts}; “{action}” is {state}.",
            contacts=Listed([contacts, "Left"], " and "),
            action=action,
            state=Said("locked"),
        )

    def test_english_and_translated(self):
        said = self.sentence()
        self.assertEqual(said, "Left 2 contacts and Left; “walk” is locked.")
        # Names stay, whatever they are in the other language; words and the order are the translation's.
        self.assertEqual(in_german(said), "„walk“ ist gesperrt; Links: 2 Kontakte und Left.")
        self.assertEqual(in_german(self.sentence("locked")).split(" ist ")[0], "„locked“")
        self.assertEqual(in_german(together(said, "", Said("Left"))), f"{in_german(said)} Links")

    def test_one_and_several(self):
        for count, text in ((0, "0 contacts"), (1, "1 contact"), (2, "2 contacts"), (21, "21 contacts")):
            self.assertEqual(counted(count, "{count} contact", "{count} contacts"), text)
        self.assertEqual(in_german(self.sentence(count=1)).split("; ")[1], "Links: 1 Kontakt und Left.")

    def test_one_line(self):
        said = self.sentence("a\nb\r\n\tc\x0b\x0c\x1c\x85\u2028\u2029d\x00")
        for text in (said, in_german(said), str(FootlockError("“{name}” is gone.", name="a\nb"))):
            self.assertEqual(text.splitlines(), [text])
        self.assertIn("“a b   c      d ”", said)
        self.assertEqual(str(FootlockError("“{file}”", file=Path("a\nb"))), "“a b”")
        self.assertEqual(Listed(["a\nb"]), "a b")

    def test_braces_do_no_harm(self):
        for name in ("{count}", "{", "}", "{0}", "{x.__class__}", "%s"):
            said = self.sentence(name)
            self.assertIn(f"“{name}” is locked", said)
            self.assertIn(f"„{name}“", in_german(said))
        self.assertEqual(Said("{} and {x}"), "{} and {x}")
        self.assertEqual(in_german(Said("{} and {x}")), "{} and {x}")

    def test_a_bad_translation_is_none(self):
        said = Said("{count} feet", count=2)
        for bad in ("{number} feet", "{} feet", "{count", "{count:q} feet", "{count.x} feet"):
            self.assertEqual(retold(said, lambda template, bad=bad: bad), "2 feet")

    def test_plain_texts_stay(self):
        self.assertEqual(in_german("Left"), "Left")
        self.assertIs(clause(said := Said("Left")), said)
        self.assertEqual(in_german(clause("Left")), "Links")

    def test_copies_keep_what_they_are_made_of(self):
        said = together(self.sentence(), Said("Left"))
        for same in (pickle.loads(pickle.dumps(said)), copy.deepcopy(said)):
            self.assertEqual((same, in_german(same)), (said, in_german(said)))

    def test_report_in_one_and_several(self):
        row = lambda **given: type("Row", (), given)()  # noqa: E731
        one = row(leg=0, before=row(away=0.012), missed=1, first=0, last=1)
        report = row(armature="a", action="b", rows=[one], legs=[Said("Left")], corrected=False, frames=[1.0, 2.0])
        self.assertIn("1 contact (Left 1);", report_table.summary(report))
        self.assertIn("; 1 frame out of reach;", report_table.summary(report))
        report.rows.append(row(leg=0, before=row(away=0.01), missed=2, first=0, last=1))
        self.assertIn("2 contacts (Left 2);", report_table.summary(report))
        self.assertIn("; 3 frames out of reach;", report_table.summary(report))
        self.assertIn("(Links 2)", in_german(report_table.summary(report)))


class Errors(unittest.TestCase):
    class Unclear(FootlockError):
        def __init__(self, armature, maps):
            super().__init__("“{armature}” has {count} ways.", armature=armature, count=len(maps))
            self.maps = maps

    def test_template_and_values(self):
        error = FootlockError("“{name}” took {time:.2f} s.", name="a\n{b}", time=1.234)
        self.assertEqual(str(error), "“a {b}” took 1.23 s.")
        self.assertEqual(error.template, "“{name}” took {time:.2f} s.")
        self.assertEqual(error.values, {"name": "a\n{b}", "time": 1.234})
        self.assertEqual(str(FootlockError("{as it stands}")), "{as it stands}")
        self.assertEqual(FootlockError(error.said).template, error.template)

    def test_raised_from_another(self):
        with self.assertRaises(FootlockError) as caught:
            try:
                raise OSError("no")
            except OSError as why:
                raise FootlockError("“{name}” is gone.", name="a") from why
        self.assertIsInstance(caught.exception.__cause__, OSError)

    def test_pickled(self):
        Errors.Unclear.__qualname__ = "Errors.Unclear"
        for error in (FootlockError("“{name}” is {state}.", name="a", state=Said("locked")), self.Unclear("b", [1, 2])):
            same = pickle.loads(pickle.dumps(error))
            self.assertIs(type(same), type(error))
            self.assertEqual((str(same), same.template, same.values), (str(error), error.template, error.values))
            self.assertEqual(getattr(same, "maps", None), getattr(error, "maps", None))

    def test_shown(self):
        self.assertEqual(wording.shown("a\r\nb"), "a  b")
