"""Documents on a Ray cluster: the same bytes as on one machine, whatever happens on the way.

The cluster is started here, listens on the loopback device alone, and is stopped here. The long
version is `python/benchmarks/scale_out.py`.
"""
