from datetime import date

import pyarrow as pa
import pytest

from shoal.anonymize.hierarchies import binary, dates, interval, prefix, read_hierarchy, write_arx
from shoal.errors import AlreadyExists

BUILT = {
    "interval": interval((0, 60), whole=False, width=10, fanout=3),
    "binary": binary((0, 15), whole=True, min_width=1),
    "prefix": prefix(pa.array(["70173", "70174", "01219"]), [5, 3, 1]),
    "dates": dates(["month", "year"], domain=(date(2001, 1, 1), date(2002, 6, 1))),
}


@pytest.mark.parametrize("name", BUILT)
def test_what_a_builder_makes_reads_back_from_arx(tmp_path, name):
    again = read_hierarchy(write_arx(BUILT[name], tmp_path / f"{name}.csv"))
    assert again.taxonomy == BUILT[name].taxonomy
    assert (again.levels == BUILT[name].levels).all()


def test_a_file_is_not_overwritten_unasked(tmp_path):
    write_arx(BUILT["binary"], tmp_path / "age.csv")
    with pytest.raises(AlreadyExists):
        write_arx(BUILT["binary"], tmp_path / "age.csv")
    write_arx(BUILT["binary"], tmp_path / "age.csv", overwrite=True)
