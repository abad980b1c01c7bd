"""A discussion of five turns in LangGraph: a node for the facilitator, one for
whoever speaks, and one for the synthesis.

With `--checkpoints FILE` each step is on the disk before the next one begins, which
is the counterpart of a durable log; without it everything is in memory.
"""

import argparse
import asyncio
import json
import operator
from contextlib import AsyncExitStack
from typing import Annotated, TypedDict

from httpx2 import AsyncClient
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

import measure

DECISION = (
    'Answer with JSON: {"decision": "continue" or "synthesize", '
    '"nextParticipantId": "ann" or "bob", "question": "...", "reasoning": "..."}'
)


class State(TypedDict):
    transcript: Annotated[list[str], operator.add]
    speaker: str
    question: str
    turns: int
    conclusion: str


def graph(given: argparse.Namespace, http: AsyncClient) -> StateGraph:
    async def ask(model: ChatOpenAI, system: str, state: State, task: str) -> str:
        transcript = "\n\n".join(state["transcript"])
        prompt = f"Topic: {measure.TOPIC}\n\n{transcript}\n\n{task}"
        answer = await model.ainvoke([SystemMessage(system), HumanMessage(prompt)])
        return str(answer.content)

    def model(name: str) -> ChatOpenAI:
        return ChatOpenAI(
            model=name,
            base_url=f"{given.url}/v1",
            api_key=measure.KEY,
            http_async_client=http,
            timeout=None,
            streaming=given.stream,
        )

    chair, participant = model("facilitator"), model("participant")

    async def facilitate(state: State) -> dict:
        decision = json.loads(await ask(chair, measure.CHAIR, state, DECISION))
        return {"speaker": decision["nextParticipantId"], "question": decision["question"]}

    async def speak(state: State) -> dict:
        name = state["speaker"]
        persona = f"You are {name}. {measure.PARTICIPANTS[name]}"
        said = await ask(participant, persona, state, state["question"])
        return {"transcript": [f"{name}: {said}"], "turns": state["turns"] + 1}

    async def synthesize(state: State) -> dict:
        return {"conclusion": await ask(chair, measure.CHAIR, state, measure.SYNTHESIS)}

    def after_a_turn(state: State) -> str:
        return "facilitate" if state["turns"] < measure.TURNS else "synthesize"

    made = StateGraph(State)
    made.add_node("facilitate", facilitate)
    made.add_node("speak", speak)
    made.add_node("synthesize", synthesize)
    made.add_edge(START, "facilitate")
    made.add_edge("facilitate", "speak")
    made.add_conditional_edges("speak", after_a_turn, ["facilitate", "synthesize"])
    made.add_edge("synthesize", END)
    return made


async def main(given: argparse.Namespace) -> None:
    async with AsyncExitStack() as stack:
        saver, durability = None, None
        if given.checkpoints:
            saving = AsyncSqliteSaver.from_conn_string(given.checkpoints)
            saver, durability = await stack.enter_async_context(saving), given.durability
        graphs = measure.shared(
            lambda http: graph(given, http).compile(checkpointer=saver)
        )
        empty: State = {
            "transcript": [], "speaker": "", "question": "", "turns": 0, "conclusion": ""
        }

        async def hold(nth: int) -> str:
            config = {"configurable": {"thread_id": str(nth)}, "recursion_limit": 50}
            ended = await graphs(nth).ainvoke(empty, config, durability=durability)
            return ended["conclusion"]

        await measure.measure(given, hold)


if __name__ == "__main__":
    parser = measure.arguments(__doc__)
    parser.add_argument("--checkpoints", help="a SQLite file for every step; none without it")
    parser.add_argument("--durability", default="sync", choices=["sync", "async", "exit"])
    asyncio.run(main(parser.parse_args()))
