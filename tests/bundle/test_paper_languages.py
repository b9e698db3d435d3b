"""Papers in other languages: every case has its words, every number is the English one.

The annex is read as well as the front. What stays in English is named: the entry of a registry that
is in English, and references.
"""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jinja2 import Environment, nodes

from prism_core.bundle.account import account_of
from prism_core.bundle.certificate import _NOISE, REHEARSAL, STAMPS
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.bundle.report.report_extras import _TITLES, Extras, metric_title
from prism_core.bundle.report.report_html import report
from prism_core.cli import main
from prism_core.data.schema.codebook_source import CodebookSource
from prism_core.data.schema.looks import ACT_TEXT, Look
from prism_core.data.schema.schema import PROVENANCE_TEXT, PROVENANCES
from prism_core.errors import ConfigError
from prism_core.evaluation.inside_epsilon.private_numbers import INSIDE_EPSILON, PRIVATE
from prism_core.evaluation.results import OUTSIDE_EPSILON
from prism_core.explain.features_statement import features_statement
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.curator_statement import LABELS
from prism_core.planning.wishes.task import Budget, Target, Task
from prism_core.privacy.ledger import Charge, Ledger
from prism_core.privacy.parameters import about_budget
from prism_core.rehearsal.allocation_choice import TILTS
from prism_core.rehearsal.estimates import SHIFT_TEXT
from prism_core.rehearsal.variants import PLANNED
from prism_core.structure.dag import Dag
from prism_core.structure.roles import ROLE_TEXT
from prism_core.text import documents
from prism_core.text.languages import (
    _HOLE,
    LANGUAGES,
    MARKS,
    NAMES,
    catalogue,
    language,
    translated,
)
from tests.support import bundles
from tests.support.approvals import FAST, STATED, approval
from tests.support.reports import REHEARSED, staged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.planning.plan import Plan

OTHERS = [code for code in LANGUAGES if code != "en"]
GLOSSARY = {"en": "Glossary", "de": "Wörter dieses Papiers", "fr": "Les mots de ce document"}
_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:[.,\u202f]\d+)*(?:e-?\d+)?(?:\u202f?%)?(?![\w/-])")
CHARGE = Charge(
    id=7,
    asset="ward 7",
    plan="",
    accountant="zcdp",
    epsilon=1.25,
    delta=1e-9,
    rho=0.01,
    who="",
    why="",
    created="2026-01-02T00:00:00Z",
    state="done",
)


METRICS = [
    {
        "name": "auc",
        "subject": "readmitted",
        "learner": "logistic_onehot",
        "value": 0.7,
        "interval": [0.65, 0.75],
        "floor": 0.5,
        "ceiling": 0.8,
        "ceiling_interval": [0.75, 0.85],
        "kept": 0.67,
        "kept_interval": [0.5, 0.9],
        "outside_epsilon": True,
    },
    {
        "name": "tv_2way",
        "subject": "mean over pairs",
        "value": None,
        "note": "There is only one column, so there are no pairs.",
        "outside_epsilon": True,
    },
]


def plans(schema) -> Iterator[Plan]:
    """Plans whose papers differ: known and open S, who a row is, provenances."""
    book = CodebookSource(name="b.csv", sha256="0" * 64, format="redcap", by_hand=("age", "ward"))
    looked = (Look(did="counted cells outside", file="t.csv", when="2026-01-02 03:04"),)
    causal = Task(target="readmitted")
    by_id: dict[str, Any] = {"one_row_per_person": False, "person_id": "pid", "persons": 1234}
    for declared, task in (
        (schema, causal),
        (replace(schema, **by_id), causal),
        (replace(schema, **by_id, max_rows=3), causal),
        (replace(schema, **by_id, max_rows=3, weighting="persons"), causal),
        (schema, Task(target="readmitted", regime="predictive", k=2)),
        (schema, Task(target="readmitted", regime="predictive")),
        (bundles.learned(schema), causal),
        (replace(schema, provenance="codebook", codebook=book), causal),
        (replace(schema, provenance="public twin"), causal),
        (replace(schema, provenance="private rows", looks=looked), causal),
    ):
        yield design(Brief(declared, task, Budget(), 1234, dag=bundles.DAG, synthesis=FAST))


