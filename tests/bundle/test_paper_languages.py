"""Papers in other languages: every case has its words, every number is the English one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from prism_core.bundle.account import account_of
from prism_core.bundle.certificate import REHEARSAL
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.bundle.report.report_extras import Extras
from prism_core.bundle.report.report_html import report
from prism_core.cli import main
from prism_core.data.schema.codebook_source import CodebookSource
from prism_core.data.schema.looks import Look
from prism_core.data.schema.schema import PROVENANCES
from prism_core.errors import ConfigError
from prism_core.evaluation.inside_epsilon.private_numbers import INSIDE_EPSILON, PRIVATE
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.curator_statement import LABELS
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.ledger import Charge, Ledger
from prism_core.text import documents
from prism_core.text.languages import LANGUAGES, MARKS, NAMES, language
from tests.support import bundles
from tests.support.approvals import FAST, STATED, approval
from tests.support.reports import REHEARSED, Page, staged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.planning.plan import Plan

OTHERS = [code for code in LANGUAGES if code != "en"]
ANNEX = {"en": "Annex for statisticians", "de": "Anhang für die", "fr": "Annexe pour les"}
GLOSSARY = {"de": "Wörter dieses Papiers", "fr": "Les mots de ce document"}
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
    outside = {"outside_epsilon": True, "notice": "outside", "metrics": []}
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


def front(html: str, code: str) -> str:
    """What people read before the annex, without the glossary, which has its own numbers."""
    texts = (text for where, text in Page(html).texts if where not in ("style", "script"))
    # Spaces that may not break stay: in French they stand in numbers.
    words = re.sub(r"[ \n]+", " ", "".join(texts))
    return words.split(ANNEX[code])[0].split(GLOSSARY.get(code, "\n"))[0]


def numbers(words: str) -> set[str]:
    words = re.sub(r"\b[0-9a-f]{12,64}\b|\d{4}-\d{2}-\d{2}|ward 7|t\.csv", " ", words)
    return set(_NUMBER.findall(words)) - {"1"}  # English says "1 in" so many, others say "one of"


@pytest.mark.parametrize("code", OTHERS)
def test_every_number_is_the_english_one_with_the_marks_of_the_language(schema, code):
    marks = MARKS[code]
    seen = 0
    for plan in plans(schema):
        for english, other in zip(pages(plan, "en"), pages(plan, code), strict=True):
            ours, theirs = front(english, "en"), front(other, code)
            quoted = [*plan.warnings, *(text for text in STATED.to_dict().values() if " " in text)]
            for text in quoted:
                ours, theirs = (each.replace(text, " ") for each in (ours, theirs))
            found = {marks.number(one) for one in numbers(ours)}
            looked = bool(plan.schema.looks)  # told in English sentences with numbers of their own
            assert numbers(theirs) == found or looked, plan.schema.provenance
            seen += len(found)
    assert seen > 1_000


@pytest.mark.parametrize("code", OTHERS)
def test_no_english_word_of_the_program_stands_before_the_annex(schema, code):
    plan = next(plans(schema))
    plain = r"\b(the|of|and|not|people|rows|columns|were|epsilon's|charge|record|approved)\b"
    for html in pages(plan, code):
        words = front(html, code)
        for text in (*STATED.to_dict().values(), *plan.warnings, "rows.csv"):
            words = words.replace(text, " ")
        assert re.findall(plain, words) == []
        assert f'<html lang="{code}">' in html
        assert '<div lang="en">' in html


def test_the_annex_is_the_english_one_to_the_byte(schema):
    plan = next(plans(schema))
    english = Protocol(plan=plan, statement=STATED).to_html()
    start = english.index("<h3>The plan</h3>")
    annex = english[start : english.index("<h3>Glossary</h3>")]
    for code in OTHERS:
        assert annex in Protocol(plan=plan, statement=STATED, language=code).to_html()


def test_every_language_has_the_same_folder_and_every_entry_a_label():
    folders = {code: {one.name for one in (documents.TEMPLATES / code).iterdir()} for code in NAMES}
    fronts = {"parts.html", "protocol.html", "report.html"}
    assert all(names >= fronts for names in folders.values())
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
