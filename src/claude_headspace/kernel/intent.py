"""What the last message of an agent's turn means: does it need the human, is the task finished, or just the turn?

A pure reading of the text: it calls no model, no network and no clock, and never raises. It reads the end of the
message, and of the rest only the opening, where agents like to say that they are done.

Rules
- QUESTION: the agent needs an answer, a decision or an act of the human before it can go on, asked or implied.
- END_OF_TASK: it says that the whole task is finished ("All done.", "ready to merge"), or sums up what was changed.
- COMPLETION: everything else: an answer, a part of the work, a failure. Text without words is one, with low confidence.
- Not read: code (fenced, indented, inline), block quotes, quoted words, links, tables, brackets inside a sentence.
- An offer ("Want me to add tests?") is a QUESTION while the work is open, and manners once it is said to be finished;
  "Should I …?" always wants its answer, and "Anything else?" never does.
- A question that the agent answers itself, or that it tells of somebody else, is none. One that is put to the human
  stays open over a list of options and a few sentences of advice.
- Whatever the size of the text, a bounded tail and a bounded opening are read, in time linear in their length.
"""

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import islice

import msgspec

from claude_headspace.kernel import intent_phrases as phrases
from claude_headspace.kernel.phrases import IndexedSentence, index_sentence
from claude_headspace.kernel.state_machine import Intent

# The bounds of what is read, in characters, lines and sentences: a tenth of a millisecond for a usual message, under
# two for the worst. Questions, claims and lists of options of real sessions lie well inside them.
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
# The same for texts in ASCII alone, five times as fast: it begins at a space instead of looking at every character.
_ASCII_SENTENCE_END = re.compile(r"\s(?:(?<=[?!]\s)|(?<=\.\s)\s*(?![a-z]))")
_NORMALIZED_MARKS = str.maketrans(
    {"？": "?", "؟": "?", "\u037e": "?", "！": "!", "’": "'", "：": ":", "｡": "。", "*": None}
)

# What is not read, each left as one plain word so that the sentence around it stays whole. The first column is a cheap
# sign: without any of these characters there is nothing to look for.
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
    """What a message means, how sure that is (0 to 1), and the rule that says so, in plain words."""

    intent: Intent
    confidence: float
    reason: str


class _LineKind(Enum):
    PROSE = "prose"
    ITEM = "item"
    HEADING = "heading"


class _Line(msgspec.Struct, frozen=True):
    """A line that is read; lines of one list item share a block."""

    text: str
    kind: _LineKind
    block: int


class _Sentence(msgspec.Struct, frozen=True):
    """A sentence, what kind of line it is from, whether it ends as a question or leads over to what follows."""

    words: IndexedSentence
    kind: _LineKind
    block: int
    has_question_mark: bool
    ends_with_colon: bool


def detect_intent(text: str) -> Detection:
    """Say what the last message of an agent's turn means."""
    text = _strip_last_code_block(text)
    cut = len(text) > _MAX_CHARACTERS or text.count("\n") >= _MAX_LINES
    lines = _readable_lines(text[-_MAX_CHARACTERS:], cut)
    sentences = _last_sentences(_closing_lines(lines))
    if not sentences:
        return Detection(Intent.COMPLETION, 0.2, "there are no words to read")
    if not cut and len(sentences) < _MAX_SENTENCES:
        opening = sentences[:_MAX_OPENING_SENTENCES]
    else:
        head = (_readable_lines(text[:_MAX_OPENING_CHARACTERS], False) if cut else []) or lines
        opening = _first_sentences(_join_wrapped_lines(head[:_MAX_OPENING_SENTENCES]))
    claim = _find_finished_claim(opening, sentences)
    return _find_question(sentences, claim is not None) or claim or _completion(sentences)


# ---- from text to lines that are read


def _strip_last_code_block(text: str) -> str:
    """Cut a fenced block off the end, since it may be longer than the tail that is read."""
    end = text[-_MAX_CHARACTERS:].rstrip()
    if end[end.rfind("\n") + 1 :].strip() not in ("```", "~~~"):
        return text
    start = text.rfind("\n" + end[-3:], max(0, len(text) - _MAX_CODE_CHARACTERS), text.rfind(end[-3:]) - 1)
    return text[:start] if start >= 0 else text


