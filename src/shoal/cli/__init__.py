"""The ``shoal`` command line; nothing else imports it.

Words: a *verb* is a command such as ``shoal cluster``; a *flag* is a setting as the command line
writes it; *say* is the output of one run; *progress* names the step under way; an *ending* is what
an error becomes: message, hint and exit code; a *sidecar* is the file beside reports that says what
made them; a *draft* is a policy guessed from a table, or a file not yet complete; the *curator* is
the holder of the rows, whose pages nobody else may read; *work* is all that decides what a run
releases, by which a repeated run is recognised.
"""
