"""`method="auto"`: what may be chosen, how it is tried on held-out rows, and what becomes the model."""
