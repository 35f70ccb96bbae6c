"""What each kind of result says, as data, for HTML page, terminal and JSON alike.

``page`` holds the data classes: ``Page``, ``VerdictPage``, ``Line``, ``Table``, ``Fact``. The other
files build one from a result: ``kmeans``, ``wave`` and ``local`` for clusterings (``cluster`` is
what they share), ``reports`` for what is written beside reports, ``table`` and
``table_explanation`` for k-anonymous tables, ``audit``, ``attack`` and ``evaluation`` for verdicts,
``demo``.
"""
