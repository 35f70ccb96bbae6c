"""The files of data sets that the catalogue knows: where they come from, what they must hash to.

A file is fetched only where its published bytes, or these after a header line, are the ones that
shoal was tested with. For the others ``changes`` says what was done to them by hand.
"""

from pathlib import PurePosixPath
from typing import NamedTuple

_UCI = "https://archive.ics.uci.edu/dataset/"
_SHAPES = "https://github.com/gagolews/clustering-data-v1"
_ARX = "https://github.com/arx-deidentifier/arx"
_ARX_FILES = _ARX + "/raw/aacd487/data/"  # earlier commits end their lines otherwise
_MONDRIAN = "https://github.com/qiyuangong/Basic_Mondrian"
_MONDRIAN_FILES = _MONDRIAN + "/raw/085689e373926bb6a4968dcac969ceffbd455036/data/"
_BROWNLEE = "https://github.com/jbrownlee/Datasets/raw/d20fcb6402ae34e653d4513b00f39257bb37ed7f/"


class DataFile(NamedTuple):
    """A file of a data set.

    Parameters
    ----------
    changes
        What was changed since then, or that it is an excerpt; empty if it can be fetched.
    url
        Where the bytes are; empty if no address has them.
    header
        The line of column names to put before them, where the published file has none.
    """

    path: str
    sha256: str
    home: str
    changes: str = ""
    url: str = ""
    header: str = ""

    @property
    def name(self) -> str:
        """The file's own name, without folders."""
        return PurePosixPath(self.path).name


