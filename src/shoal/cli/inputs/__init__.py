"""Read what verbs are given: tables, options, mechanisms, cases."""
