"""What a random word costs: ChaCha20, which noise comes from, beside NumPy's PCG64."""

import numpy as np
from measure import cpu_seconds, write

from shoal.randomness import Randomness

WORDS = 5_000_000


def case(name: str, rng: np.random.Generator) -> dict[str, object]:
    seconds = cpu_seconds(lambda: rng.integers(0, 2**64, size=WORDS, dtype=np.uint64))
    return {"generator": name, "ns a word": round(seconds / WORDS * 1e9, 1)}


def main() -> None:
    pcg64 = np.random.Generator(np.random.PCG64(1))
    write("generators", [case("ChaCha20", Randomness().noise), case("PCG64", pcg64)])


if __name__ == "__main__":
    main()
