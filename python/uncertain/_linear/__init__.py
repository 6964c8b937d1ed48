"""What the linear classifiers share."""
