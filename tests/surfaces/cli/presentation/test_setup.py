"""The output of `doctor`."""

from claude_headspace.surfaces.cli.presentation.setup import doctor_report


def test_a_long_name_of_a_check_does_not_run_into_its_text() -> None:
    """Components have labels of several words."""
    check = {"name": "mission results", "status": "failed", "detail": "stopped", "hint": ""}
    lines = doctor_report({"places": [{"name": "Headspace", "checks": [check]}]}, 100)
    assert "".join(span.text for span in lines[1]) == "  ✕ mission results stopped"
