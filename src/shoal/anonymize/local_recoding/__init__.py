"""Local recoding: each class has labels of its own, so less is lost than with one cut.

Words: a *unit* is a distinct combination of quasi-identifiers, moved as a whole; a *map* gives each
leaf the node under which it is looked at; a *ladder* is a list of ever coarser maps; a *cell* holds
the units that a cut of maps gives equal nodes; a cell or class is *full* if k, l and t hold in it;
a unit in no class is *left over*; a *path* is a list of ever coarser cuts.
"""
