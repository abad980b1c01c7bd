"""A board as a model, through the official client for Python, LiteLLM and llm. The
program is the real one; scripts/openai says where it is."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.request

import openai

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
import litellm  # noqa: E402
from pydantic import BaseModel  # noqa: E402

litellm.telemetry = False
BOARD = "plenary/classic-triad"
FOUR = "\n\n".join(
    [
        "## Consensus\nShip.",
        "## Points of Agreement\n- Small steps.",
        "## Points of Divergence\n- When.",
        "## Recommendation\nFriday.",
    ]
)
ADVISORS = [
    {"when": {"contains": ["as the Advocate"]}, "text": "For it.", "usage": [100, 10]},
    {"when": {"contains": ["as the Critic"]}, "text": "Against it.", "usage": [100, 10]},
    {"when": {"contains": ["as the Analyst"]}, "text": "It depends.", "usage": [100, 10]},
]
RULES = [
    {"when": {"contains": ["neutral secretary"]}, "text": FOUR, "usage": [200, 20]},
    *ADVISORS,
]
# What the advisors take leaves nothing for the verdict.
SPENDING = [{**rule, "usage": [30_000, 10]} for rule in ADVISORS]
# The first try does not follow the schema.
DECIDING = [
    {
        "when": {"contains": ["JSON schema"]},
        "texts": ['{"ship": "perhaps"}', '{"ship": true, "why": "It is ready."}'],
    },
    *ADVISORS,
]
# All advisors wait after their first words.
HELD = [{"text": "For it, as it were.", "hold": "gate", "holdAfter": 2}]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Decision(BaseModel):
    ship: bool
    why: str


class Story(unittest.TestCase):
    """A server in a folder of its own, with a model server behind it."""

    def start(self, rules=RULES, token=None):
        folder = tempfile.mkdtemp(prefix="plenary-stories-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.folder = folder
        self.models = self.listening([os.environ["SCRIPTED_BIN"], "--models", "a,b,c,d"], {})
        env = {
            "HOME": folder,
            "PLENARY_HOME": os.path.join(folder, "data"),
            "OLLAMA_HOST": self.models,
            "PLENARY_EMBEDDED": "off",
        }
        if token:
            env["PLENARY_TOKEN"] = token
        program = [os.environ["PLENARY_BIN"], "serve", "--listen", "127.0.0.1:0"]
        self.url = self.listening(program, env)
        self.send(f"{self.models}/__script", rules)
        self.base = f"{self.url}/v1"
        return openai.OpenAI(api_key=token or "none", base_url=self.base)

    def listening(self, program, env):
        child = subprocess.Popen(program, env=env, stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        for line in child.stdout:
            found = re.search(r"http://[0-9.:]+", line)
            if found:
                return found.group(0)
        raise RuntimeError(f"{program} printed no address")

    def send(self, url, body, token=None):
        head = {"authorization": f"Bearer {token}"} if token else {}
        head["content-type"] = "application/json"
        data = json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, headers=head, method="POST")
        return urllib.request.urlopen(request).read()

    def get(self, url):
        return json.load(urllib.request.urlopen(url))

    def asked(self):
        return self.get(f"{self.models}/__requests")

    def view(self, session):
        return self.get(f"{self.url}/api/boardrooms/{session}")["data"]

    def check_stopped(self, session):
        """The calls have ended with the stream, and the board says so."""
        while not all(one["ended"] for one in self.asked()):
            pass
        self.assertEqual([one["dropped"] for one in self.asked()], [True] * 3)
        self.get(f"{self.url}/api/sessions/{session}/wait?seconds=20")
        self.assertEqual(self.view(session)["status"], "stopped")


def user(text):
    return [{"role": "user", "content": text}]


class Official(Story):
    def test_boards_and_models_are_listed(self):
        client = self.start()
        ids = [model.id for model in client.models.list()]
        self.assertEqual(ids[0], BOARD)
        self.assertIn("ollama/a", ids)
        self.assertEqual(client.models.retrieve("ollama/a").owned_by, "ollama")

    def test_a_question_is_answered_with_the_verdict(self):
        client = self.start()
        raw = client.chat.completions.with_raw_response.create(
            model=BOARD, messages=user("Should we ship?"), user="ann", temperature=0.2
        )
        completion = raw.parse()
        self.assertEqual(completion.choices[0].message.content, FOUR)
        self.assertIn("Against it.", completion.choices[0].message.reasoning_content)
        self.assertEqual(completion.usage.total_tokens, 550)
        session = raw.headers["x-plenary-session"]
        self.assertEqual(completion.metadata["plenary_session"], session)
        self.assertEqual(self.view(session)["status"], "closed")

    def test_what_the_advisors_say_streams_as_reasoning(self):
        client = self.start()
        thoughts, content, usage = "", "", None
        for chunk in client.chat.completions.create(
            model=BOARD,
            messages=user("Should we ship?"),
            stream=True,
            stream_options={"include_usage": True},
        ):
            if chunk.choices:
                delta = chunk.choices[0].delta
                thoughts += getattr(delta, "reasoning_content", None) or ""
                content += delta.content or ""
            usage = chunk.usage or usage
        for said in ["For it.", "Against it.", "It depends."]:
            self.assertEqual(thoughts.count(said), 1, thoughts)
        self.assertEqual(content, FOUR)
        self.assertEqual(usage.total_tokens, 550)

    def test_three_turns_are_one_board(self):
        client = self.start()
        messages, sessions = [], set()
        for text in ["Should we ship?", "And the risks?", "And when?"]:
            messages += user(text)
            raw = client.chat.completions.with_raw_response.create(model=BOARD, messages=messages)
            sessions.add(raw.headers["x-plenary-session"])
            said = raw.parse().choices[0].message.content
            messages.append({"role": "assistant", "content": said})
        self.assertEqual(len(sessions), 1)
        self.assertEqual(len(self.view(sessions.pop())["rounds"]), 3)

    def test_the_verdict_follows_a_schema(self):
        client = self.start(DECIDING)
        completion = client.chat.completions.parse(
            model=BOARD, messages=user("Should we ship?"), response_format=Decision
        )
        decision = completion.choices[0].message.parsed
        self.assertEqual(decision, Decision(ship=True, why="It is ready."))
        # The first try was no verdict: three advisors, and the secretary twice.
        self.assertEqual(len(self.asked()), 5)

    def test_a_cancelled_stream_ends_the_calls(self):
        client = self.start(HELD)
        stream = client.chat.completions.create(
            model=BOARD, messages=user("Never mind?"), stream=True
        )
        for chunk in stream:
            session = chunk.metadata["plenary_session"]
            if "For" in (getattr(chunk.choices[0].delta, "reasoning_content", None) or ""):
                break
        self.send(f"{self.models}/__reached", {"name": "gate", "answers": 3})
        stream.close()
        self.check_stopped(session)

    def test_errors_are_told_as_openai_tells_them(self):
        client = self.start(token="sesame")
        stranger = openai.OpenAI(api_key="guess", base_url=self.base)
        with self.assertRaises(openai.AuthenticationError) as caught:
            stranger.models.list()
        self.assertEqual(caught.exception.code, "invalid_api_key")
        with self.assertRaises(openai.NotFoundError) as caught:
            client.chat.completions.create(model="plenary/round-table", messages=user("Hello?"))
        self.assertEqual(caught.exception.code, "model_not_found")
        self.assertIn("plenary/classic-triad", str(caught.exception))
        with self.assertRaises(openai.BadRequestError) as caught:
            client.chat.completions.create(model=BOARD, messages=user("Hello?"), n=2)
        self.assertEqual(caught.exception.param, "n")

    def test_a_budget_runs_out(self):
        client = self.start(SPENDING)
        with self.assertRaises(openai.RateLimitError) as caught:
            client.chat.completions.create(
                model=BOARD,
                messages=user("Hello?"),
                extra_body={"plenary": {"budget": {"tokens": 40_000}}},
            )
        self.assertEqual(caught.exception.code, "insufficient_quota")
        # The client does not try again by itself: it would cost as much again.
        self.assertEqual(self.get(f"{self.url}/api/boardrooms")["meta"]["total"], 1)

    def test_responses(self):
        client = self.start()
        first = client.responses.create(model=BOARD, input="Should we ship?")
        self.assertEqual(first.output_text, FOUR)
        reasoning = next(item for item in first.output if item.type == "reasoning")
        self.assertEqual(len(reasoning.summary), 4)
        with client.responses.stream(
            model=BOARD, input="And when?", previous_response_id=first.id
        ) as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_response()
        self.assertIn("response.reasoning_summary_text.delta", kinds)
        self.assertEqual(final.output_text, FOUR)
        self.assertEqual(final.usage.total_tokens, 550)
        self.assertEqual(final.metadata, first.metadata)

    def test_an_image_reaches_the_advisors(self):
        client = self.start()
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        words = {"type": "text", "text": "What is this?"}
        message = {"role": "user", "content": [words, picture]}
        client.chat.completions.create(model=BOARD, messages=[message])
        bodies = self.get(f"{self.models}/__bodies")
        shown = [body for body in bodies if PNG in json.dumps(body)]
        self.assertEqual(len(shown), 3)


class LiteLlm(Story):
    def ask(self, messages, **more):
        return litellm.completion(
            model=more.pop("model", f"openai/{BOARD}"),
            api_base=self.base,
            api_key=more.pop("api_key", "none"),
            messages=messages,
            **more,
        )

    def test_it_asks_and_streams(self):
        self.start()
        answer = self.ask(user("Should we ship?"))
        self.assertEqual(answer.choices[0].message.content, FOUR)
        self.assertEqual(answer.usage.total_tokens, 550)
        thoughts, content = "", ""
        for chunk in self.ask(user("Should we really ship?"), stream=True):
            delta = chunk.choices[0].delta
            thoughts += getattr(delta, "reasoning_content", None) or ""
            content += delta.content or ""
        self.assertIn("It depends.", thoughts)
        self.assertEqual(content, FOUR)

    def test_three_turns_are_one_board(self):
        self.start()
        messages = []
        for text in ["Should we ship?", "And the risks?", "And when?"]:
            messages += user(text)
            said = self.ask(messages).choices[0].message.content
            messages.append({"role": "assistant", "content": said})
        boards = self.get(f"{self.url}/api/boardrooms")
        self.assertEqual(boards["meta"]["total"], 1)

    def test_the_verdict_follows_a_schema(self):
        self.start(DECIDING)
        answer = self.ask(user("Should we ship?"), response_format=Decision)
        decision = Decision.model_validate_json(answer.choices[0].message.content)
        self.assertEqual(decision, Decision(ship=True, why="It is ready."))

    def test_a_cancelled_stream_ends_the_calls(self):
        self.start(HELD)
        stream = self.ask(user("Never mind?"), stream=True)
        for chunk in stream:
            if "For" in (getattr(chunk.choices[0].delta, "reasoning_content", None) or ""):
                break
        self.send(f"{self.models}/__reached", {"name": "gate", "answers": 3})
        stream.completion_stream.response.close()
        self.check_stopped(self.get(f"{self.url}/api/boardrooms")["data"][0]["id"])

    def test_errors_have_their_classes(self):
        self.start(SPENDING, token="sesame")
        with self.assertRaises(litellm.AuthenticationError):
            self.ask(user("Hello?"), api_key="guess")
        with self.assertRaises(litellm.NotFoundError):
            self.ask(user("Hello?"), api_key="sesame", model="openai/plenary/round-table")
        with self.assertRaises(litellm.RateLimitError):
            self.ask(
                user("Hello?"),
                api_key="sesame",
                num_retries=0,
                extra_body={"plenary": {"budget": {"tokens": 40_000}}},
            )


class CommandLine(Story):
    """`llm`, with a board among its models."""

    def program(self, args, key):
        folder = os.path.join(self.folder, "llm")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "extra-openai-models.yaml"), "w") as file:
            for name in ["classic-triad", "frugal", "round-table"]:
                file.write(f"- model_id: {name}\n  model_name: plenary/{name}\n")
                file.write(f"  api_base: {self.base}\n  api_key_name: plenary\n")
                file.write("  supports_schema: true\n")
        env = {"LLM_USER_PATH": folder, "PATH": os.environ["PATH"]}
        return [os.environ["LLM_BIN"], *args, "--key", key], env

    def llm(self, *args, key="none"):
        program, env = self.program(args, key)
        return subprocess.run(program, env=env, capture_output=True, text=True)

    def says(self, *args):
        ended = self.llm(*args)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout.strip()

    def test_it_asks_streams_and_goes_on(self):
        self.start()
        self.assertEqual(self.says("-m", "classic-triad", "Should we ship?"), FOUR)
        self.assertEqual(self.says("-c", "--no-stream", "And the risks?"), FOUR)
        self.assertEqual(self.says("-c", "And when?"), FOUR)
        boards = self.get(f"{self.url}/api/boardrooms")
        self.assertEqual(boards["meta"]["total"], 1)
        self.assertEqual(len(self.view(boards["data"][0]["id"])["rounds"]), 3)

    def test_the_verdict_follows_a_schema(self):
        self.start(DECIDING)
        said = self.says("-m", "classic-triad", "--schema", "ship bool, why", "Should we ship?")
        self.assertEqual(json.loads(said), {"ship": True, "why": "It is ready."})

    def test_a_cancelled_stream_ends_the_calls(self):
        self.start(HELD)
        program, env = self.program(["-m", "classic-triad", "Never mind?"], "none")
        child = subprocess.Popen(program, env=env, stdout=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.send(f"{self.models}/__reached", {"name": "gate", "answers": 3})
        child.kill()
        self.check_stopped(self.get(f"{self.url}/api/boardrooms")["data"][0]["id"])

    def test_it_tells_what_is_wrong(self):
        self.start(SPENDING, token="sesame")
        ended = self.llm("-m", "classic-triad", "Hello?", key="guess")
        self.assertIn("invalid_api_key", ended.stderr)
        ended = self.llm("-m", "round-table", "Hello?", key="sesame")
        self.assertIn("model_not_found", ended.stderr)
        frugal = {"name": "frugal", "copyOf": "classic-triad", "budget": {"tokens": 40_000}}
        self.send(f"{self.url}/api/boards", frugal, token="sesame")
        ended = self.llm("-m", "frugal", "Hello?", key="sesame")
        # It streams, and shows the message of what ends the stream.
        self.assertIn("The budget of 40,000 tokens does not cover", ended.stderr)
        self.assertNotEqual(ended.returncode, 0)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"OpenAI stories (Python, LiteLLM, llm): {result.testsRun - failed} passed")
    raise SystemExit(1 if failed else 0)
