"""Fit measurements at scattered places, score the ones that were held out, and ask for values elsewhere."""

from __future__ import annotations

import numpy as np

import alfilter as al
from alfilter.runs import fit_task
from alfilter.tasks.points import predict


def temperature(places: np.ndarray) -> np.ndarray:
    """Degrees at places (n, 2) in degrees east and north: colder to the north, with a warm valley."""
    east, north = places.T
    return 20 - 0.8 * (north - 45) + 4 * np.exp(-((east - 8 - (north - 50) / 4) ** 2))


def main(count: int = 500, steps: int = 300) -> float:
    draw = np.random.default_rng(0)
    places = draw.uniform((5, 45), (15, 55), (count, 2))
    task = al.PointTask.from_array(places, temperature(places), observe="random:0.8")
    fitted = fit_task(task, "al-grid", preset="reconstruct", training={"steps": steps})
    heldout = task.evaluate(fitted.field).heldout
    assert heldout is not None
    print(f"RMSE on the held-out fifth: {heldout['rmse']:.3f} degrees")
    wanted = np.array([[8.0, 50.0], [13.0, 47.5], [20.0, 50.0]])
    values, outside = predict(fitted.field, fitted.field.signal, wanted)
    for (east, north), value, truth, beyond in zip(wanted, values[:, 0], temperature(wanted), outside, strict=True):
        print(f"{east} E, {north} N: {value:.2f}, truly {truth:.2f}" + (", outside the measurements" if beyond else ""))
    return heldout["rmse"]


if __name__ == "__main__":
    main()
