"""`python -m uncertain` is the command line."""

from .cli import main

main()
