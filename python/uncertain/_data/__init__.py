"""Data of a fit: Gaussian rows, rows with gaps, and the checks of what users hand over."""
