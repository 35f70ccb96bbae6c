"""What verbs are given: tables, options, mechanisms, cases."""
