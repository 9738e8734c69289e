"""The simulated agents of clients besides Claude Code: one each, in the same team. Data only."""

from claude_headspace.clients.simulation import Action, Done, Pause, Permission, Profile, Prompt
from claude_headspace.demo.schedule import ToldScenario

MINUTES = 60.0

OTHER_CLIENTS = (
    ToldScenario(
        "codex",
        Profile("deft-mole", "api", "feat/export", "gpt-5.6", 96_000),
        elapsed=130,
        past=(
            Prompt("Where do we build the CSV export, and why is it slow?"),
            Action("rg -n 'csv.writer' src", "src/export/orders.py:41: writer = csv.writer(buffer)"),
            Action("python -m cProfile -s cumtime scripts/export.py | head", "9.8 s in fetch_customer", 24),
            Done("In `src/export/orders.py`. It reads each customer with a query of its own, 4,100 per export."),
            Pause(48 * MINUTES),
        ),
        loop=(
            Prompt("Read the customers in one query, then try it with last month's orders."),
            Action(
                "src/export/orders.py",
                "Success. Updated the following files:\nM src/export/orders.py",
                14,
                "customer = fetch_customer(order.customer_id)",
                "customer = customers[order.customer_id]",
            ),
            Action("pytest tests/export -q", "38 passed in 3.10s", 12),
            Permission(
                Action("psql orders_copy -f scripts/last_month.sql", "COPY 41213", 20),
                420,
            ),
            Done("The export of last month takes 0.9 s instead of 11. The file is identical."),
            Pause(50),
        ),
    ),
    ToldScenario(
        "opencode",
        Profile("rosy-newt", "docs", "feat/search", "claude-sonnet-5", 64_000),
        elapsed=58,
        past=(
            Prompt("Which pages of the handbook does nobody read?"),
            Action("node scripts/views.mjs --days 90", "faq-2019.md 0\npacking-old.md 2", 8),
            Done("`faq-2019.md` and `packing-old.md`. Both are linked only from each other."),
            Pause(70 * MINUTES),
        ),
        loop=(
            Prompt("Remove both pages, and rebuild the search index."),
            Action("handbook/index.md", "", 9, "- [Old FAQ](faq-2019.md)\n- [FAQ](faq.md)", "- [FAQ](faq.md)"),
            Permission(Action("git rm handbook/faq-2019.md handbook/packing-old.md", "rm 2 files", 3), 260),
            Action("npm run search-index", "212 pages, 1.4 MB", 26),
            Done("Both pages are gone, and the index is 40 KB smaller. No link is broken."),
            Pause(45),
        ),
    ),
    ToldScenario(
        "gemini",
        Profile("lucky-ibis", "web", "feat/pictures", "gemini-2.5-pro", 180_000),
        elapsed=66,
        past=(
            Prompt("How large are the pictures on the start page, all together?"),
            Action("node scripts/page-weight.mjs /", "31 pictures, 6.2 MB", 9),
            Done("6.2 MB in 31 pictures. The first one alone has 840 KB."),
            Pause(83 * MINUTES),
        ),
        loop=(
            Prompt("Serve them as AVIF, in three widths."),
            Action("src/lib/picture.ts", "", 16, 'const TYPES = ["jpg"];', 'const TYPES = ["avif", "jpg"];'),
            Action("npm run pictures", "93 pictures, 1.1 MB", 95),
            Action("npm test -- --watch=false", "Tests: 149 passed, 149 total", 48),
            Done("1.1 MB instead of 6.2. Old browsers still get JPEG."),
            Pause(22),
            Prompt("Do the same for the shop pages."),
            Action("npm run pictures -- --pages shop", "412 pictures, 7.9 MB", 130),
            Done("All shop pages have the new pictures."),
            Pause(20),
        ),
    ),
    ToldScenario(
        "copilot",
        Profile("witty-crane", "infra", "alerts", "gpt-4.1", 40_000),
        elapsed=240,
        past=(
            Prompt("Which alerts fired more than ten times this week?"),
            Action("amtool alert query --since 7d | sort | uniq -c | sort -rn | head", "31 DiskSpaceLow", 5),
            Done("Only DiskSpaceLow, 31 times."),
            Pause(58 * MINUTES),
        ),
        loop=(
            Prompt("Raise its threshold to 10 % and add a forecast."),
            Action(
                "alerts/disk.yml",
                "",
                8,
                "expr: free < 0.15",
                "expr: free < 0.10 or predict_linear(free[6h], 9e4) < 0",
            ),
            Action("promtool check rules alerts/disk.yml", "SUCCESS: 4 rules found", 4),
            Done("It fires below 10 %, or a day before the disk is full. The rules are valid."),
            Pause(12 * MINUTES),
        ),
    ),
)
