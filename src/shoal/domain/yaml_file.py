"""YAML read strictly: a key given twice is an error, not a silent choice."""

import os
from pathlib import Path
from typing import Any

from shoal.errors import InvalidSchema

__all__ = ["read_yaml"]

_MERGE = "tag:yaml.org,2002:merge"


def read_yaml(path: str | Path) -> Any:
    """The content of a YAML file, which must exist, parse and repeat no key."""
    import yaml

    try:
        content = Path(os.path.expanduser(path)).read_text(encoding="utf-8-sig")
        return yaml.load(content, Loader=_strict_loader())
    except OSError as error:
        raise InvalidSchema(
            f"{path} cannot be read: {error.strerror}.", "Check the path."
        ) from None
    except (yaml.YAMLError, UnicodeError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" (line {where.line + 1})" if where else ""
        problem = getattr(error, "problem", None) or "it is not text"
        raise InvalidSchema(
            f"{path} is no YAML{line}: {problem}.", "Mend that line; spaces indent, tabs do not."
        ) from None


def _strict_loader() -> Any:
    import yaml

    class StrictLoader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen = []
            for name, _ in node.value:
                key = "<<" if name.tag == _MERGE else self.construct_object(name, deep=True)
                if key in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key!r} is given twice", name.start_mark
                    )
                seen.append(key)
            return super().construct_mapping(node, deep)

    return StrictLoader
