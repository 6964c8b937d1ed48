"""One file each; see README.md."""
