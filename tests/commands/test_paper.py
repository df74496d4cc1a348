"""What the command tells a report about the paper."""

from __future__ import annotations

from tests.support.result_lines import fitting_lines

from alfilter.commands.paper import paper_facts


def test_claims_printed_values_and_captions_as_plain_data() -> None:
    facts = paper_facts({"image-fitting": fitting_lines(), "mine": []})
    best = next(claim for claim in facts.claims if claim["claim"].startswith("Ours-Sine is best"))
    assert best["verdict"] == "not decided here", "small twins judge no claim"
    assert best["command"] == "alfilter experiment image-fitting"
    assert not any("Chamfer" in claim["claim"] for claim in facts.claims), "its study has not been run"
    title, values = facts.printed["image-fitting"]
    assert title == "Quantitative comparison of 2D image fitting"
    assert values["al-sine"]["psnr"] == 46.27
    assert set(facts.printed) == {"image-fitting"}
    assert facts.captions["crops"].startswith("Fig. fig2dcomparison")
