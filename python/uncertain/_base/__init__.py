"""What estimators of every family share."""
