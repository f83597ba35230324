"""The laboratory: experiments on tools, on tare itself and on monitoring trees.

The rest of tare does not know it: it registers its verbs, and what `tare report` makes of a study.
"""
