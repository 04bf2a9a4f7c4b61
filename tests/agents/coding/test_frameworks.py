"""Python agent frameworks, one tool round trip each through the relay: nothing is wired into them but the address."""

import asyncio

import pytest

from proxy.config import build
from proxy.instance import Instance

pytestmark = [pytest.mark.agents, pytest.mark.filterwarnings("default")]


@pytest.fixture
def through(tmp_path, mock_of):
    """(base URL of the OpenAI API behind onlooker, the mock, how to stop and read)."""
    mock = mock_of("true", "weather")
    settings = {"state": str(tmp_path / "s"), "listen": "127.0.0.1:0", "control": "127.0.0.1:0"}
    with Instance.start(build(None, {**settings, "routes": {"m": {"url": mock.url, "agui": False}}})) as instance:
        yield f"{instance.base}/m/v1", mock, instance


def the_round_trip(instance, mock):
    instance.stop()
    records = instance.records()
    (action,) = [r for r in records if r["kind"] == "action"]
    (outcome,) = [r for r in records if r["kind"] == "outcome"]
    assert (action["call"]["name"], action["call"]["arguments_valid"]) == ("weather", True)
    assert outcome["action"] == action["id"]
    assert len([r for r in mock.requests if r[0] == "POST"]) == 2
    return action


def test_openai_agents(through):
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    base, mock, instance = through

    @agents.function_tool
    def weather(city: str) -> str:
        """Weather of a city."""
        return f"rain in {city}"

    agents.set_tracing_disabled(True)

    async def run():
        async with openai.AsyncOpenAI(api_key="x", base_url=base) as client:
            model = agents.OpenAIChatCompletionsModel(model="m", openai_client=client)
            return await agents.Runner.run(agents.Agent(name="a", tools=[weather], model=model), "weather?")

    assert asyncio.run(run()).final_output == "done"
    assert the_round_trip(instance, mock)["exchange"]["protocol"] == "openai-chat"


def test_openai_agents_over_the_responses_api(through):
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    base, mock, instance = through

    @agents.function_tool
    def weather(city: str) -> str:
        """Weather of a city."""
        return f"rain in {city}"

    agents.set_tracing_disabled(True)

    async def run():
        async with openai.AsyncOpenAI(api_key="x", base_url=base) as client:
            model = agents.OpenAIResponsesModel(model="m", openai_client=client)
            return await agents.Runner.run(agents.Agent(name="a", tools=[weather], model=model), "weather?")

    assert asyncio.run(run()).final_output == "done"
    assert the_round_trip(instance, mock)["exchange"]["protocol"] == "openai-responses"


def test_langchain_openai(through):
    httpx = pytest.importorskip("httpx")
    langchain_openai = pytest.importorskip("langchain_openai")
    messages = pytest.importorskip("langchain_core.messages")
    tools = pytest.importorskip("langchain_core.tools")
    base, mock, instance = through

    @tools.tool
    def weather(city: str) -> str:
        """Weather of a city."""
        return f"rain in {city}"

    with httpx.Client() as client:
        model = langchain_openai.ChatOpenAI(model="m", api_key="x", base_url=base, http_client=client).bind_tools(
            [weather]
        )
        history = [messages.HumanMessage("weather?")]
        first = model.invoke(history)
        (call,) = first.tool_calls
        history += [first, messages.ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"])]
        assert model.invoke(history).content == "done"
    the_round_trip(instance, mock)


def test_pydantic_ai(through):
    pydantic_ai = pytest.importorskip("pydantic_ai")
    models = pytest.importorskip("pydantic_ai.models.openai")
    providers = pytest.importorskip("pydantic_ai.providers.openai")
    openai = pytest.importorskip("openai")
    base, mock, instance = through

    def weather(city: str) -> str:
        """Weather of a city."""
        return f"rain in {city}"

    async def run():
        async with openai.AsyncOpenAI(api_key="x", base_url=base) as client:
            model = models.OpenAIChatModel("m", provider=providers.OpenAIProvider(openai_client=client))
            return await pydantic_ai.Agent(model, tools=[weather]).run("weather?")

    assert asyncio.run(run()).output == "done"
    the_round_trip(instance, mock)
