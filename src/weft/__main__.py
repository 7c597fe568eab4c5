"""`python -m weft`."""

from weft.cli.entry import main

main()
