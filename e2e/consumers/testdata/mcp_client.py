"""Calls each tool of "shadow mcp DIR" and prints what it answers, one JSON object a line."""
import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(shadow, folder):
    async with stdio_client(StdioServerParameters(command=shadow, args=["mcp", folder])) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = sorted(tool.name for tool in (await session.list_tools()).tools)
            listed = await session.call_tool("sessions", {"limit": 200})
            names = [row["folder"] for row in json.loads(listed.content[0].text)["rows"]]
            for tool in tools:
                for arguments in arguments_of(tool, names):
                    result = await session.call_tool(tool, arguments)
                    print(json.dumps({
                        "tool": tool,
                        "arguments": arguments,
                        "failed": result.is_error,
                        "bytes": len(result.model_dump_json(by_alias=True, exclude_none=True)),
                        "text": result.content[0].text,
                    }))


def arguments_of(tool, names):
    """The defaults, and the most that a client can ask for."""
    if tool == "diff":
        return [{"a": [names[0]], "b": [names[-1]]}, {"a": names[:1], "b": names[-1:], "limit": 200}]
    if tool == "sessions":
        return [{}, {"limit": 200}]
    return [{}, {"session": names[-1], "limit": 200}]


asyncio.run(main(*sys.argv[1:]))
