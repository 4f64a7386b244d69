"""Documents that do not fit one machine: hottopixx on a Ray cluster.

`factor` reads documents where they lie (Parquet, scipy's `.npz`, a Ray Dataset), reduces them to
a matrix of terms x terms, or a sketch of it, on the workers, chooses terms on one machine with
everything that `hottopixx.factor` can do, and fits all terms on the workers. Nothing here is needed
as long as the data fit: one process is faster. Needs Ray: `pip install 'hottopixx[ray]'`.
"""

from ._cluster import cluster
from ._factor import factor
from ._source import PartitionError
from ._write import write

__all__ = ["PartitionError", "cluster", "factor", "write"]
