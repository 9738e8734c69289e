"""Who works on the app. Data only."""

from claude_headspace.demo.steps import Done, Leaves, Life, Permission, Prompt, Question, Rests, Says
from claude_headspace.demo.team.props import HAIKU, MINUTES, OPUS, SONNET, bash, chapter, edit, grep, read, write

MOBILE = (
    Life(
        name="early-finch",
        project="mobile",
        branch="release-4.2",
        model=OPUS,
        tokens=57_000,
        since=70,
        past=chapter(
            "Collect what changed since 4.1 for the release notes.",
            bash("git log --oneline v4.1..HEAD | wc -l", "84", 1),
            bash("git log --format=%s v4.1..HEAD", "Faster start\nGift cards\nFix the back gesture", 2),
            write("mobile/CHANGELOG.md", "## 4.2\n\n- Gift cards\n- Starts in half the time\n"),
            Done("84 commits became nine lines, in the words of people who use the app."),
            then=90 * MINUTES,
        ),
        loop=(
            Prompt("Translate the new screens, then build the release candidate."),
            grep("TODO_TRANSLATE", "lib/l10n", 18),
            edit("mobile/lib/l10n/de.arb", "TODO_TRANSLATE", "Geschenkkarte einlösen", 20),
            edit("mobile/lib/l10n/fr.arb", "TODO_TRANSLATE", "Utiliser une carte cadeau", 24),
            bash("flutter build appbundle --release", "Built build/app.aab (24.1MB)", 85, "Build the candidate"),
            Question(
                "Who should get the release candidate first?",
                "Rollout",
                (
                    ("Our own team", "40 people, today."),
                    ("Testers", "1,200 people, from tomorrow on."),
                    ("Five percent", "Everybody, slowly; no way back for them."),
                ),
                waits=240,
            ),
            bash("fastlane candidate", "Uploaded 4.2.0-rc1", 30),
            Done("4.2.0-rc1 is on its way: {answer}."),
            Rests(30),
        ),
    ),
    Life(
        name="swift-hawk",
        project="mobile",
        branch="offline-cart",
        model=SONNET,
        tokens=94_000,
        since=20,
        past=chapter(
            "Read how the cart is stored and tell me what breaks offline.",
            read("mobile/lib/cart/repository.dart"),
            grep("await http", "lib/cart", 6),
            Done("Six calls wait for the network. Without it the cart is empty, although its items are on the disk."),
            then=120 * MINUTES,
        ),
        loop=(
            Prompt("Keep the cart when the network is gone."),
            read("mobile/lib/cart/repository.dart"),
            edit("mobile/lib/cart/repository.dart", "await http.get", "await cached(http.get", 35),
            bash("flutter test test/cart", "00:14 +37: All tests passed!", 48),
            Says("The tests pass. To see it on a device I need the emulator."),
            Permission(bash("adb emu network status", "OK", 6, "Look at the emulator's network"), waits=200),
            edit("mobile/lib/cart/sync.dart", "retry: 0", "retry: 5", 25),
            bash("flutter test", "00:41 +212: All tests passed!", 70),
            Done("The cart survives a flight to Lisbon. It sends what changed as soon as the network is back."),
            Rests(25),
        ),
    ),
    Life(
        name="merry-wren",
        project="mobile",
        branch="main",
        model=HAIKU,
        tokens=28_000,
        since=100 * MINUTES,
        past=(
            *chapter(
                "Update the dependencies.",
                bash("flutter pub upgrade --major-versions", "Changed 14 constraints", 34),
                bash("flutter test", "00:39 +208: All tests passed!", 45),
                Done("14 packages are up to date; the tests pass."),
                then=6 * MINUTES,
            ),
            Leaves(),
        ),
    ),
)
