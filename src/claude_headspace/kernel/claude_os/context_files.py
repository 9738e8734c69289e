"""The files that a context window starts with: core files, then those of the role, then those of the mode. Pure.

Rules
- Every file is included or listed with the reason why it is missing. If no file is included, the text is empty.
- The text stays within a size limit. Short files are included completely. Long files share the remaining space: their
  beginning is included with the path of the complete file. If the parts became too short, the last files are left out.
"""

import msgspec

from claude_headspace.kernel.claude_os import messages

CORE, ROLE, MODE = "core", "role", "mode"

CORE_FILE_LABELS = {"TODAY.md": "daily memory", "MEMORY.md": "weekly/medium-term", "SYSTEM-INDEX.md": "complete file"}
"""Descriptions of the core files of Claude OS."""

DEFAULT_CORE_FILES = ("Desktop/TODAY.md", "Desktop/MEMORY.md", "Desktop/SYSTEM-INDEX.md")
"""The core files if none are configured."""

MIN_FILE_CHARS = 400
"""A shorter excerpt of a file is not useful."""
MAX_MISSING_LISTED = 20
_TRUNCATION_NOTE_CHARS = 120
"""Space for the two notes about a truncated file, without its path."""

replace = msgspec.structs.replace


class ContextFile(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One file of the context. A file without text is missing; `missing_reason` says why."""

    kind: str
    name: str
    """The name as configured, or the path below the root."""
    path: str = ""
    text: str | None = None
    full_length: int = 0
    """Characters of the complete file if `text` is only its beginning, else 0."""
    missing_reason: str = ""

    @property
    def label(self) -> str:
        """The heading: `TODAY.MD (daily memory)`."""
        base = self.name.rpartition("/")[2]
        if self.full_length:
            about = f"first {len(self.text or '')} of {self.full_length} characters; all of it: {self.path}"
        else:
            about = CORE_FILE_LABELS.get(base, self.name) if self.kind == CORE else self.name
        return f"{base.upper()} ({about})"


class SessionContext(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were found for a session."""

    role: str | None = None
    mode: str | None = None
    files: tuple[ContextFile, ...] = ()
    unknown_role: str = ""
    """A message for the user if the role does not exist."""


class ComposedContext(msgspec.Struct, frozen=True):
    """The text for the model, the files in it, and the files left out."""

    text: str = ""
    loaded: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    unknown_role: str = ""
    """A message for the user if the role does not exist."""


def compose(context: SessionContext, prefix: str, max_chars: int) -> ComposedContext:
    """The session context as text for the model, at most `max_chars` characters."""
    files = _fit(context, prefix, max_chars)
    included = [file for file in files if file.text is not None]
    left_out = tuple(f"{file.name}: {file.missing_reason}" for file in files if file.text is None)
    text = _text(context, prefix, files) if included else ""
    return ComposedContext(text, tuple(_shown(file) for file in included), left_out, context.unknown_role)


def _shown(file: ContextFile) -> str:
    part = f" (first {len(file.text or '')} of {file.full_length} characters)" if file.full_length else ""
    return file.name + part


# --- size limit -------------------------------------------------------------------------------------------------------


def _fit(context: SessionContext, prefix: str, space: int) -> tuple[ContextFile, ...]:
    files = list(context.files)
    while included := [file for file in files if file.text is not None]:
        bare = tuple(replace(file, text="") if file.text is not None else file for file in files)
        frame = len(_text(context, prefix, bare)) + sum(
            _TRUNCATION_NOTE_CHARS + 2 * len(file.path) for file in included
        )
        parts = share_space([len(file.text or "") for file in included], space - frame)
        all_long_enough = all(
            part >= min(len(file.text or ""), MIN_FILE_CHARS) for part, file in zip(parts, included, strict=True)
        )
        if all_long_enough and frame <= space:
            given = iter(parts)
            return tuple(_truncate(file, next(given)) if file.text is not None else file for file in files)
        last = max(index for index, file in enumerate(files) if file.text is not None)
        files[last] = replace(
            files[last], text=None, missing_reason=f"does not fit, read it yourself: {files[last].path}"
        )
    return tuple(files)


def share_space(lengths: list[int], space: int) -> list[int]:
    """Share space among texts: short ones get their length, long ones equal parts of the rest."""
    given = [0] * len(lengths)
    left = max(space, 0)
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    for done, index in enumerate(by_length):
        given[index] = min(lengths[index], left // (len(by_length) - done))
        left -= given[index]
    return given


def _truncate(file: ContextFile, part: int) -> ContextFile:
    """Keep the beginning of a file, up to a line end if one is near."""
    text = file.text or ""
    if len(text) <= part:
        return file
    beginning = text[:part]
    line_end = beginning.rfind("\n")
    return replace(file, text=beginning[:line_end] if line_end > part // 2 else beginning, full_length=len(text))


# --- text -------------------------------------------------------------------------------------------------------------


def _text(context: SessionContext, prefix: str, files: tuple[ContextFile, ...]) -> str:
    headings = {
        CORE: "Core memory files loaded automatically:",
        ROLE: f"For the role {context.role}:",
        MODE: f"For the mode {context.mode}:",
    }
    blocks = [messages.format_message(prefix, messages.INFO, messages.CONTEXT_LOADED)]
    included = [file for file in files if file.text is not None]
    for kind, heading in headings.items():
        names = [f"- {file.label}" for file in included if file.kind == kind]
        blocks += ["\n".join([heading, *names])] if names else []
    blocks += _missing([file for file in files if file.text is None])
    blocks.append("Full content follows:")
    blocks += [f"## {file.label}\n{(file.text or '').strip()}" for file in included]
    return "\n\n".join(blocks)


def _missing(files: list[ContextFile]) -> list[str]:
    if not files:
        return []
    names = [f"- {file.name}: {file.missing_reason}" for file in files[:MAX_MISSING_LISTED]]
    more = [f"- and {len(files) - MAX_MISSING_LISTED} more"] if len(files) > MAX_MISSING_LISTED else []
    return ["\n".join(["Not loaded:", *names, *more])]