def pages(plan: Plan, code: Any) -> Iterator[str]:
    """Every kind of both papers of a plan, in a language."""
    ledger = Ledger.prospect("ward 7", epsilon=3.0, delta=plan.delta)
    said = replace(STATED, sensitive="smoker", subjects="inpatients")
    for one in (
        Protocol(plan=plan, language=code),
        Protocol(plan=plan, language=code, statement=said, balance=ledger, charges=(CHARGE,)),
        Protocol(plan=plan, language=code, statement=said, balance=ledger, rehearsal=(REHEARSED,)),
        Protocol(plan=plan, language=code, statement=said, approval=approval(plan)),
    ):
        yield one.to_html()
    if not plan.s_is_final:  # a report is written once the run has chosen
        return
    stages, facts = staged(plan)
    signed = replace(facts, approval=approval(stages.planned), said=said)
    account = account_of(plan, ledger, None, (CHARGE,))
    number = {"name": "auc", "value": 0.7, "noise_interval_95": [0.65, 0.75]}
    private = {
        "private_evaluation": PRIVATE,
        "charge": 4,
        "notice": INSIDE_EPSILON,
        "guarantee": {"epsilon": 0.2, "delta": 1e-9},
        "plan": {"release_plan_sha256": facts.plan_sha256},
        "numbers": [{**number, "subject": "readmitted", "outside_epsilon": False}],
    }
    outside = {"outside_epsilon": True, "notice": OUTSIDE_EPSILON, "metrics": METRICS}
    for told, extras in (
        (facts, Extras(language=code)),
        (signed, Extras(language=code, account=account, date="2026-03-01")),
        (signed, Extras(language=code, rehearsed=(REHEARSED,), evaluation=outside)),
        (signed, Extras(language=code, private=(private,))),
        (
            replace(signed, approval=approval(plan, protocol=f"{plan.hash[:12]}-2")),
            Extras(language=code),
        ),
        (replace(signed, approval=approval(plan, plan_sha256="f" * 64)), Extras(language=code)),
        (replace(facts, stamp=REHEARSAL, charge=None), Extras(language=code)),
        (replace(facts, stamp="unaccounted", charge=None), Extras(language=code)),
    ):
        yield report(stages, told, extras=extras)


_WRITTEN: dict[str, list[tuple[Plan, str]]] = {}


def written(schema, code: str) -> list[tuple[Plan, str]]:
    """Every page of every plan in a language, made once."""
    if code not in _WRITTEN:
        _WRITTEN[code] = [(plan, html) for plan in plans(schema) for html in pages(plan, code)]
    return _WRITTEN[code]


