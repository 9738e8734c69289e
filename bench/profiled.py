"""`python -m bench.profiled FILE MODULE [arguments…]`: run a module under cProfile with all its threads.

`python -m cProfile` sees the main thread alone, and the daemon writes in another one. Each thread gets a profiler of
its own when it starts; at the end they are added up into FILE. Waiting counts as own time of whatever waits: the event
loop's `run`, a lock's `acquire`.
"""

import cProfile
import pstats
import runpy
import sys
import threading
from types import FrameType


def main(path: str, module: str, arguments: list[str]) -> None:
    """Run the module as its own main program, and write the profile however it ends."""
    profiles: list[cProfile.Profile] = []

    def begin(_frame: FrameType | None = None, _event: str = "", _argument: object = None) -> None:
        profile = cProfile.Profile()
        try:
            profile.enable()
        except ValueError:  # from Python 3.12 on one profiler sees every thread, and a second one is refused
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
        whole = pstats.Stats(profiles[0])
        for profile in profiles[1:]:
            whole.add(profile)
        whole.dump_stats(path)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
