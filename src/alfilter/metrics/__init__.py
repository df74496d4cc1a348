"""How close a reconstruction is."""

from alfilter.metrics.image import METRICS, Metric, lpips, mse, psnr, ssim

__all__ = ["METRICS", "Metric", "lpips", "mse", "psnr", "ssim"]
