from shoal.anonymize._policy_schema import _read_docstring, policy_json_schema


def test_a_docstring_gives_the_summary_and_the_text_of_each_parameter():
    text = (
        "What it is,\nin a sentence.\n\nMore.\n\nParameters\n----------\na\n    The first,\n    "
        "``so``.\nb\n    The second.\n\nExamples\n--------\n>>> 1\n"
    )
    assert _read_docstring(text) == (
        "What it is, in a sentence.", {"a": "The first, `so`.", "b": "The second."}
    )  # fmt: skip
    assert _read_docstring("Only this.") == ("Only this.", {})


def test_every_part_of_a_policy_is_in_the_schema():
    schema = policy_json_schema()
    assert [*schema["properties"]] == [
        "version", "input", "attributes", "privacy", "search", "output"
    ]  # fmt: skip
    assert {"BinarySpec", "DateSpec", "LRule"} <= {*schema["$defs"]}