def _readable_lines(text: str, is_cut: bool) -> list[_Line]:
    """Sort out the lines that are neither code, nor quotes, nor tables."""
    found: list[_Line] = []
    after_blank, in_code = True, False
    for line in _outside_fences(text.splitlines()[-_MAX_LINES:], is_cut):
        stripped = line.strip()
        in_list = bool(found) and found[-1].kind is _LineKind.ITEM
        in_code = bool(stripped) and _is_indented(line, 4) and (in_code or after_blank) and not in_list
        after_blank = not stripped
        if stripped and not in_code and stripped[0] not in ">|":
            found.append(_classify_line(line, stripped, found, in_list))
    return found


def _outside_fences(raw: Sequence[str], is_cut: bool) -> Iterator[str]:
    """Leave out fenced code; a blank line stands in for it."""
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
    """Guess whether a text without its beginning begins inside a fence: its first marker then closes one."""
    markers = [line.strip() for line in raw if _FENCE.match(line.lstrip())]
    return len(markers) % 2 == 1 and not markers[0].strip("`~")


def _is_indented(line: str, width: int) -> bool:
    return line.startswith((" " * width, "\t"))


def _classify_line(line: str, stripped: str, before: Sequence[_Line], in_list: bool) -> _Line:
    """Tell list items, with the lines that belong to them, from headings and prose."""
    block = before[-1].block if before else 0
    if item := _ITEM.match(line):
        return _Line(line[item.end() :].strip(), _LineKind.ITEM, block + 1)
    if in_list and _is_indented(line, 2):
        return _Line(stripped, _LineKind.ITEM, block)
    kind = _LineKind.HEADING if _HEADING.match(stripped) else _LineKind.PROSE
    return _Line(stripped.lstrip("# "), kind, block + 1)


def _closing_lines(lines: Sequence[_Line]) -> list[_Line]:
    """Keep the last lines, as many as the tail may have characters."""
    room, kept = _MAX_CLOSING_CHARACTERS, list[_Line]()
    for line in reversed(lines):
        kept.append(msgspec.structs.replace(line, text=line.text[-room:]))
        room -= len(line.text)
        if room <= 0:
            break
    return _join_wrapped_lines(kept[::-1])


def _join_wrapped_lines(lines: Sequence[_Line]) -> list[_Line]:
    """Put prose together that was wrapped at a column."""
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


# ---- from lines to sentences


def _last_sentences(lines: Sequence[_Line]) -> list[_Sentence]:
    backwards = (
        found
        for line in reversed(lines)
        for part in reversed(_split_sentences(line))
        if (found := _parse_sentence(part, line))
    )
    return list(islice(backwards, _MAX_SENTENCES))[::-1]


def _first_sentences(lines: Sequence[_Line]) -> list[_Sentence]:
    forwards = (found for line in lines for part in _split_sentences(line) if (found := _parse_sentence(part, line)))
    return list(islice(forwards, _MAX_OPENING_SENTENCES))


def _split_sentences(line: _Line) -> list[str]:
    text = _clean(line.text)
    return (_ASCII_SENTENCE_END if text.isascii() else _SENTENCE_END).split(text)


def _clean(text: str) -> str:
    """Take out what is not read and spell the marks one way."""
    for signs, pattern, stand_in in _IGNORED:
        if any(map(text.__contains__, signs)):
            text = pattern.sub(stand_in, text)
    if not text.isascii() and _GREEK.search(text):
        text = _GREEK_QUESTION.sub("?", text)
    text = text.translate(_NORMALIZED_MARKS)
    return _REPEATED_MARKS.sub(lambda marks: "?" if "?" in marks[0] else "!", text)


def _parse_sentence(text: str, line: _Line) -> _Sentence | None:
    text = text[-_MAX_SENTENCE_CHARACTERS:].rstrip(" \t)]}_")
    words = index_sentence(text)
    return _Sentence(words, line.kind, line.block, text.endswith("?"), text.endswith(":")) if words.keys else None


# ---- from sentences to the verdict


