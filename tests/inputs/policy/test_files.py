"""Rules from files: what the user may change, what a project may not, and what is said of a broken one."""

import os
from pathlib import Path

import pytest

from claude_headspace.config import Paths
from claude_headspace.errors import BadConfiguration
from claude_headspace.inputs.policy.files import load_built_in_rules, load_rules, load_rules_from, read_project_rules
from claude_headspace.kernel.policy.rules import Rule
from claude_headspace.kernel.policy.verdict import Ruling


def rules_of(places: Paths, text: str, preset: str = "guard") -> dict[str, Rule]:
    """The rules with a file of the user's."""
    places.policy_file.write_text(text, encoding="utf-8")
    return {rule.id: rule for rule in load_rules(places, preset).policy.rules}


def project(tmp_path: Path, text: str) -> str:
    """A project with a file of rules."""
    folder = tmp_path / "shop" / ".headspace"
    folder.mkdir(parents=True)
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    return str(tmp_path / "shop")


def test_without_a_file_the_shipped_rules_hold(places: Paths) -> None:
    """They are the same as those that come with Headspace; the presets differ in how they are meant."""
    assert load_rules(places, "guard").policy == load_built_in_rules(places, "guard").policy
    assert load_rules(places, "strict").policy.strict
    assert load_rules(places, "watch").policy.record_only
    assert load_rules(places, "off").policy.rules == ()


def test_every_shipped_rule_says_why(places: Paths) -> None:
    """A reason for the model, and under `strict` nothing that only asks."""
    policy = load_rules(places, "strict").policy
    assert all(rule.reason for rule in policy.rules)
    assert {policy.get_outcome(rule) for rule in policy.rules} == {Ruling.DENY}


def test_a_rule_is_added(places: Paths) -> None:
    """Under an id of its own it stands beside the others."""
    rules = rules_of(places, '[[rule]]\nid = "deploys"\noutcome = "ask"\ncommands = ["deploy"]\n')
    assert rules["deploys"].outcome is Ruling.ASK
    assert len(rules) == len(load_built_in_rules(places, "guard").policy.rules) + 1


def test_a_shipped_rule_is_changed_by_its_id(places: Paths) -> None:
    """What is given replaces what was; everything else of it stays."""
    rules = rules_of(
        places, '[[rule]]\nid = "become-root"\noutcome = "deny"\n[[rule]]\nid = "fork-bomb"\nenabled = false\n'
    )
    assert (rules["become-root"].outcome, "sudo" in rules["become-root"].commands) == (Ruling.DENY, True)
    assert not rules["fork-bomb"].enabled


def test_own_places_are_filled_in(places: Paths) -> None:
    """The rules about Headspace's own files name where they are."""
    rules = {rule.id: rule for rule in load_rules(places, "guard").policy.rules}
    assert f"{places.config}/**" in rules["own-rules"].changes
    assert rules["own-keys"].reads == (str(places.secret_file),)


