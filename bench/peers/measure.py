"""Many discussions or runs at once in one process, and what they cost.

The peers get the best conditions that their usual client allows: a connection for
each discussion, no limit of time on a request, and few discussions to a client,
because a client looks through all its connections for each request: with one for
1,000 discussions, they took almost three times the processor time.
"""

import argparse
import asyncio
import functools
import json
import os
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx2

TOPIC = "Should we split our billing system into services, or keep it whole for another year?"
PARTICIPANTS = {
    "ann": "You say what speaks for a proposal, and what it would take.",
    "bob": "You look for what could go wrong, and say so plainly.",
}
CHAIR = "You lead a discussion. You choose who speaks next and what they are asked."
SYNTHESIS = "The discussion is over. Write what was agreed, what was not, and what to do."
TURNS = 5
DISCUSSIONS_PER_CLIENT = 50
# The scripted server wants no key; the client does.
KEY = "none"

Made = TypeVar("Made")


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--url", required=True, help="where the scripted model server is")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600, help="after which it gives up")
    parser.add_argument("--conclusion", required=True, help="words of the right conclusion")
    parser.add_argument("--stream", action="store_true", help="answers come token by token")
    return parser


def shared(make: Callable[[httpx2.AsyncClient], Made]) -> Callable[[int], Made]:
    """What `make` makes of a client, for the nth discussion and its neighbours."""
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)

    @functools.cache
    def made(_group: int) -> Made:
        return make(httpx2.AsyncClient(limits=limits, timeout=None, trust_env=False))

    return lambda nth: made(nth // DISCUSSIONS_PER_CLIENT)


async def measure(given: argparse.Namespace, hold: Callable[[int], Awaitable[str]]) -> None:
    """Holds all at once and prints what came of it, as one line of JSON.

    `hold` returns the conclusion of a discussion. What is imported and made before
    is not counted, only what it holds in memory.
    """
    before_kb = status_kb("VmRSS")
    start, cpu = time.monotonic(), time.process_time()
    seconds: list[float] = []
    problems: list[str] = []

    async def one(nth: int) -> None:
        began = time.monotonic()
        try:
            conclusion = await hold(nth)
        except Exception as problem:
            problems.append(repr(problem))
            return
        if given.conclusion in conclusion:
            seconds.append(time.monotonic() - began)
        else:
            problems.append(f"a wrong conclusion: {conclusion[:200]!r}")

    tasks = [asyncio.create_task(one(nth)) for nth in range(given.at_once)]
    _, unfinished = await asyncio.wait(tasks, timeout=given.seconds)
    figures = {
        "seconds": seconds,
        "unfinished": len(unfinished),
        "problems": len(problems),
        "firstProblem": problems[0] if problems else None,
        "wallSeconds": time.monotonic() - start,
        "cpuSeconds": time.process_time() - cpu,
        "beforeKb": before_kb,
        "peakKb": status_kb("VmHWM"),
    }
    print(json.dumps(figures), flush=True)
    if unfinished:
        # Whatever still runs is not waited for.
        os._exit(0)


def status_kb(name: str) -> int:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
    raise RuntimeError(f"/proc does not tell {name}")
