"""OpenHands' own agent with its terminal tool, once: ``openhands_agent.py BASE_URL FOLDER``. Run by its own Python."""

import sys

from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.tools.terminal import TerminalTool

base, folder = sys.argv[1:]
llm = LLM(model="openai/m", base_url=base, api_key="x", usage_id="agent", num_retries=0, native_tool_calling=True)
agent = Agent(llm=llm, tools=[Tool(name=TerminalTool.name)])
conversation = Conversation(agent=agent, workspace=folder)
conversation.send_message("run the probe")
conversation.run()
