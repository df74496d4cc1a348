"""How far a parameter reaches."""

from __future__ import annotations

from alfilter.experiments import Run
from alfilter.experiments.paper import method_traits as traits


def test_the_parameters_of_a_sine_network_reach_everywhere() -> None:
    metrics = traits.execute(Run("siren", "", "siren", "paper", size=16), "", 1)["metrics"]
    assert metrics["local_share"] == 0
    assert metrics["median_reach"] > 0.9


def test_the_nodes_of_a_table_are_local() -> None:
    metrics = traits.execute(Run("hash-grid", "", "hash-grid", "paper", size=16), "", 1)["metrics"]
    assert metrics["local_share"] > 0.5
