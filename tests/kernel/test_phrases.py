"""The notation of phrase tables."""

import pytest

from claude_headspace.kernel.phrases import PhraseTable, index_sentence


@pytest.mark.parametrize(
    ("phrase", "sentence", "expected"),
    [
        ("ok to", "Is it OK to push", "ok to"),
        ("ok to", "We book tours", ""),
        ("{a|b} c", "b c", "b c"),
        ("{very |}good", "it is good", "good"),
        ("tell me … which", "Tell me, please, which one", "tell me … which"),
        ("tell me … which", "Which one? Tell me", ""),
        ("tell … me", "tell me", "tell … me"),
        ("^done", "Well done", ""),
        ("done$", "Well, done!", "done"),
        ("bitte bestätig*", "Bitte bestätigen", "bitte bestätig"),
        ("哪…呢$", "你要哪个呢", "哪…呢"),
        ("en: one; two\n    de: drei|\n        vier", "two", "two"),
    ],
)
def test_notation_of_the_tables(phrase: str, sentence: str, expected: str) -> None:
    """Whole words, choices, gaps, anchors and endings."""
    assert PhraseTable(phrase).find(index_sentence(sentence)) == expected
