"""What the tests of documents on a cluster share."""

import pytest

import hottopixx


@pytest.fixture(scope="package")
def cluster():
    """One for all these tests: starting it takes seconds."""
    pytest.importorskip("ray")
    import hottopixx.ray as scaled

    with scaled.cluster(workers=2):
        yield


@pytest.fixture(scope="package")
def counts():
    """Words x documents in which six words name topics."""
    return hottopixx.generate("multinomial", features=300, examples=800, rank=6, tokens=40, seed=2)


@pytest.fixture(scope="package")
def cooccurring(counts):
    """The answer of one machine, from the matrix as the cluster holds it: in full."""
    return hottopixx.factor(hottopixx.cooccurrence(counts.X).toarray(), 6, "spa")


@pytest.fixture(scope="package")
def pixels():
    return hottopixx.generate("paper", features=90, examples=600, rank=5, noise=0.5, seed=4)