def _find_question(sentences: Sequence[_Sentence], finished: bool) -> Detection | None:
    """Go back from the end to the first need of the human, over lists, manners and a few statements."""
    statements = 0
    for index in range(len(sentences) - 1, -1, -1):
        need = _classify_sentence(sentences, index, finished)
        if need is not None:
            return msgspec.structs.replace(need, confidence=round(need.confidence - 0.05 * statements, 2))
        statements += _count_as_statement(sentences[index])
        if statements > _MAX_STATEMENTS_AFTER_QUESTION or _finished_phrase(sentences[index]):
            return None
    return None


def _classify_sentence(sentences: Sequence[_Sentence], index: int, finished: bool) -> Detection | None:
    """Read one sentence: a request, an offer or a question, if it is any."""
    sentence = sentences[index]
    if phrase := phrases.REQUESTS.find(sentence.words):
        return Detection(Intent.QUESTION, 0.9, f"asks the human for something: “{phrase}”")
    if _is_polite(sentence):
        return None
    if phrase := phrases.OFFERS.find(sentence.words):
        return None if finished else Detection(Intent.QUESTION, 0.85, f"offers to go on and waits: “{phrase}”")
    if not _is_question(sentence) or phrases.REPORTED_QUESTIONS.find(sentence.words) or _is_answered(sentences, index):
        return None
    return Detection(Intent.QUESTION, 0.95, "asks a question that nothing after it answers")


def _is_polite(sentence: _Sentence) -> bool:
    return bool(phrases.POLITE_CLOSINGS.find(sentence.words) or phrases.POLITE_QUESTIONS.find(sentence.words))


def _is_question(sentence: _Sentence) -> bool:
    return sentence.has_question_mark or bool(phrases.UNMARKED_QUESTIONS.find(sentence.words))


def _is_answered(sentences: Sequence[_Sentence], index: int) -> bool:
    """Judge by what comes next whether the agent answers its own question."""
    question = sentences[index]
    is_direct = bool(phrases.DIRECT_QUESTIONS.find(question.words))
    explains = not is_direct and bool(phrases.RHETORICAL_QUESTIONS.find(question.words))
    follower = _next_statement(sentences, index, over_options=not explains)
    if follower is None:
        return False
    if question.kind is _LineKind.HEADING or phrases.ANSWERS.find(follower.words):
        return True
    return not (is_direct or phrases.STILL_OPEN.find(follower.words))


def _next_statement(sentences: Sequence[_Sentence], index: int, over_options: bool) -> _Sentence | None:
    """Find the statement after a sentence, over more questions, manners and, if wished, the options that it lists."""
    block = sentences[index].block
    for later in sentences[index + 1 :]:
        is_option = later.kind is _LineKind.ITEM and later.block != block
        if not ((is_option and over_options) or later.ends_with_colon or _is_question(later) or _is_polite(later)):
            return later
    return None


def _count_as_statement(sentence: _Sentence) -> int:
    """Count how far a sentence takes what stands before it away from the end."""
    if sentence.kind is _LineKind.HEADING:
        return 2
    return int(not (sentence.kind is _LineKind.ITEM or sentence.ends_with_colon or _is_polite(sentence)))


def _find_finished_claim(opening: Sequence[_Sentence], sentences: Sequence[_Sentence]) -> Detection | None:
    """Find the words by which the agent says that the task is finished."""
    for sentence in (*reversed(sentences[-_MAX_CLAIM_SENTENCES:]), *opening):
        if phrase := _finished_phrase(sentence):
            return Detection(Intent.END_OF_TASK, 0.9, f"says that the work is finished: “{phrase}”")
    hints = {hint for sentence in sentences if (hint := phrases.SUMMARY_HINTS.find(sentence.words))}
    if len(hints) > 1:
        return Detection(Intent.END_OF_TASK, 0.7, f"sums up finished work: “{'”, “'.join(sorted(hints))}”")
    return None


def _finished_phrase(sentence: _Sentence) -> str:
    is_label = sentence.kind is _LineKind.HEADING and len(sentence.words.keys) == 1
    if is_label or sentence.has_question_mark or phrases.CLAIM_EXCEPTIONS.find(sentence.words):
        return ""
    return phrases.FINISHED_CLAIMS.find(sentence.words)


def _completion(sentences: Sequence[_Sentence]) -> Detection:
    if _is_polite(sentences[-1]):
        return Detection(Intent.COMPLETION, 0.75, "ends with kind words that need no answer")
    return Detection(Intent.COMPLETION, 0.65, "neither needs an answer nor says that the task is finished")
