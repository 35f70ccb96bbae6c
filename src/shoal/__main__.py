"""Run the command line: ``python -m shoal`` is ``shoal``."""

from shoal.cli.start import main

if __name__ == "__main__":
    main()
