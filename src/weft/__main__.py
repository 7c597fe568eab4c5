"""`python -m weft`."""

from weft.cli.main import main

main()
