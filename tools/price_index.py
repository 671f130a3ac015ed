"""Make catalog/price_index.json anew from the catalog's prices: `python -m tools.price_index`."""

import msgspec

from rigplanner.catalog.load import read_catalog
from rigplanner.catalog.prices.exchange import shipped_rates
from rigplanner.catalog.prices.index import INDEX_FILE
from rigplanner.catalog.prices.index_making import make_index
from rigplanner.data import data_path


def main() -> None:
    """Write the index and say what it rests on."""
    folder = data_path("catalog")
    made = make_index(read_catalog(folder), shipped_rates())
    content = msgspec.json.format(msgspec.json.encode(made), indent=1)
    (folder / INDEX_FILE).write_bytes(content + b"\n")
    print(made.made_of, {name: series.pairs for name, series in made.series.items()})


if __name__ == "__main__":
    main()
