"""What a page calls metrics and figures, and the sentence that explains each."""

from __future__ import annotations

from typing import NamedTuple


class Metric(NamedTuple):
    """How a metric is shown. better: 1 if more is better, -1 if less is, 0 if neither. meaning: one sentence."""

    name: str
    unit: str = ""
    digits: int = 4
    better: int = 0
    meaning: str = ""


METRICS = {
    "psnr": Metric("PSNR", "dB", 2, 1, "Peak signal-to-noise ratio; higher is better, and 6 dB more halves the error."),
    "psnr_between": Metric(
        "PSNR between", "dB", 2, 1, "On the pixels [1::2, 1::2], farthest from those that were seen."
    ),
    "ssim": Metric("SSIM", "", 4, 1, "Structural similarity of small windows; 1 is identical."),
    "lpips": Metric("LPIPS", "", 4, -1, "Perceived difference according to AlexNet's features; 0 is identical."),
    "mse": Metric("MSE", "", 6, -1, "Mean squared error, in squared units of the values; lower is better."),
    "rmse": Metric("RMSE", "", 5, -1, "Root of the mean squared error, in the units of the values; lower is better."),
    "r2": Metric("R²", "", 4, 1, "Share of the values' variance that is explained; 1 is all of it."),
    "mae": Metric("MAE", "", 5, -1, "Mean absolute error, in the units of the values; lower is better."),
    "l1": Metric("L1", "", 5, -1, "Mean absolute error, in the units of the values; lower is better."),
    "snr": Metric("SNR", "dB", 2, 1, "Power of the signal over power of the error, nothing clipped; higher is better."),
    "chamfer": Metric(
        "Chamfer", "", 6, -1, "Mean squared distance one way plus the other, in a box of side 1; lower is better."
    ),
    "chamfer_half": Metric("Chamfer, half", "", 6, -1, "Half of the sum, as the Occupancy Networks count it."),
    "chamfer_floor": Metric(
        "Chamfer floor", "", 6, 0, "The reference against itself (a sum): sampling alone scores this."
    ),
    "hausdorff": Metric(
        "Worst distance", "", 5, -1, "The greatest distance of one surface to the other, in a box of side 1."
    ),
    "sdf_near": Metric("Distance error near", "", 6, -1, "Mean absolute error beside the surface, in a box of side 1."),
    "sdf_far": Metric("Distance error far", "", 6, -1, "Mean absolute error around the shape, in a box of side 1."),
    "iou": Metric("IoU", "", 4, 1, "Shared volume over joint volume; 1 is identical."),
    "normals": Metric("Normals", "", 4, 1, "Mean agreement of the surface directions; 1 is identical."),
}
# name: (heading, alternative text, caption as HTML) of the figures that are drawn as charts
CHARTS = {
    "alpha": (
        "Local frequency",
        "Map of the filter's cut-off over the domain",
        "The learned filter's cut-off at every place: of the encoding's features, those with faster waves do not pass "
        "there. The colours end at the 1st and the 99th percentile. Half a cycle per sample is the finest wave that "
        "samples can hold.",
    ),
    "scales": (
        "What passes, scale by scale",
        "Small maps of the filter's response, one for each scale whose response varies",
        "One panel per scale (a grid level, or the waves of an octave), coarse to fine, with the frequency it carries: "
        "bright where it passes the filter, dark where it is blocked. Scales that are the same everywhere are counted "
        "above the panels.",
    ),
    "map": (
        "The field",
        "The fitted field over its coordinates, in the user's units",
        "The field between and at the measured points, which are drawn over it.",
    ),
    "sparse": (
        "What was seen, and what was reconstructed from it",
        "Truth, seen pixels, error where seen, reconstruction, error and alpha in six panels",
        "Truth, masked input and the error where it was seen; reconstruction, the whole error, the filter's cut-off.",
    ),
    "waveform": (
        "Over time",
        "Truth, fit and error over time",
        "Amplitudes relative to the loudest sample, channels averaged. The error has a scale of its own.",
    ),
    "spectrogram": (
        "Error in time and frequency",
        "Spectrograms of truth, fit and error",
        "Power of short windows on one scale. Where the error is as bright as the truth, nothing was learned.",
    ),
    "planes": (
        "Slices",
        "Slices of truth, fit, error and alpha",
        "One row per slice: the middle one of every axis of a volume, three moments of a video, or views of a light "
        "field. The scores are of the whole, the other pictures on this page of the middle slice, frame or view.",
    ),
    "parity": (
        "Predicted against measured",
        "Scatter of predicted over measured values",
        "A point on the line is predicted exactly. Held-out points, where there are any, were never seen.",
    ),
    "error": (
        "Error in space",
        "Map of the absolute error over the picture",
        "The absolute error, averaged over the colour channels. The colours end at the 99.5th percentile.",
    ),
    "slice": (
        "A slice of the distance",
        "The signed distance in the middle of the domain: learned, true, and their difference",
        "The line is the surface. Close to it the distance has to be right; far away it counts a hundredth.",
    ),
    "spectrum": (
        "Error in frequency",
        "Radially averaged power spectra of the target and the reconstruction",
        "Mean power at each frequency. A reconstruction that falls below the target on the right shows spectral bias: "
        "fine detail is learned last.",
    ),
}
# kind of a signal: the heading over what was fitted
KINDS = {
    "image": "The picture",
    "shape": "The shape",
    "points": "The measurements",
    "audio": "The sound",
    "volume": "The volume",
    "video": "The video",
    "lightfield": "The light field",
}
ALPHA_ONLY = "This method has no filter: only al-grid, al-sine and al-relu learn which frequencies pass where."
COMPARED = "On the left the reference, on the right what the field computes; drag across the picture to compare."
