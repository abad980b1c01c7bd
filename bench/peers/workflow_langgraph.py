"""The same graphs of steps in LangGraph: five stages of three nodes side by side and one
that joins them, or with `--items N` one graph of eight nodes for each of N items.

With `--checkpoints FILE` each step is on the disk before the next one begins, which
is the counterpart of a durable log; without it everything is in memory.
"""

import argparse
import asyncio
import operator
from contextlib import AsyncExitStack
from typing import Annotated, TypedDict

from httpx2 import AsyncClient
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

import measure

STAGES = 5
MEMBERS = ["a", "b", "c"]
PARALLEL = 16


class State(TypedDict):
    texts: Annotated[dict[str, str], operator.or_]


class Item(TypedDict):
    item: int
    texts: Annotated[dict[str, str], operator.or_]


class Items(TypedDict):
    done: Annotated[list[str], operator.add]


def asks(given: argparse.Namespace, http: AsyncClient):
    def model(name: str) -> ChatOpenAI:
        return ChatOpenAI(
            model=name,
            base_url=f"{given.url}/v1",
            api_key=measure.KEY,
            http_async_client=http,
            timeout=None,
            streaming=given.stream,
        )

    models = {name: model(name) for name in ["member", "joiner"]}

    async def ask(name: str, prompt: str) -> str:
        answer = await models[name].ainvoke([SystemMessage("You answer."), HumanMessage(prompt)])
        return str(answer.content)

    return ask


def many(given: argparse.Namespace, http: AsyncClient) -> StateGraph:
    ask = asks(given, http)
    made = StateGraph(State)

    def node(name: str, model: str, before: list[str]):
        async def run(state: State) -> dict:
            said = " ".join(state["texts"][step] for step in before)
            return {"texts": {name: await ask(model, f"What does {name} say? {said}")}}

        made.add_node(name, run)

    for stage in range(1, STAGES + 1):
        before = [f"d{stage - 1}"] if stage > 1 else []
        members = [f"{member}{stage}" for member in MEMBERS]
        for name in members:
            node(name, "member", before)
            made.add_edge(before[0] if before else START, name)
        node(f"d{stage}", "joiner", members)
        made.add_edge(members, f"d{stage}")
    made.add_edge(f"d{STAGES}", END)
    return made


def long(given: argparse.Namespace, http: AsyncClient) -> StateGraph:
    ask = asks(given, http)
    one = StateGraph(Item)

    async def first(state: Item) -> dict:
        return {"texts": {"first": await ask("member", f"What of {state['item']}?")}}

    def value(name: str, before: str):
        def run(state: Item) -> dict:
            return {"texts": {name: state["texts"][before]}}

        return run

    async def second(state: Item) -> dict:
        return {"texts": {"second": await ask("joiner", f"Join this: {state['texts']['value3']}")}}

    one.add_node("first", first)
    one.add_node("second", second)
    order = ["first", "value1", "value2", "value3", "second", "value4", "value5", "value6"]
    for before, name in zip(order, order[1:]):
        if name.startswith("value"):
            one.add_node(name, value(name, before))
        one.add_edge(before, name)
    one.add_edge(START, "first")
    one.add_edge("value6", END)
    steps = one.compile()

    async def item(state: Item) -> dict:
        ended = await steps.ainvoke({"item": state["item"], "texts": {}})
        return {"done": [ended["texts"]["value6"]]}

    def all_items(_: Items) -> list[Send]:
        return [Send("item", {"item": nth, "texts": {}}) for nth in range(given.items)]

    made = StateGraph(Items)
    made.add_node("item", item)
    made.add_conditional_edges(START, all_items, ["item"])
    made.add_edge("item", END)
    return made


async def main(given: argparse.Namespace) -> None:
    async with AsyncExitStack() as stack:
        saver, durability = None, None
        if given.checkpoints:
            saving = AsyncSqliteSaver.from_conn_string(given.checkpoints)
            saver, durability = await stack.enter_async_context(saving), given.durability
        make = long if given.items else many
        graphs = measure.shared(lambda http: make(given, http).compile(checkpointer=saver))

        async def hold(nth: int) -> str:
            config = {"configurable": {"thread_id": str(nth)}, "recursion_limit": 100}
            if given.items:
                config["max_concurrency"] = PARALLEL
                ended = await graphs(nth).ainvoke({"done": []}, config, durability=durability)
                right = [text for text in ended["done"] if "(stage 1)" in text]
                return f"All {len(right)} items are done."
            ended = await graphs(nth).ainvoke({"texts": {}}, config, durability=durability)
            return ended["texts"][f"d{STAGES}"]

        await measure.measure(given, hold)


if __name__ == "__main__":
    parser = measure.arguments(__doc__)
    parser.add_argument("--items", type=int, default=0, help="one graph for each of so many")
    parser.add_argument("--checkpoints", help="a SQLite file for every step; none without it")
    parser.add_argument("--durability", default="sync", choices=["sync", "async", "exit"])
    asyncio.run(main(parser.parse_args()))
