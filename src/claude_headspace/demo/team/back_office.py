"""Who works on billing and the handbook. Data only."""

from claude_headspace.demo.steps import Compacts, Done, Escapes, Life, Plan, Prompt, Rests, Says
from claude_headspace.demo.team.props import (
    HAIKU,
    MINUTES,
    OPUS,
    SONNET,
    bash,
    chapter,
    edit,
    grep,
    passed,
    read,
    write,
)

BACK_OFFICE = (
    Life(
        name="calm-otter",
        project="billing",
        branch="fix/vat",
        model=OPUS,
        tokens=212_000,
        since=72,
        past=(
            *chapter(
                "VAT is rounded per line; it must be rounded per invoice.",
                grep("round_half_up", "src", 9),
                read("billing/src/invoice.py"),
                edit("billing/src/invoice.py", "sum(line.vat for", "round_half_up(sum(line.net * line.rate for"),
                bash("pytest -q", passed(388, 21.4), 24),
                Done(
                    "Rounding happens once per invoice now, with a test for the case from the ticket.\n\n"
                    "| | before | after |\n|---|---|---|\n| 3 × 0.333 | 1.00 | 1.00 |\n| 7 × 0.145 | 1.05 | 1.02 |"
                ),
                then=100 * MINUTES,
            ),
            *chapter(
                "Compare the last quarter: which invoices would have been different?",
                bash("python -m billing.audit --quarter 2026Q3 --dry-run", "1,204 invoices, 37 differ", 130),
                read("billing/reports/2026Q3.csv"),
                Done("37 of 1,204, by one cent each. The list is in `reports/2026Q3-vat.csv`."),
                then=47 * MINUTES,
            ),
        ),
        loop=(
            Prompt("Write to the 37 customers: a short, friendly draft, nothing is sent."),
            read("billing/reports/2026Q3-vat.csv"),
            write("billing/letters/vat.md", "Dear customer,\n\nwe owe you a cent.\n", 30),
            Done("The draft is in `letters/vat.md`: four sentences, and the cent goes to a good cause if they agree."),
            Rests(8),
            Compacts(64),
            Rests(10),
            Prompt("Now check the credit notes in the same way."),
            grep("CreditNote", "src", 6),
            bash("python -m billing.audit --credit-notes --dry-run", "88 credit notes, 2 differ", 80),
            edit("billing/src/credit.py", "round(", "round_half_up(", 16),
            bash("pytest -q", passed(391, 22.0), 28),
            Done("Two of 88, and both in our favour. Fixed the same way, with a test."),
            Rests(12),
            Compacts(58),
            Rests(15),
        ),
    ),
    Life(
        name="sunny-puffin",
        project="billing",
        branch="invoices-pdf",
        model=SONNET,
        tokens=71_000,
        since=95,
        past=chapter(
            "Why do some PDFs have no logo?",
            bash("ls -la templates/logo*", "logo.png -> ../../web/static/logo.png", 1),
            Done("The logo is a link into the web repository, which is not there on the build machine."),
            then=150 * MINUTES,
        ),
        loop=(
            Prompt("Plan a faster way to make the invoices' PDFs: 40 minutes a night is too long."),
            read("billing/src/pdf.py"),
            bash("python -m cProfile -s cumtime make_pdfs.py | head", "1204 x 1.9 s: launch_browser", 62),
            Says("Each invoice starts a browser of its own. One for all would save most of it."),
            Plan(
                "# PDFs in six minutes\n\n1. One browser, a page for each invoice\n2. Four pages at a time\n"
                "3. Fonts from the disk instead of the network\n\nNothing changes in how they look.",
                waits=300,
            ),
            edit("billing/src/pdf.py", "launch_browser()", "shared_browser()", 28),
            bash("make pdfs", "1204 invoices in 5 min 48 s", 90),
            Done("5 min 48 s instead of 40. I compared 50 of them pixel by pixel: they are the same."),
            Rests(60),
        ),
    ),
    Life(
        name="quick-elk",
        project="docs",
        branch="main",
        model=HAIKU,
        tokens=16_000,
        since=960,
        past=chapter(
            "Check all links in the handbook.",
            bash("lychee handbook/", "214 links, 3 broken", 18),
            edit("docs/handbook/shipping.md", "/help/returns", "/returns", 3),
            Escapes(),
            Rests(9 * MINUTES),
            Prompt("Only fix the ones in the shipping chapter."),
            edit("docs/handbook/shipping.md", "/faq", "/help", 3),
            Done("Three links in `shipping.md` lead somewhere again."),
            then=10 * MINUTES,
        ),
        loop=(
            Prompt("Fix the typos in the tutorial."),
            edit("docs/tutorial.md", "recieve", "receive", 4),
            edit("docs/tutorial.md", "seperate", "separate", 4),
            Done("Fixed 7 typos in `tutorial.md`. Nothing else changed."),
            Rests(34 * MINUTES),
        ),
    ),
)
