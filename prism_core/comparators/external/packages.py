"""The packages that can be compared with, each with its guarantee and what was found in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from prism_core.comparators.external.neighbours import GuaranteePart, Stated
from prism_core.comparators.methods import COMPARATORS, Comparator
from prism_core.errors import PlanError
from prism_core.text.suggestions import suggestion

ExternalName: TypeAlias = Literal["privbayes", "smartnoise-mst", "dpmm-mst"]


@dataclass(frozen=True, kw_only=True)
class External:
    """A synthesizer of another package, for public rows only.

    Attributes:
        name: in commands.
        title: for people.
        sentence: what it does, in a curator's words.
        reference: the package and where the method is published.
        project: its name at the package index.
        module: what is imported; where it can be, the package is there.
        stated: its guarantee as read in the code of `version`.
        version: that was read.
        repeatable: whether a seed fixes its noise.
        found: what its guarantee hangs on, or is broken by.
    """

    name: ExternalName
    title: str
    sentence: str
    reference: str
    project: str
    module: str
    stated: Stated
    version: str
    repeatable: bool
    found: str

    @property
    def variable(self) -> str:
        """The environment variable that names the Python it is installed for."""
        return f"PRISM_COMPARATOR_PYTHON_{self.project.split('-')[0].upper()}"


_MST = COMPARATORS["mst"]
_ZCDP = Stated(kind="zcdp", parts=(GuaranteePart(share=1.0, relation="add or remove one person"),))

EXTERNAL: dict[ExternalName, External] = {
    "privbayes": External(
        name="privbayes",
        title="PrivBayes (DataSynthesizer)",
        sentence="Joins every column to one other in a network found with noise, and counts "
        "these pairs with noise. It does not know which column is to be predicted.",
        reference="package DataSynthesizer; Zhang et al. 2017, PrivBayes",
        project="DataSynthesizer",
        module="DataSynthesizer",
        # Told E, it counts all columns for E, chooses for E / 2 (both with sensitivities of
        # replacing) and counts groups for E / 2 with the l1 sensitivity 1 of adding or removing.
        stated=Stated(
            kind="pure",
            parts=(
                GuaranteePart(share=1.0, relation="replace one person"),
                GuaranteePart(share=0.5, relation="replace one person"),
                GuaranteePart(share=0.5, relation="add or remove one person"),
            ),
        ),
        version="0.1.13",
        repeatable=True,
        found="It reads the largest code of a column and whether a column has two levels from the "
        "rows, and starts its noise from the same seed more than once: each breaks the guarantee.",
    ),
    "smartnoise-mst": External(
        name="smartnoise-mst",
        title="MST (smartnoise-synth)",
        sentence=_MST.sentence,
        reference=f"package smartnoise-synth; {_MST.reference}",
        project="smartnoise-synth",
        module="snsynth",
        stated=_ZCDP,
        version="1.0.8",
        repeatable=False,
        found="It uses the exact number of rows, and chooses by numpy's generator.",
    ),
    "dpmm-mst": External(
        name="dpmm-mst",
        title="MST (dpmm)",
        sentence=_MST.sentence,
        reference=f"package dpmm; {_MST.reference}",
        project="dpmm",
        module="dpmm",
        stated=_ZCDP,
        version="0.1.9",
        repeatable=False,
        found="It chooses by numpy's generator. Its binning, which spends an epsilon beyond the "
        "one declared, is switched off.",
    ),
}


def external(name: str) -> External:
    """The method of that name.

    Raises:
        PlanError: when there is none.
    """
    for known in get_args(ExternalName):
        if name == known:
            return EXTERNAL[known]
    raise PlanError(
        f"method must be one of {', '.join(EXTERNAL)}.{suggestion(name, EXTERNAL)}", field="method"
    )


def about(name: str) -> Comparator | External:
    """The comparator of that name, of our own engine or of a package.

    Raises:
        PlanError: when there is none.
    """
    for known, found in (*COMPARATORS.items(), *EXTERNAL.items()):
        if name == known:
            return found
    raise PlanError(
        f"method must be one of {', '.join((*COMPARATORS, *EXTERNAL))}."
        f"{suggestion(name, (*COMPARATORS, *EXTERNAL))}",
        field="method",
    )
