"""Intent of an agent's last message, measured on a labelled corpus and on known difficult cases.

The corpus is `intent_corpus.jsonl`. Its labels say how a person understands each text, and were set before any score.
Its `held_out` part was not scored while the phrase tables were written. It has the same author as the tables, so expect
lower scores on new texts: of its last 45, written when the tables were finished, 38 are detected as labelled (15 of 19
questions, all 16 completions, 7 of 10 ends of task).
"""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel.intent import Detection, detect_intent
from claude_headspace.kernel.state_machine import Intent

CORPUS = [
    json.loads(line)
    for line in Path(__file__).with_name("intent_corpus.jsonl").read_text(encoding="utf-8").splitlines()
]
INTENTS = (Intent.QUESTION, Intent.COMPLETION, Intent.END_OF_TASK)

# Minimum precision and recall, slightly below the measured values: 1.0 on the known texts; on the held-out ones
# 0.975 and 0.951 for questions, 0.903 and 0.982 for completions, 1.0 and 0.921 for ends of task.
FLOORS = {
    "dev": {Intent.QUESTION: 0.98, Intent.COMPLETION: 0.98, Intent.END_OF_TASK: 0.98},
    "held_out": {Intent.QUESTION: 0.93, Intent.COMPLETION: 0.88, Intent.END_OF_TASK: 0.9},
}


def scores(split: str) -> dict[Intent, tuple[float, float]]:
    """Precision and recall of each intent over one split of the corpus."""
    pairs = Counter(
        (Intent(row["intent"]), detect_intent(row["text"]).intent) for row in CORPUS if row["split"] == split
    )
    result: dict[Intent, tuple[float, float]] = {}
    for intent in INTENTS:
        detected = sum(count for (_, detection), count in pairs.items() if detection is intent)
        labelled = sum(count for (label, _), count in pairs.items() if label is intent)
        result[intent] = (pairs[intent, intent] / detected, pairs[intent, intent] / labelled)
    return result


def test_corpus_is_large_and_varied() -> None:
    """The corpus has more than 200 different texts, a dozen languages, all labels, and a held-out split."""
    assert len({row["text"] for row in CORPUS}) == len(CORPUS) > 200
    assert len({row["lang"] for row in CORPUS}) >= 12
    for split in FLOORS:
        assert {row["intent"] for row in CORPUS if row["split"] == split} == set(INTENTS)
    assert sum(row["split"] == "held_out" for row in CORPUS) >= 0.25 * len(CORPUS)


@pytest.mark.parametrize("split", FLOORS)
def test_precision_and_recall(split: str) -> None:
    """Precision and recall of every intent reach their minimum, on known and on held-out texts."""
    for intent, (precision, recall) in scores(split).items():
        print(f"{split:8} {intent:11} precision {precision:.3f} recall {recall:.3f}")  # noqa: T201 - the scores are published
        assert min(precision, recall) >= FLOORS[split][intent], (intent, precision, recall)


@pytest.mark.parametrize(
    "text",
    [
        "Tell me which approach you prefer and I will continue",
        "Let me know which one you want before I start",
        "Please confirm",
        "Waiting for your decision",
        "I need your API key before I can go on.",
        "Which one?\n\n- the first\n- the second\n- neither",
        "1. Which port?\n2. Which host?\n\nThen I can start.",
        "Should I use A or B? I'd take B.",
        "Should I run this?\n\n```sh\nmake clean\n```",
        "Shall I go on?\n\n    make clean\n",
        "Do you want this?\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        "**Should I continue?**",
        "Should I continue? 🙂",
        "Should I continue?!?",
        "Should I merge (after the tests, of course)?",
        "Step 1 is done. Shall I start with step 2?",
        "Everything works locally. Should I deploy it?",
    ],
)
def test_what_needs_the_user_is_a_question(text: str) -> None:
    """Asked or implied, whatever follows it."""
    assert detect_intent(text).intent is Intent.QUESTION


@pytest.mark.parametrize(
    "text",
    [
        "进行下一步吗？",
        "可以删除这个文件吗",
        "你想用哪一个呢",
        "このまま進めてもよろしいでしょうか",
        "どちらにしますか。",
        "계속 진행할까요",
        "هل أتابع؟",
        "Να συνεχίσω;",
        "¿Sigo?",
        "Soll ich weitermachen?",
        "Sag mir, welche Variante ich nehmen soll.",
        "Dites-moi laquelle vous préférez.",
        "Dime cuál prefieres.",
        "Me diga qual você prefere.",
        "Dimmi quale preferisci.",
        "Скажите, какой вариант выбрать.",
        "Daj znać, którą wersję wybrać.",
        "Hangisini tercih ettiğinizi bildirin.",
        "Laat me weten welke je wilt.",
    ],
)
def test_questions_in_other_languages(text: str) -> None:
    """Questions are detected in other languages and scripts, also without a question mark."""
    assert detect_intent(text).intent is Intent.QUESTION


