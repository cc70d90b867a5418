"""Large request bodies are parsed in another thread, so that they don't block the event loop."""

from __future__ import annotations

import asyncio
import threading

from bot.offload import offload_click_parsing, offload_parsing, offload_work, set_token


def where(body: bytes) -> threading.Thread:
    return threading.current_thread()


async def test_a_body_of_many_values_is_read_beside_the_loop() -> None:
    """Given 42 KiB with 20,000 values, which took 30 ms on the loop; a click's body stays on it."""
    here = threading.current_thread()
    assert await offload_parsing(b"[" + b"[]," * 14_000 + b"[]]", where) is not here
    assert await offload_parsing(b"x" * 10_000, where) is here


async def test_a_click_waits_for_no_agent_and_tokens_take_turns() -> None:
    """Given a token whose work takes the agents' thread; then a click is read at once, and another token's
    work comes before the second one of the first."""
    begun, go_on = threading.Event(), threading.Event()
    order: list[str] = []

    async def work_of(token: str, name: str) -> None:
        set_token(token)
        await offload_work(lambda: order.append(name))

    def long_work() -> None:
        begun.set()
        assert go_on.wait(30)

    async def hold(token: str) -> None:
        set_token(token)
        await offload_work(long_work)

    tasks = [asyncio.create_task(hold("greedy"))]
    while not begun.is_set():
        await asyncio.sleep(0)
    tasks += [asyncio.create_task(work_of("greedy", f"greedy {n}")) for n in range(3)]
    tasks.append(asyncio.create_task(work_of("other", "other")))
    try:
        async with asyncio.timeout(20):
            click = await offload_click_parsing(b"x" * 20_000, where)
    finally:
        go_on.set()
    await asyncio.gather(*tasks)
    assert click is not threading.current_thread()
    assert order.index("other") <= 1
