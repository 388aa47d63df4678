"""sessionmill's stages on Apache Spark: session logs in, Parquet tables out (docs/engine.md).

`lake` reads and writes files wherever they are, `listing` finds logs, `planning` says which belong together,
`mill` runs the program, `tables` puts tables together, `job` is the whole; `deliver` brings episodes to a graph.
"""

__version__ = "0.1.0"