@pytest.mark.parametrize(
    "text",
    [
        "Let me know if you have questions.",
        "The details are at https://example.com/faq?",
        "Read [What is it?](https://example.com/what?) first.",
        "The query is `SELECT ?`",
        "It is built like this:\n\n```py\ninput('Continue? ')\n```",
        "It is built like this:\n\n    input('Continue?')",
        "| Is it fast? |\n|---|\n| Is it safe? |",
        "> Why does it fail?\n\nThe disk was full.",
        "The dialog says “Delete it?” now.",
        "The user asked why?",
        "Why does it fail? Because the disk is full.",
        "Is it a leak? The numbers say no, memory stays flat over the whole day.",
        "Why is it slow?\n\n- no index\n- no cache",
        "### Why is it slow?\n\nThe query has no index.",
        "Hello! How can I help you today?",
        "The line must end with a semicolon;",
        "Should the disk fill up, the oldest files go first.",
        "ファイルがあるかどうかを確認しました。",
        "Melde dich gern bei Fragen.",
        "Si tienes dudas, avísame.",
    ],
)
def test_what_only_looks_like_a_question_is_a_completion(text: str) -> None:
    """Links, code, quotes, tables, reported and rhetorical questions, and polite closings."""
    assert detect_intent(text).intent is Intent.COMPLETION


@pytest.mark.parametrize(
    "text",
    [
        "All done. Summary:\n\n- one\n- two",
        "The task is complete.",
        "All done! Is there anything else?",
        "The work is finished. Would you like me to add documentation as well?",
        "Everything is implemented. Let me know if you have any questions!",
        "Done. The page is at http://localhost:3000/?",
        "Fertig. Soll ich noch die Doku ergänzen?",
        "C'est terminé. Autre chose ?",
        "作業が完了しました。他に何かありますか？",
    ],
)
def test_finished_work_with_an_offer_is_the_end_of_the_task(text: str) -> None:
    """A polite offer after the claim is not a question."""
    assert detect_intent(text).intent is Intent.END_OF_TASK


@pytest.mark.parametrize(
    "text",
    [
        "Not done yet: two tests fail.",
        "Phase 1 is complete, the others are open.",
        "`done()` is called when the task is complete.",
        "## Done\n\n- parser\n\n## Open\n\n- printer",
    ],
)
def test_part_of_the_work_is_not_the_end_of_the_task(text: str) -> None:
    """A part, a condition or a section called Done does not claim that the task is finished."""
    assert detect_intent(text).intent is Intent.COMPLETION


@pytest.mark.parametrize("text", ["", " ", "\n\t\n", "```\ncode?\n```", "---", "🎉"])
def test_a_message_without_words_is_an_uncertain_completion(text: str) -> None:
    """Its confidence is low."""
    detection = detect_intent(text)
    assert detection.intent is Intent.COMPLETION
    assert detection.confidence < 0.5


def test_a_question_at_the_end_of_a_huge_message_is_detected() -> None:
    """Only the end decides, however long the message is."""
    assert detect_intent("It compiles. " * 100_000 + "\n\nShould I push it?").intent is Intent.QUESTION
    assert detect_intent("Should I push it?\n\n" + "It compiles. " * 100_000).intent is Intent.COMPLETION


def test_a_claim_at_the_start_of_a_long_report_is_detected() -> None:
    """A report that starts with "All done." is the end of the task, however long it is."""
    report = "".join(f"- `file_{number}.py` uses the new client instead of the old one\n" for number in range(1_000))
    assert detect_intent(f"All done. What changed:\n\n{report}").intent is Intent.END_OF_TASK


@pytest.mark.parametrize(
    "unit",
    [
        *(" ", "`", "```\n", "~~~", "?", "? ", "[", "]", "(", "[a](", "'a ", '"', "\ud800", "\x00", "\n", "a\n", "a. "),
        *("> ", "|", "#", "- a?\n", "1. ", "**a** ", "http://", "let me know if ", "i need you ", "all ", "你", "α; "),
    ],
)
def test_hostile_texts_give_an_intent(unit: str) -> None:
    """A million characters of any unit are processed."""
    detection = detect_intent(unit * (1_000_000 // len(unit)))
    assert detection.intent in INTENTS


@given(st.text(alphabet=st.characters(codec=None)))
def test_any_text_gives_a_detection(text: str) -> None:
    """Any text, also with lone surrogates, gives an intent, a confidence and a reason."""
    detection = detect_intent(text)
    assert isinstance(detection, Detection)
    assert detection.intent in INTENTS
    assert 0 < detection.confidence <= 1
    assert detection.reason


@given(st.lists(st.sampled_from([*"`~?;:.!()[]{}'\"«»>|#*-_ \n\t", "a", "Done.", "Should I", "1.", "吗", "http://"])))
def test_any_markup_gives_a_detection(pieces: list[str]) -> None:
    """Also broken markup."""
    assert detect_intent("".join(pieces)).intent in INTENTS


@given(
    st.sampled_from([row["text"] for row in CORPUS]),
    st.text(alphabet=st.characters(exclude_characters="`~", codec="utf-8")),
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "python", "diff"]),
)
def test_code_blocks_never_change_the_detection(text: str, code: str, fence: str, language: str) -> None:
    """A fenced block before or after a message is ignored."""
    block = f"{fence}{language}\n{code}\n{fence}"
    expected = detect_intent(text)
    assert detect_intent(f"{text}\n\n{block}\n") == expected
    assert detect_intent(f"{block}\n\n{text}") == expected


@pytest.mark.parametrize("text", ["Should I apply this?", "All done.", "The cause is a missing index."])
def test_long_code_never_changes_the_detection(text: str) -> None:
    """A block longer than the part that is read is ignored too."""
    block = "```diff\n" + "+ Should I stop? Done.\n" * 3_000 + "```"
    assert detect_intent(f"{text}\n\n{block}").intent is detect_intent(text).intent
    assert detect_intent(f"{block}\n\n{text}").intent is detect_intent(text).intent


def test_the_reason_names_the_phrase() -> None:
    """The reason is a text for people."""
    assert detect_intent("Please confirm.").reason == "asks the user: “please confirm”"
