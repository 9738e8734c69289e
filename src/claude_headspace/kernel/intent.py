"""Detect what the last message of an agent's turn means: a question, the end of the task, or the end of the turn.

Pure: no model, no network, no clock. Never raises.

Rules
- QUESTION: the agent needs an answer, a decision or an action of the user before it can continue, asked or implied.
- END_OF_TASK: the agent says that the whole task is finished ("All done.", "ready to merge"), or sums up the changes.
- COMPLETION: everything else: an answer, a part of the work, a failure. Text without words is a COMPLETION with low
  confidence.
- The end of the message decides. Of the rest, only the opening is searched for a claim that the task is finished.
- Ignored: code (fenced, indented, inline), block quotes, quoted words, links, tables, parentheses inside a sentence.
- An offer ("Want me to add tests?") is a QUESTION, unless the agent says that the task is finished. "Should I …?" is
  always a QUESTION, "Anything else?" never.
- A question that the agent answers itself, or reports from another person, does not count. A direct question to the
  user stays open when a list of options or a few sentences of advice follow.
- The parts that are read are bounded, and time is linear in their length.
"""

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import islice

import msgspec

from claude_headspace.kernel import intent_phrases as phrases
from claude_headspace.kernel.phrases import IndexedSentence, index_sentence
from claude_headspace.kernel.state_machine import Intent

# Limits in characters, lines and sentences. A usual message takes a tenth of a millisecond, the worst under two.
# Questions, claims and lists of options of real sessions are well within these limits.
_MAX_CHARACTERS = 12_000
_MAX_LINES = 200
_MAX_CODE_CHARACTERS = 200_000
_MAX_CLOSING_CHARACTERS = 4_000
_MAX_OPENING_CHARACTERS = 1_200
_MAX_OPENING_SENTENCES = 3
_MAX_CLAIM_SENTENCES = 4
_MAX_SENTENCE_CHARACTERS = 400
_MAX_SENTENCES = 16
_MAX_STATEMENTS_AFTER_QUESTION = 3
_MIN_WRAPPED_LINE_CHARACTERS = 60

