"""One run of ``shoal perturb``: it pays once, however often it is killed and started again."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.documents import parse_json, with_digest
from shoal.errors import InvalidSetting, RunChanged
from shoal.jobs._progress import Progress, tell_spending
from shoal.jobs._resume import has_resumed, is_resumable, note_spending, work_description
from shoal.jobs.reports._mechanism import columns_of
from shoal.jobs.reports._report_file import check_apart, output_place, sidecar_of

if TYPE_CHECKING:
    from shoal.domain import Box, Schema
    from shoal.engine import Rows
    from shoal.engine.table import OutputPlace
    from shoal.files import FileSet
    from shoal.perturb.report_draft import Draft
    from shoal.privacy import Guarantee, Ledger, Page


class ReportsTask(ABC):
    """Reports of all rows of a table, written whole or not at all."""

    def __init__(
        self,
        domain: "Box | Schema",
        person: str | None,
        clip: bool,
        ledger: Path | None,
        seed: int | None,
    ) -> None:
        from shoal.perturb.tables import check_token

        check_token(person, columns_of(domain))
        self.domain = domain
        self.person = person
        self.clip = clip
        self.seed = seed
        self.resumed = False
        self.draft: Draft | None = None
        self._ledger = ledger
        self._page: Page | None = None
        self._account: Ledger | None = None  # with a file, so that it outlives this run
        self._entries_before = 0
        self._outputs: FileSet | None = None
        self._has_begun = False  # whether a draft was made, or gone on with
        self._is_given_up = False  # whether the same command cannot go on from here

    @property
    @abstractmethod
    def promise(self) -> "Guarantee":
        """The promise of one report."""

    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """Return the settings of this kind of reports that decide what is drawn."""

    @abstractmethod
    def write(
        self, rows: "Rows", page: "Page", place: "OutputPlace", output: str, progress: Progress
    ) -> dict[str, Any]:
        """Draw the reports, write them, and return what the sidecar says."""

    @property
    def guarantee(self) -> "Guarantee":
        """The promise of one report, marked if it is a rehearsal."""
        return self.promise.simulated(self.seed is not None)

    def run(
        self, table: str, source: Any, output: str, overwrite: bool, progress: Progress
    ) -> dict[str, Any]:
        """Write reports and sidecar, both whole or neither; return what the sidecar says."""
        from shoal.files import file_set
        from shoal.perturb.report_draft import draft_of
        from shoal.privacy import Ledger, work_digest

        with ExitStack() as stack:
            if isinstance(source, str):
                check_apart(output, source)
                self._outputs = stack.enter_context(file_set(output, overwrite))
            work = self._work(table, source, output)
            stack.enter_context(note_spending(self._spent, resumable=is_resumable(work)))
            if self._outputs is not None:
                digest = work_digest(work)
                self.draft = stack.enter_context(draft_of(Path(output), digest))
                run = digest if is_resumable(work) else None
                self._outputs.work_for(run, self._goes_on)
            ledger = Ledger.of(self._ledger, columns=columns_of(self.domain))
            tell_spending(ledger, progress)
            if self._ledger is not None:
                self._account, self._entries_before = ledger, ledger.entries().num_rows
            if self.draft is not None and is_resumable(work):
                name = self.draft.run
                ledger = stack.enter_context(ledger.resumable(work, by="shoal perturb", name=name))
            is_finished = self._outputs is not None and self._outputs.is_finished
            self.resumed = has_resumed(ledger) or is_finished
            stack.enter_context(self._leaving_no_draft(ledger, unless=is_resumable(work)))
            document: dict[str, Any]
            if is_finished:  # all but the tidying was done
                document = parse_json(Path(sidecar_of(output)).read_text(encoding="utf-8"))
            else:
                document = self._place_and_write(source, output, overwrite, ledger, progress)
            if self.draft is not None:
                self.draft.remove()  # before the ledger forgets the run: else it would pay again
        return document

    def begin(self, digests: Sequence[str]) -> None:
        """Begin the draft, or go on with it if its rows are these; before anything is paid."""
        if self.draft is not None:
            self._has_begun = True
            self.draft = self.draft.begin(digests)

    def _work(self, table: str, source: Any, output: str) -> dict[str, Any]:
        """All that decides which reports are drawn, and where they are kept meanwhile."""
        is_distributed = not isinstance(source, str)
        stdin = {source: self._outputs.key} if self._outputs and table == "-" else None
        settings = {
            **self.settings(),
            "domain": self.domain.to_dict(),
            "person": self.person,
            "clip": self.clip,
            "output": output if is_distributed else str(Path(output).expanduser().absolute()),
            "ledger": self._ledger and str(self._ledger.absolute()),
        }
        return work_description("perturb", table, is_distributed, self.seed, settings, stdin)

    @contextmanager
    def _leaving_no_draft(self, ledger: "Ledger", unless: bool) -> Iterator[None]:
        """A failed run removes its draft, unless the same command can go on with it."""
        try:
            yield
        except BaseException as error:
            self._is_given_up = not unless or isinstance(error, RunChanged)
            if self.draft is not None and self._has_begun and not self._goes_on():
                self.draft.remove()
                if self._is_given_up and ledger.run is not None:
                    ledger.run.forget()
            raise

    def _place_and_write(
        self, source: Any, output: str, overwrite: bool, ledger: "Ledger", progress: Progress
    ) -> dict[str, Any]:
        from shoal.perturb.report_stream import reports_name

        files = None
        if self._outputs is not None and self.draft is not None:
            files = self._outputs, self.draft
        with output_place(output, source, overwrite, files) as place:
            reports = reports_name(len(columns_of(self.domain)))
            self._page = ledger.open(self.promise, by="shoal perturb", of=reports)
            rows = self._rows(source)
            progress.step("Checking rows")
            rows.on_progress(progress.count_rows)
            document = self.write(rows, self._page, place, output, progress)
            document = with_digest(document)
            place.finish(json.dumps(document, indent=1, ensure_ascii=False))
            return document

    def _rows(self, source: Any) -> "Rows":
        from shoal.engine import rows_of

        return rows_of(
            source,
            self.domain,
            outside="clip" if self.clip else "refuse",
            person=self.person,
            max_rows_per_person=None if self.person is None else 1,
            selection_key=None if self.draft is None else self.draft.selection_key,
        )

    def _goes_on(self) -> bool:
        """Whether the same command, given again, goes on from here."""
        return not self._is_given_up and (self.resumed or self._paid())

    def _spent(self) -> bool:
        """Whether a ledger that outlives this run has the promise."""
        return self._ledger is not None and (self.resumed or self._paid())

    def _paid(self) -> bool:
        """Whether anything was released.

        A file is asked itself: stopped right after an entry was written, the page does not know.
        """
        if self._account is not None:
            return int(self._account.entries().num_rows) > self._entries_before
        try:
            return self._page is not None and bool(self._page.total())
        except InvalidSetting:  # nothing was
            return False
