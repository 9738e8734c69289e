"""`python -m bench.profiled FILE MODULE [arguments…]`: run a module under cProfile with all its threads.

`python -m cProfile` profiles only the main thread, but the daemon writes in another one. Each thread gets its own
profiler when it starts. At the end they are added up in FILE. Waiting time counts as own time of the function that
waits: the event loop's `run`, a lock's `acquire`.
"""

import cProfile
import pstats
import runpy
import sys
import threading
from types import FrameType


def main(path: str, module: str, arguments: list[str]) -> None:
    """Run the module as the main program, and always write the profile."""
    profiles: list[cProfile.Profile] = []

    def begin(_frame: FrameType | None = None, _event: str = "", _argument: object = None) -> None:
        profile = cProfile.Profile()
        try:
            profile.enable()
        except ValueError:  # since Python 3.12 one profiler covers all threads, and a second one is refused
            return
        profiles.append(profile)

    sys.argv = [module, *arguments]
    threading.setprofile(begin)
    begin()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        profiles[0].disable()
        threading.setprofile(None)
        total = pstats.Stats(profiles[0])
        for profile in profiles[1:]:
            total.add(profile)
        total.dump_stats(path)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
