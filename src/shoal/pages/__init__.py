"""What each kind of result says, as data: one builder a file, for HTML page, terminal and JSON alike.

``page`` holds the data classes (``Page``, ``VerdictPage``, ``Line``, ``Table``, ``Fact``). Builders:
``kmeans``, ``wave`` and ``local`` for clusterings (``cluster`` is what they share), ``reports`` for
what is written beside reports, ``table`` and ``table_explanation`` for k-anonymous tables,
``audit``, ``attack``, ``evaluation`` for verdicts, ``demo``. None knows the command line.
"""