class Read(HTMLParser):
    """The words of a paper, and those that are marked as English."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.words, self.english, self._open = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "wbr", "br", "path", "circle", "link"):
            self._open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if any(tag == one for one, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data):
        tags = [tag for tag, _ in self._open]
        if {"style", "script", "svg"}.intersection(tags):
            return
        # The page itself names its language; what is marked stands within.
        marked = any(tag != "html" and said.get("lang") == "en" for tag, said in self._open)
        (self.english if marked else self.words).append(f"{data} ")


def read(html: str, code: str) -> str:
    """What people read, without the glossary, which has its own numbers."""
    # Spaces that may not break stay: in French they stand in numbers.
    words = re.sub(r"[ \n]+", " ", "".join(Read(html).words))
    before, _, glossary = words.partition(GLOSSARY[code])
    return before + glossary.partition("Private-PGM")[2]


def numbers(words: str) -> set[str]:
    words = re.sub(
        r"\b[0-9a-f]{12,64}\b|\d{4}-\d{2}-\d{2}|SHA-256|ward 7|t\.csv|95-%|\b1\.0\b", " ", words
    )
    # English says "1 in" so many, others say "one of"; an interval of 95% is written as a word.
    return set(_NUMBER.findall(words)) - {"1", "95%", "95\u202f%"}


@pytest.mark.parametrize("code", OTHERS)
def test_every_number_is_the_english_one_with_the_marks_of_the_language(schema, code):
    marks = MARKS[code]
    seen = 0
    for (plan, english), (_, other) in zip(
        written(schema, "en"), written(schema, code), strict=True
    ):
        ours, theirs = read(english, "en"), read(other, code)
        for text in (text for text in STATED.to_dict().values() if " " in text):
            ours, theirs = (each.replace(text, " ") for each in (ours, theirs))
        found = {marks.number(one) for one in numbers(ours)}
        assert numbers(theirs) ^ found == set(), plan.schema.provenance
        seen += len(found)
    assert seen > 4_000


# Frequent in English, and no words of German or French.
_ENGLISH = (
    "the|of|and|not|with|for|is|are|were|by|from|it|each|which|this|that|be|at|most|only|both|"
    "people|rows|columns|noise|charge|record|approved|chosen|learned|read|holds|whether|to"
)


@pytest.mark.parametrize("code", OTHERS)
def test_no_english_sentence_of_the_program_is_left_in_a_paper(schema, code):
    for _, html in written(schema, code):
        words = read(html, code)
        for text in (*STATED.to_dict().values(), "rows.csv"):
            words = words.replace(text, " ")
        assert re.findall(rf"\b(?:{_ENGLISH})\b", words) == []
        assert f'<html lang="{code}">' in html


def marked_as_english(html: str) -> list[str]:
    """Texts of a paper that are marked as English, beyond the registry's entry and references."""
    registry = re.search(r"<caption>(?:Eintrag|Fiche)</caption>.*?</table>", html, re.DOTALL)
    html = html.replace(registry[0], "") if registry else html
    html = re.sub(r'<ul class="note" lang="en">.*?</ul>', "", html, flags=re.DOTALL)
    return Read(html).english


@pytest.mark.parametrize("code", OTHERS)
def test_every_sentence_of_the_code_has_words_in_the_language(schema, code):
    for _, html in written(schema, code):
        assert marked_as_english(html) == []


@pytest.mark.parametrize("code", OTHERS)
def test_what_a_plan_may_say_has_words_in_the_language(schema, code):
    """Sentences that the plans of the other tests do not happen to say."""
    dag = Dag(
        nodes=("age", "ward", "smoker", "readmitted", "u", "v"),
        edges=(
            ("age", "readmitted"),
            ("u", "ward"),
            ("u", "readmitted"),
            ("v", "smoker"),
            ("smoker", "age"),
        ),
        unmeasured=("u", "v"),
    )
    tasks = [
        Task(target="readmitted"),
        Task(target="readmitted", regime="graphical"),
        Task(target="readmitted", regime="graphical", further=(Target(name="smoker", weight=2.0),)),
    ]
    said = [features_statement(task, graph, 3) for task in tasks for graph in (bundles.DAG, dag)]
    said += [text for texts in (ACT_TEXT, ROLE_TEXT) for text in texts.values()]
    book = "the codebook “b.csv” (DDI Codebook, SHA-256 0)"
    said += [text.format(codebook=book) for text in PROVENANCE_TEXT.values()]
    said += [metric_title(name) for name in _TITLES] + [metric_title("auc_from_s")]
    said += about_budget(50.0, 0.01, 300, above_limit=3.0)
    said += [PLANNED, "A, the plan", *TILTS.values(), "causal", "graphical", "predictive"]
    said += [INSIDE_EPSILON, OUTSIDE_EPSILON, *STAMPS, *_NOISE.values(), *SHIFT_TEXT.values()]
    missing = [text for text in said if translated(text, code) is None]
    assert missing == []


def test_catalogues_have_the_same_phrases_and_fill_the_same_holes():
    first, *others = (catalogue(code) for code in OTHERS)
    for other in others:
        assert [one.english for one in other] == [one.english for one in first]
    assert len({one.english for one in first}) == len(first)
    for phrase in (one for code in OTHERS for one in catalogue(code)):
        asked = {hole[1] + hole[2] for hole in _HOLE.finditer(phrase.english)}
        used = {hole[1] + hole[2] for hole in _HOLE.finditer(phrase.said)}
        assert used <= asked, phrase.english
        # Only what English needs for its grammar may be dropped.
        assert asked - used <= {"x"}, phrase.english