_FENCE = re.compile(r"`{3,}|~{3,}")
_ITEM = re.compile(r"\s{0,12}(?:[-*+•‣◦–]|\(?\d{1,3}[.)、．:]|\(?[A-Za-z][.)])(?:\s+|(?<=[、．]))(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"#{1,6}\s|\*\*[^*.?!。？！]+\*\*:?$")
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")
_GREEK_QUESTION = re.compile(r";(?=\s|$)")
_REPEATED_MARKS = re.compile(r"[?!][?!]+")
_SENTENCE_END = re.compile(r"(?<=[?!])(?=\s)|(?<=[。])|(?<=[\u2e80-\uffef][?!])|(?<=[.…])\s+(?![a-z])")
# The same for ASCII texts, five times as fast: it starts at a space instead of testing every character.
_ASCII_SENTENCE_END = re.compile(r"\s(?:(?<=[?!]\s)|(?<=\.\s)\s*(?![a-z]))")
_NORMALIZED_MARKS = str.maketrans(
    {"？": "?", "؟": "?", "\u037e": "?", "！": "!", "’": "'", "：": ":", "｡": "。", "*": None}
)

# Ignored markup: characters of which one must occur (a cheap test), the pattern, and the replacement. The replacement
# is a plain word, so that the sentence around it stays complete.
_IGNORED = (
    ("`", re.compile(r"(`{1,2})[^`\n]{1,400}\1"), "x"),
    ("[", re.compile(r"!?\[[^\[\]\n]{0,300}\]\([^()\s]{0,600}\)"), "x"),
    ("/.", re.compile(r"(?:https?://|www\.)[^\s<>)\]]+"), "x"),
    ('"“„«', re.compile(r"\"[^\"\n]{1,400}\"|“[^“”\n]{1,400}”|„[^„“”\n]{1,400}[“”]|«[^«»\n]{1,400}»"), "x"),
    (
        "「『《'",
        re.compile(r"「[^「」\n]{1,400}」|『[^『』\n]{1,400}』|《[^《》\n]{1,400}》|(?<!\w)'[^'\n]{1,200}'(?!\w)"),
        "x",
    ),
    ("(（", re.compile(r"(?<=\S)\s*(?:\([^()\n]{0,400}\)|（[^（）\n]{0,400}）)"), ""),
)


class Detection(msgspec.Struct, frozen=True):
    """The intent of a message, the confidence (0 to 1), and the reason in plain words."""

    intent: Intent
    confidence: float
    reason: str


class _LineKind(Enum):
    PROSE = "prose"
    ITEM = "item"
    HEADING = "heading"


class _Line(msgspec.Struct, frozen=True):
    """A line of text. The lines of one list item have the same block number."""

    text: str
    kind: _LineKind
    block: int


class _Sentence(msgspec.Struct, frozen=True):
    """A sentence with the kind and the block of its line."""

    words: IndexedSentence
    kind: _LineKind
    block: int
    has_question_mark: bool
    ends_with_colon: bool


def detect_intent(text: str) -> Detection:
    """Detect the intent of the last message of an agent's turn."""
    text = _strip_last_code_block(text)
    is_cut = len(text) > _MAX_CHARACTERS or text.count("\n") >= _MAX_LINES
    lines = _readable_lines(text[-_MAX_CHARACTERS:], is_cut)
    sentences = _last_sentences(_closing_lines(lines))
    if not sentences:
        return Detection(Intent.COMPLETION, 0.2, "empty message")
    if not is_cut and len(sentences) < _MAX_SENTENCES:
        opening = sentences[:_MAX_OPENING_SENTENCES]
    else:
        head = (_readable_lines(text[:_MAX_OPENING_CHARACTERS], False) if is_cut else []) or lines
        opening = _first_sentences(_join_wrapped_lines(head[:_MAX_OPENING_SENTENCES]))
    claim = _find_finished_claim(opening, sentences)
    return _find_question(sentences, claim is not None) or claim or _completion(sentences)


# --- from text to lines


def _strip_last_code_block(text: str) -> str:
    """Remove a fenced code block at the end. It can be longer than the part that is read."""
    end = text[-_MAX_CHARACTERS:].rstrip()
    if end[end.rfind("\n") + 1 :].strip() not in ("```", "~~~"):
        return text
    start = text.rfind("\n" + end[-3:], max(0, len(text) - _MAX_CODE_CHARACTERS), text.rfind(end[-3:]) - 1)
    return text[:start] if start >= 0 else text


def _readable_lines(text: str, is_cut: bool) -> list[_Line]:
    """The lines that are not code, block quotes or tables."""
    lines: list[_Line] = []
    after_blank, in_code = True, False
    for line in _outside_fences(text.splitlines()[-_MAX_LINES:], is_cut):
        stripped = line.strip()
        in_list = bool(lines) and lines[-1].kind is _LineKind.ITEM
        in_code = bool(stripped) and _is_indented(line, 4) and (in_code or after_blank) and not in_list
        after_blank = not stripped
        if stripped and not in_code and stripped[0] not in ">|":
            lines.append(_classify_line(line, stripped, lines, in_list))
    return lines


def _outside_fences(raw: Sequence[str], is_cut: bool) -> Iterator[str]:
    """The lines outside fenced code; a blank line replaces each code block."""
    fence = "```" if is_cut and _starts_in_fence(raw) else ""
    for line in raw:
        marker = _FENCE.match(line.lstrip())
        if fence:
            closes = marker is not None and marker[0].startswith(fence) and line.strip() == marker[0]
            fence = "" if closes else fence
        elif marker:
            fence = marker[0]
            yield ""
        else:
            yield line


def _starts_in_fence(raw: Sequence[str]) -> bool:
    """Whether a text with a cut beginning starts inside fenced code: then its first marker is a closing one."""
    markers = [line.strip() for line in raw if _FENCE.match(line.lstrip())]
    return len(markers) % 2 == 1 and not markers[0].strip("`~")


def _is_indented(line: str, width: int) -> bool:
    return line.startswith((" " * width, "\t"))


def _classify_line(line: str, stripped: str, before: Sequence[_Line], in_list: bool) -> _Line:
    """Classify a line as list item (or its continuation), heading or prose."""
    block = before[-1].block if before else 0
    if item := _ITEM.match(line):
        return _Line(line[item.end() :].strip(), _LineKind.ITEM, block + 1)
    if in_list and _is_indented(line, 2):
        return _Line(stripped, _LineKind.ITEM, block)
    kind = _LineKind.HEADING if _HEADING.match(stripped) else _LineKind.PROSE
    return _Line(stripped.lstrip("# "), kind, block + 1)


def _closing_lines(lines: Sequence[_Line]) -> list[_Line]:
    """The last lines, up to the limit of characters, with wrapped prose joined."""
    remaining, closing = _MAX_CLOSING_CHARACTERS, list[_Line]()
    for line in reversed(lines):
        closing.append(msgspec.structs.replace(line, text=line.text[-remaining:]))
        remaining -= len(line.text)
        if remaining <= 0:
            break
    return _join_wrapped_lines(closing[::-1])


def _join_wrapped_lines(lines: Sequence[_Line]) -> list[_Line]:
    """Join prose that was wrapped at a column."""
    joined: list[_Line] = []
    for line in lines:
        if joined and line.kind is _LineKind.PROSE and _is_wrapped(joined[-1]):
            joined[-1] = msgspec.structs.replace(joined[-1], text=f"{joined[-1].text} {line.text}")
        else:
            joined.append(line)
    return joined


def _is_wrapped(line: _Line) -> bool:
    return (
        line.kind is _LineKind.PROSE
        and len(line.text) >= _MIN_WRAPPED_LINE_CHARACTERS
        and line.text[-1] not in ".?!:;。？！：；؟"
    )


# --- from lines to sentences


def _last_sentences(lines: Sequence[_Line]) -> list[_Sentence]:
    backwards = (
        sentence
        for line in reversed(lines)
        for part in reversed(_split_sentences(line))
        if (sentence := _parse_sentence(part, line))
    )
    return list(islice(backwards, _MAX_SENTENCES))[::-1]


def _first_sentences(lines: Sequence[_Line]) -> list[_Sentence]:
    forwards = (
        sentence for line in lines for part in _split_sentences(line) if (sentence := _parse_sentence(part, line))
    )
    return list(islice(forwards, _MAX_OPENING_SENTENCES))


def _split_sentences(line: _Line) -> list[str]:
    text = _clean(line.text)
    return (_ASCII_SENTENCE_END if text.isascii() else _SENTENCE_END).split(text)


def _clean(text: str) -> str:
    """Replace ignored markup and normalize punctuation marks."""
    for characters, pattern, replacement in _IGNORED:
        if any(map(text.__contains__, characters)):
            text = pattern.sub(replacement, text)
    if not text.isascii() and _GREEK.search(text):
        text = _GREEK_QUESTION.sub("?", text)
    text = text.translate(_NORMALIZED_MARKS)
    return _REPEATED_MARKS.sub(lambda marks: "?" if "?" in marks[0] else "!", text)


def _parse_sentence(text: str, line: _Line) -> _Sentence | None:
    text = text[-_MAX_SENTENCE_CHARACTERS:].rstrip(" \t)]}_")
    words = index_sentence(text)
    return _Sentence(words, line.kind, line.block, text.endswith("?"), text.endswith(":")) if words.keys else None


# --- from sentences to the intent


def _find_question(sentences: Sequence[_Sentence], finished: bool) -> Detection | None:
    """The last sentence that needs the user. Skips lists, polite phrases and a few statements after it."""
    statements = 0
    for index in range(len(sentences) - 1, -1, -1):
        question = _classify_sentence(sentences, index, finished)
        if question is not None:
            return msgspec.structs.replace(question, confidence=round(question.confidence - 0.05 * statements, 2))
        statements += _count_as_statement(sentences[index])
        if statements > _MAX_STATEMENTS_AFTER_QUESTION or _finished_phrase(sentences[index]):
            return None
    return None


def _classify_sentence(sentences: Sequence[_Sentence], index: int, finished: bool) -> Detection | None:
    """The detection of a sentence that is a request, an offer or an open question; None for others."""
    sentence = sentences[index]
    if phrase := phrases.REQUESTS.find(sentence.words):
        return Detection(Intent.QUESTION, 0.9, f"asks the user: “{phrase}”")
    if _is_polite(sentence):
        return None
    if phrase := phrases.OFFERS.find(sentence.words):
        return None if finished else Detection(Intent.QUESTION, 0.85, f"offers to continue: “{phrase}”")
    if not _is_question(sentence) or phrases.REPORTED_QUESTIONS.find(sentence.words) or _is_answered(sentences, index):
        return None
    return Detection(Intent.QUESTION, 0.95, "ends with a question")


def _is_polite(sentence: _Sentence) -> bool:
    return bool(phrases.POLITE_CLOSINGS.find(sentence.words) or phrases.POLITE_QUESTIONS.find(sentence.words))


def _is_question(sentence: _Sentence) -> bool:
    return sentence.has_question_mark or bool(phrases.UNMARKED_QUESTIONS.find(sentence.words))


def _is_answered(sentences: Sequence[_Sentence], index: int) -> bool:
    """Whether the agent answers its own question, judged by the next statement."""
    question = sentences[index]
    is_direct = bool(phrases.DIRECT_QUESTIONS.find(question.words))
    is_rhetorical = not is_direct and bool(phrases.RHETORICAL_QUESTIONS.find(question.words))
    statement = _next_statement(sentences, index, skip_options=not is_rhetorical)
    if statement is None:
        return False
    if question.kind is _LineKind.HEADING or phrases.ANSWERS.find(statement.words):
        return True
    return not (is_direct or phrases.STILL_OPEN.find(statement.words))


def _next_statement(sentences: Sequence[_Sentence], index: int, skip_options: bool) -> _Sentence | None:
    """The first statement after a sentence. Skips questions, polite phrases and, if wanted, listed options."""
    block = sentences[index].block
    for later in sentences[index + 1 :]:
        is_option = later.kind is _LineKind.ITEM and later.block != block
        if not ((is_option and skip_options) or later.ends_with_colon or _is_question(later) or _is_polite(later)):
            return later
    return None


def _count_as_statement(sentence: _Sentence) -> int:
    """How many statements a sentence counts as, for the distance of a question from the end."""
    if sentence.kind is _LineKind.HEADING:
        return 2
    return int(not (sentence.kind is _LineKind.ITEM or sentence.ends_with_colon or _is_polite(sentence)))


def _find_finished_claim(opening: Sequence[_Sentence], sentences: Sequence[_Sentence]) -> Detection | None:
    """The claim that the task is finished, or two hints of a summary; None without them."""
    for sentence in (*reversed(sentences[-_MAX_CLAIM_SENTENCES:]), *opening):
        if phrase := _finished_phrase(sentence):
            return Detection(Intent.END_OF_TASK, 0.9, f"reports finished work: “{phrase}”")
    hints = {hint for sentence in sentences if (hint := phrases.SUMMARY_HINTS.find(sentence.words))}
    if len(hints) > 1:
        return Detection(Intent.END_OF_TASK, 0.7, f"summarizes finished work: “{'”, “'.join(sorted(hints))}”")
    return None


def _finished_phrase(sentence: _Sentence) -> str:
    """The phrase that says the task is finished; empty if there is none or it is restricted."""
    is_label = sentence.kind is _LineKind.HEADING and len(sentence.words.keys) == 1
    if is_label or sentence.has_question_mark or phrases.CLAIM_EXCEPTIONS.find(sentence.words):
        return ""
    return phrases.FINISHED_CLAIMS.find(sentence.words)


def _completion(sentences: Sequence[_Sentence]) -> Detection:
    if _is_polite(sentences[-1]):
        return Detection(Intent.COMPLETION, 0.75, "closing phrase")
    return Detection(Intent.COMPLETION, 0.65, "no question and no statement that the task is finished")
