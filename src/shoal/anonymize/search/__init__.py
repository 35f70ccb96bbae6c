"""Searches for one cut that all rows share.

Words: a *candidate* is a node of the cut that may be split; its *gain* is the detail a split adds,
its *effect* what it does to the classes below it; a node is *open* until its split is found
invalid; *live* lines are not suppressed; the *frontier* is the set of live classes with the effects
of all splits; a *tilted* score is multiplied by a random factor; a *remote* search counts where the
lines are.
"""