def test_every_phrase_is_one_that_the_code_makes():
    """A sentence that was changed in the code and not here would come out in English."""
    package = Path(documents.__file__).parents[1]
    known = set(
        triples(" ".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py")))
    )
    strange = []
    for phrase in catalogue("de"):
        pieces = _HOLE.split(phrase.english)[::3]
        own = [triple for piece in pieces for triple in triples(piece)]
        # A third of them: sentences are put together, as by number, at some places.
        if len(own) > 2 and sum(triple in known for triple in own) < len(own) / 3:
            strange.append(phrase.english)
    assert strange == []


def triples(text: str) -> list[tuple[str, ...]]:
    """Every three words in a row, without marks, lines and what opens a text."""
    words = re.findall(r"[a-z]{2,}", text.lower())
    return list(zip(words, words[1:], words[2:], strict=False))


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("name", ["protocol_annex", "report_annex"])
def test_an_annex_has_the_same_parts_and_values_in_every_language(name, code):
    ours, theirs = (_parts(f"{language}/{name}.html") for language in ("en", code))
    assert theirs == ours


def _parts(template: str) -> tuple[object, ...]:
    """Loops, cases and macros of a template, how many; and the values that it names."""
    made = Environment(trim_blocks=True).parse(
        (documents.TEMPLATES / template).read_text(encoding="utf-8")
    )
    kinds = (nodes.For, nodes.If, nodes.Macro, nodes.Import, nodes.FromImport)
    names = {one.attr for one in made.find_all(nodes.Getattr)} | {
        one.name for one in made.find_all(nodes.Name)
    }
    return ([sum(1 for _ in made.find_all(kind)) for kind in kinds], names)


def test_what_has_no_words_stays_and_is_marked_as_english():
    assert translated("Nobody said this.", "de") is None
    made = documents._environment("de").from_string("{{ x | told }} {{ x | phrase }}")
    assert made.render(x="Odd <b>") == '<span lang="en">Odd &lt;b&gt;</span> Odd &lt;b&gt;'
    assert translated("1,234.5", "de") == "1.234,5"


def test_every_language_has_the_same_folder_and_every_entry_a_label():
    folders = {code: {one.name for one in (documents.TEMPLATES / code).iterdir()} for code in NAMES}
    assert folders["de"] == folders["fr"] == folders["en"] | {"phrases.txt"}
    for code in OTHERS:
        text = (documents.TEMPLATES / code / "parts.html").read_text(encoding="utf-8")
        labels = dict(re.findall(r'"(\w+)": "([^"]+)"', text.split("LABELS =")[1].split("%}")[0]))
        assert list(labels) == list(LABELS)
        assert len(set(labels.values())) == len(labels)


def test_provenances_all_have_a_sentence():
    for code in OTHERS:
        text = (documents.TEMPLATES / code / "report.html").read_text(encoding="utf-8")
        named = set(re.findall(r'plan\.schema\.provenance == "([a-z ]+)"', text))
        assert named == set(PROVENANCES)


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (2.5e-9, ("400 million", "400 Millionen", "400 millions")),
        (1e-6, ("1 million", "1 Million", "1 million")),
        (4e-10, ("2.5 billion", "2,5 Milliarden", "2,5 milliards")),
        (1 / 90_000, ("90,000", "90.000", "90\u202f000")),
    ],
)
def test_a_small_chance_in_words(chance, words):
    assert tuple(MARKS[code].one_of(chance) for code in ("en", "de", "fr")) == words


def test_the_commands_take_a_language_and_refuse_another(make_run, tmp_path, capsys):
    config = make_run(statement={})
    out = tmp_path / "p.md"
    written = ["protocol", str(config), "--out", str(out), "--draft", "--language"]
    assert main.main([*written, "de"]) == 0
    assert "Darf diese synthetische Tabelle" in out.read_text(encoding="utf-8")
    assert main.main([*written, "nl"]) == 2
    assert "en, de, fr" in capsys.readouterr().err
    with pytest.raises(ConfigError):
        language("dee")


def test_a_copy_in_another_language_is_not_the_bundles_own():
    assert Extras(language="fr").some
    assert not Extras().some
    with pytest.raises(ConfigError):
        replace(Extras(), language="xx")