FILES = {
    "adult": DataFile(
        "adult/adult.csv",
        "6f8f2babc5ee744afd03f6d978d8d6b3e3b0aae240d931c4976a9cce7af0d347",
        home=_UCI + "2/adult",
        changes="training and test file joined, a header line added, blanks and final dots removed",
    ),
    "adult_hierarchy_age": DataFile(
        "adult/hierarchies/adult_hierarchy_age.csv",
        "463f35372e8b1ad31fc624eb73c5da9297878a044ae5d61038eaf7b431ac55ca",
        home=_ARX,
        url=_ARX_FILES + "adult_hierarchy_age.csv",
    ),
    "adult_hierarchy_education": DataFile(
        "adult/hierarchies/adult_hierarchy_education.csv",
        "f22e5ee519c28b05538d4e5ddea0fbee5f0017fefb3abab3fa02272325bf9ce5",
        home=_ARX,
        url=_ARX_FILES + "adult_hierarchy_education.csv",
    ),
    "adult_hierarchy_marital-status": DataFile(
        "adult/hierarchies/adult_hierarchy_marital-status.csv",
        "3e7ba2c4a5cd4fec059b4e3a2c57fce6e7c34a20daee1e624990ddd7beba85e5",
        home=_ARX,
        url=_ARX_FILES + "adult_hierarchy_marital-status.csv",
    ),
    "adult_hierarchy_native-country": DataFile(
        "adult/hierarchies/adult_hierarchy_native-country.csv",
        "696d3b53973311c096b33f98bb56e526016910b1a1cd5a1e904cb799d1077023",
        home=_ARX,
        url=_ARX_FILES + "adult_hierarchy_native-country.csv",
    ),
    "adult_hierarchy_occupation": DataFile(
        "adult/hierarchies/adult_hierarchy_occupation.csv",
        "16dc420d5d7f8ab4d1e6144eb1d19ab8314ef42523fe8c4ee202372db1c98126",
        home=_ARX,
        url=_ARX_FILES + "adult_hierarchy_occupation.csv",
    ),
    "adult_hierarchy_race": DataFile(
        "adult/hierarchies/adult_hierarchy_race.csv",
        "df11abf41fa0669455adc9c9f9fa88663afa0cee8327684ecca861cd32dc4209",
        home=_ARX,
        url=_ARX_FILES + "adult_hierarchy_race.csv",
    ),
    "adult_hierarchy_relationship": DataFile(
        "adult/hierarchies/adult_hierarchy_relationship.csv",
        "494c38c9c982e45bd6cce69728301a9e40d3139b2aac3e55c0214deceac714db",
        home=_MONDRIAN,
        url=_MONDRIAN_FILES + "adult_relationship.txt",
    ),
    "adult_hierarchy_salary-class": DataFile(
        "adult/hierarchies/adult_hierarchy_salary-class.csv",
        "404895b3fcfb615813efab7ae0d2c50c8b127cec651f9b37d44a648646f86345",
        home=_ARX,
        url=_ARX_FILES + "adult_hierarchy_salary-class.csv",
    ),
    "adult_hierarchy_sex": DataFile(
        "adult/hierarchies/adult_hierarchy_sex.csv",
        "537d23f7b6969b916b5a5490eb1b32c273fefdc62ca050a7a813e23bbf3b78b2",
        home=_ARX,
        url=_ARX_FILES + "adult_hierarchy_sex.csv",
    ),
    "adult_hierarchy_workclass": DataFile(
        "adult/hierarchies/adult_hierarchy_workclass.csv",
        "106f420349bf0071dbb25371795a78799edf24a64c3424619d563c3990ee8d02",
        home=_ARX,
        url=_ARX_FILES + "adult_hierarchy_workclass.csv",
    ),
    "credit_codes": DataFile(
        "credit/codes.csv",
        "585fd99ba1765fd2b4d9f2e0b6348506188aaf0ca185d74b4f6ff9bc4e560986",
        home=_UCI + "144/statlog+german+credit+data",
        changes="a table made of two descriptions",
    ),
    "german_credit": DataFile(
        "credit/german_credit.csv",
        "f178b5314c122d8dd5b7dc6d849175dee40996fa0ec9c798f17ebf2b417abaac",
        home=_UCI + "144/statlog+german+credit+data",
        url=_BROWNLEE + "german.csv",
        header="checking_status,duration_months,credit_history,purpose,credit_amount,savings,employment_since,installment_rate,personal_status_sex,other_debtors,residence_since,property,age,other_installment_plans,housing,existing_credits,job,people_liable,telephone,foreign_worker,class",
    ),
    "south_german_credit": DataFile(
        "credit/south_german_credit.csv",
        "a4e28e9ca9e250ca619b052f73bf63c1f4ab9c8e883a2b944f68251ed55a02f3",
        home=_UCI + "522/south+german+credit",
        changes="blanks replaced by commas",
    ),
    "oulad_student_info": DataFile(
        "education/oulad_student_info.csv",
        "77fd79ba61213627c6fd64019edbf367e3028c9c3e16e086244d2ba06e09a8cf",
        home=_UCI + "349/open+university+learning+analytics+dataset",
        changes="one table of seven, a header line added, quotes removed",
    ),
    "student_dropout": DataFile(
        "education/student_dropout.csv",
        "5dc4e06abf77b44021577cdf7553ff447f1894b614a8c6dedbe6552d444bded5",
        home=_UCI + "697/predict+students+dropout+and+academic+success",
        changes="semicolons replaced by commas, two column names corrected",
    ),
    "student_mat": DataFile(
        "education/student_mat.csv",
        "659f3984643c2def53ba5e49f551c6ce3657039f9c25306cacb8f43b818a5190",
        home=_UCI + "320/student+performance",
        changes="semicolons replaced by commas, quotes removed",
    ),
    "student_por": DataFile(
        "education/student_por.csv",
        "3fb408fe4b66d4cdb90ad4ec5e3fb6de94ba662d0471a3d46c03da483069f76b",
        home=_UCI + "320/student+performance",
        changes="semicolons replaced by commas, quotes removed",
    ),
    "gowalla_nyc": DataFile(
        "geo/gowalla_nyc.csv.gz",
        "c3ae1b37dd022d2622169cf653d3e35235bfa91539ba13e02f0883dfc392e7d8",
        home="https://snap.stanford.edu/data/loc-Gowalla.html",
        changes="an excerpt: the 138,957 of 6,442,890 check-ins that lie in New York City",
    ),
    "road3d_excerpt": DataFile(
        "geo/road3d_excerpt.csv",
        "00e57792cbb6631fe68bc8d2fe9201bbf9a81b4141b3b20f92cc43bbf81fa82c",
        home=_UCI + "246/3d+road+network+north+jutland+denmark",
        changes="an excerpt: 5,000 of 434,874 points, without their road",
    ),
    "aggregation": DataFile(
        "shapes/aggregation.csv",
        "5254acfedb523a2bc54a65f20e0cdb57a160115484bedb1d1dc6685233d6f0eb",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "alternative_labels": DataFile(
        "shapes/alternative_labels.csv",
        "81ce332fb87bf5dffab91ef8ed710992abba2b255b5cbb2cd3b77d033a64311c",
        home=_SHAPES,
        changes="labels of five sets joined into one table",
    ),
    "birch1": DataFile(
        "shapes/birch1.csv.gz",
        "497f6e4a2b8168ffb59794287846f79598bbab2ef34c8835ee090b68222b1ab2",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "compound": DataFile(
        "shapes/compound.csv",
        "113ab2b82b07c5b1dd2887a96828d1038c45265fdb162e21d724cff18e7d2bd6",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "d31": DataFile(
        "shapes/d31.csv",
        "ea6394f7774b2856ddbf95b8042f840c7de7181d917c9d8a5a3ec68a3c286d35",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "flame": DataFile(
        "shapes/flame.csv",
        "d77a2844482bbd30efb6a32e9d620d8bf6e2d879cc815967d262756bb1d679c9",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "jain": DataFile(
        "shapes/jain.csv",
        "0fe5582380f7ac3ac28401d36f4b00645ed56056e8d5b8bef3e7688ced564b1a",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "lsun": DataFile(
        "shapes/lsun.csv",
        "ea1716bdf0d274db455f66d72019bb2a53419929c1cf081536ede86944e3b210",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "pathbased": DataFile(
        "shapes/pathbased.csv",
        "3d00975ea2839a766c4e98d0c1b00f1d24452e5aba7bf362d86dd6df1430f0cd",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "r15": DataFile(
        "shapes/r15.csv",
        "54289c48902c13081d48cb5aaa9bfcdec44d84b2ada110b1517360bd38d6b3e8",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "s1": DataFile(
        "shapes/s1.csv",
        "692d3cce3645fe1a72c4d86d27b3acea7c805d96271fbd65e006a16c4c9fe1bf",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "spiral": DataFile(
        "shapes/spiral.csv",
        "78072be6316a80ddf8bba3dd605fd2387882630efe65bcade75bb82674a22aa6",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "t4.8k": DataFile(
        "shapes/t4.8k.csv",
        "b27f614936fafecad34470392d7c96e2f5c9b1043c00033aec9850551b7592f4",
        home=_SHAPES,
        changes="points and labels joined, numbers in their shortest form",
    ),
    "cardiotocography": DataFile(
        "uci/cardiotocography.csv",
        "204b8ed70b0943e810f0fb0c2b493cf88a221141d55126d55f46d76a6693e281",
        home=_UCI + "193/cardiotocography",
        changes="the data sheet of a workbook, written as CSV",
    ),
    "seeds": DataFile(
        "uci/seeds.csv",
        "4e01cee444d4bd188c2fec2d4d2e3e598e3cb1a97723bbaaee55461eb53a9532",
        home=_UCI + "236/seeds",
        url=_BROWNLEE + "wheat-seeds.csv",
        header="area,perimeter,compactness,kernel_length,kernel_width,asymmetry,groove_length,class",
    ),
}
