"""Jobs run in one thread. One that hangs is abandoned."""

import asyncio
import threading

import pytest

from claude_headspace.inputs.policy.analysis_thread import MAX_ABANDONED, AnalysisThread


def test_results_and_errors_are_returned() -> None:
    """The caller gets the result of its job, or its error."""

    async def run() -> None:
        thread = AnalysisThread()
        assert await thread.run(lambda: 7, 5) == 7
        with pytest.raises(ZeroDivisionError):
            await thread.run(lambda: 1 // 0, 5)
        thread.close()

    asyncio.run(run())


def test_hanging_job_is_abandoned() -> None:
    """It times out, and the next job runs in another thread. Too many hanging threads fail at once."""
    release = threading.Event()

    async def run() -> None:
        thread = AnalysisThread()
        for _ in range(MAX_ABANDONED):
            assert await thread.run(lambda: 7, 5) == 7
            with pytest.raises(TimeoutError):
                await thread.run(release.wait, 0.01)
        with pytest.raises(TimeoutError):
            await thread.run(lambda: 7, 5)
        thread.close()

    try:
        asyncio.run(run())
    finally:
        release.set()
