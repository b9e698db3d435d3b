"""Private choices: the features S, 3-way marginals, and the forest of background pairs."""

from prism_core.synthesis.select.adaptive import AdaptiveChooser
from prism_core.synthesis.select.features import choose_features, choose_interaction
from prism_core.synthesis.select.forests import choose_forest, choose_three_way

__all__ = [
    "AdaptiveChooser",
    "choose_features",
    "choose_forest",
    "choose_interaction",
    "choose_three_way",
]
