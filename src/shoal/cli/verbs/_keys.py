"""``shoal keys``: keys that sign releases, and signing with them."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli._flags import Flags
from shoal.cli._options import Json, Quiet
from shoal.cli._output import Output
from shoal.pages.page import Line

_FLAGS = Flags()
PrivateKey = Annotated[
    Path, typer.Argument(metavar="KEY", help="The file of a private key.", show_default=False)
]

keys_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Make keys that sign releases, and sign with them.",
)


@keys_app.command()
def new(path: PrivateKey, json: Json = False, quiet: Quiet = False) -> None:
    """Make a key: keep the file secret, and tell people the public key, written beside it.

    **Examples**

        shoal keys new publisher.key
    """
    from shoal.collector import make_key
    from shoal.files import atomic_file

    beside = path.with_name(f"{path.name}.pub")
    public = make_key(path).hex()
    with atomic_file(beside, True) as part:
        part.write_text(f"{public}\n", encoding="ascii")
    Output(json, quiet).result(
        {"key": str(path), "file": str(beside), "public": public},
        Line("Secret", str(path), is_literal=True),
        Line("File", str(beside), is_literal=True),
        Line("Public", public, is_literal=True),
    )


@keys_app.command()
def show(path: PrivateKey, json: Json = False, quiet: Quiet = False) -> None:
    """Print the public key of a private one.

    **Examples**

        shoal keys show publisher.key
    """
    from shoal.verify import public_key_of

    public = public_key_of(path)
    Output(json, quiet).result({"public": public}, Line("Public", public, is_literal=True))


@keys_app.command()
def sign(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of a release.", show_default=False)
    ],
    path: PrivateKey,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check every release in a folder and sign it; what does not hold is not signed.

    **Examples**

        shoal keys sign model publisher.key
    """
    from shoal.verify import sign_folder

    say = Output(json, quiet)
    with say.progress(1) as progress, _FLAGS.shown():
        progress.step("Checking the release")
        written = [str(each) for each in sign_folder(folder, path)]
    say.result({"signed": written}, *(Line("Signed", each, is_literal=True) for each in written))
