"""How close a reconstruction is."""

from alfilter.metrics.image import lpips, mse, psnr, ssim

__all__ = ["lpips", "mse", "psnr", "ssim"]