def test_what_counts_as_messaging_is_the_users_to_set(places: Paths) -> None:
    """A list in the file replaces the shipped one; the other lists stay."""
    places.policy_file.write_text('[messaging]\nsend = ["mcp__pigeon__fly"]\n', encoding="utf-8")
    messaging = load_rules(places, "guard").messaging
    assert messaging.send == ("mcp__pigeon__fly",)
    assert messaging.draft


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[rule]\n", "policy.toml cannot be used"),
        ('[[rule]]\nid = "x"\ncommands = ["ls"]\n', "rule x: Object missing required field `outcome`"),
        ('[[rule]]\nid = "x"\noutcome = "maybe"\ncommands = ["ls"]\n', "rule x: Invalid enum value 'maybe'"),
        ('[[rule]]\nid = "x"\noutcome = "deny"\ncomands = ["ls"]\n', "unknown field `comands`"),
        ('[[rule]]\nid = "x"\noutcome = "deny"\ncommands = "ls"\n', "Expected `array`"),
        ('[[rule]]\nid = "x"\noutcome = "deny"\n', "rule x would hold for every call"),
        ('[[rule]]\nid = "x"\noutcome = "deny"\nmodes = ["mission"]\n', "rule x would hold for every call"),
        ('[[rule]]\nid = "x"\noutcome = "abstain"\ncommands = ["ls"]\n', "the outcome is deny, ask, warn or allow"),
        ('[[rule]]\nid = "No Spaces"\noutcome = "deny"\ncommands = ["ls"]\n', "No Spaces"),
        ('[[rule]]\nid = "x"\noutcome = "deny"\ntraits = ["bad"]\n', "Invalid enum value 'bad'"),
        ("rules = 1\n", "unknown field `rules`"),
        ('[messaging]\npost = ["x"]\n', "unknown field `post`"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(places: Paths, text: str, problem: str) -> None:
    """The file, the rule, the fault, and where to look it up."""
    places.policy_file.write_text(text, encoding="utf-8")
    with pytest.raises(BadConfiguration) as raised:
        load_rules(places, "guard")
    assert problem in raised.value.message
    assert str(places.policy_file) in raised.value.message
    assert "headspace policy check" in raised.value.hint


def test_contacts_that_cannot_be_read_are_named(places: Paths) -> None:
    """A contact without a name is no contact."""
    places.contacts_file.write_text('[[contact]]\ntags = ["claude_direct"]\n', encoding="utf-8")
    with pytest.raises(BadConfiguration, match=r"contacts\.toml"):
        load_rules(places, "guard")


def contact_rules(places: Paths, preset: str) -> dict[str, bool]:
    """Whether the rules about contacts hold."""
    return {rule.id: rule.enabled for rule in load_rules(places, preset).policy.rules if rule.untagged}


def test_who_never_named_a_contact_is_not_asked_for_any(places: Paths) -> None:
    """Without contacts.toml interactive messages are left to Claude Code; `strict` denies them, workers never send."""
    places.contacts_file.unlink()
    assert set(contact_rules(places, "guard").values()) == {False}
    assert set(contact_rules(places, "strict").values()) == {True}
    rules = {rule.id: rule for rule in load_rules(places, "guard").policy.rules}
    assert rules["messages-only-interactive"].enabled
    places.contacts_file.write_text("", encoding="utf-8")
    assert set(contact_rules(places, "guard").values()) == {True}


def test_contacts_that_cannot_be_read_open_nothing(places: Paths) -> None:
    """The rules that come along hold then as if nobody were named."""
    places.contacts_file.write_text("not toml", encoding="utf-8")
    book = load_built_in_rules(places, "guard")
    assert all(rule.enabled for rule in book.policy.rules if rule.untagged)
    assert book.contacts == ()


def test_a_rule_about_contacts_that_the_user_wrote_holds(places: Paths) -> None:
    """Also where no contact is named."""
    places.contacts_file.unlink()
    places.policy_file.write_text('[[rule]]\nid = "messages-only-to-contacts"\noutcome = "ask"\n', encoding="utf-8")
    assert contact_rules(places, "guard")["messages-only-to-contacts"]


def test_a_file_that_is_asked_for_must_be_there(places: Paths, tmp_path: Path) -> None:
    """A mistyped name is not taken for no rules."""
    with pytest.raises(BadConfiguration, match="there is no such file"):
        load_rules_from(tmp_path / "missing.toml", "guard", places)


def test_a_project_adds_rules_under_names_of_its_own(tmp_path: Path) -> None:
    """They are marked, so that nobody takes them for the user's."""
    root = project(tmp_path, '[[rule]]\nid = "no-push"\noutcome = "deny"\ncommands = ["git"]\narguments = ["push"]\n')
    [rule] = read_project_rules(root)
    assert (rule.id, rule.outcome) == ("project-no-push", Ruling.DENY)
    assert read_project_rules(str(tmp_path / "nowhere")) == ()


@pytest.mark.parametrize(
    "text",
    [
        '[[rule]]\nid = "x"\noutcome = "allow"\ncommands = ["rm"]\n',
        '[[rule]]\nid = "x"\noutcome = "ask"\nstrict = "allow"\ncommands = ["rm"]\n',
        '[[rule]]\nid = "system-delete"\noutcome = "deny"\nenabled = false\ncommands = ["rm"]\n',
        "[messaging]\nsend = []\n",
    ],
)
def test_a_project_cannot_weaken_the_users_rules(tmp_path: Path, text: str) -> None:
    """It cannot allow, replace, switch off, or say what a message is."""
    with pytest.raises(BadConfiguration, match=r"\.headspace/policy\.toml"):
        read_project_rules(project(tmp_path, text))


def test_a_file_that_is_none_makes_nobody_wait(tmp_path: Path) -> None:
    """A pipe in its place is named as unusable, and not waited for."""
    folder = tmp_path / "shop" / ".headspace"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "policy.toml")
    with pytest.raises(BadConfiguration, match="no text file"):
        read_project_rules(str(tmp_path / "shop"))
