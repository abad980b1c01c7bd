"""A discussion of five turns in AutoGen: a selector names each speaker.

It runs in memory: nothing of it is on a disk, and nothing is left of it after a
crash. The synthesis is a call of its own, because a group chat ends without one.
"""

import argparse
import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import SelectorGroupChat
from autogen_core.models import CreateResult, ModelFamily, ModelInfo, SystemMessage, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
from httpx2 import AsyncClient

import measure


async def main(given: argparse.Namespace) -> None:
    def model(name: str, http: AsyncClient) -> OpenAIChatCompletionClient:
        return OpenAIChatCompletionClient(
            model=name,
            base_url=f"{given.url}/v1",
            api_key=measure.KEY,
            http_client=http,
            timeout=None,
            model_info=ModelInfo(
                vision=False,
                function_calling=False,
                json_output=True,
                structured_output=True,
                family=ModelFamily.UNKNOWN,
            ),
        )

    models = measure.shared(
        lambda http: (model("facilitator", http), model("participant", http))
    )

    async def hold(nth: int) -> str:
        chair, participant = models(nth)
        agents = [
            AssistantAgent(
                name,
                participant,
                description=persona,
                system_message=f"You are {name}. {persona}",
                model_client_stream=given.stream,
            )
            for name, persona in measure.PARTICIPANTS.items()
        ]
        # The topic is the first message.
        team = SelectorGroupChat(
            agents,
            chair,
            termination_condition=MaxMessageTermination(measure.TURNS + 1),
            # Of two, only one could speak next otherwise, and the selector would not be asked.
            allow_repeated_speaker=True,
            model_client_streaming=given.stream,
        )
        said = (await team.run(task=measure.TOPIC)).messages
        transcript = "\n\n".join(f"{message.source}: {message.to_text()}" for message in said)
        return await synthesis(chair, transcript, given.stream)

    await measure.measure(given, hold)


async def synthesis(chair: OpenAIChatCompletionClient, transcript: str, stream: bool) -> str:
    messages = [
        SystemMessage(content=f"{measure.CHAIR} {measure.SYNTHESIS}"),
        UserMessage(content=transcript, source="user"),
    ]
    if not stream:
        return str((await chair.create(messages)).content)
    async for piece in chair.create_stream(messages):
        if isinstance(piece, CreateResult):
            return str(piece.content)
    raise RuntimeError("a synthesis without an end")


if __name__ == "__main__":
    asyncio.run(main(measure.arguments(__doc__).parse_args()))
