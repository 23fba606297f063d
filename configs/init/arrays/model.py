"""The function that is audited: signals (n, 1, 64) float32 -> (n,), one number for each."""


def unevenness(signals):
    """How much the energy of the first half differs from that of the second."""
    energy = (signals**2).sum(axis=1)
    half = energy.shape[1] // 2
    return energy[:, :half].sum(axis=1) / energy.sum(axis=1) - 0.5
