"""The official Python client drives a whole session of `delivery-team`: drive.py PROGRAM FOLDER MODE, or with the URL of
a server in place of the program, and the file of its token in place of the folder.

The client holds every result against the output schema of its tool, and raises where one does not fit.
"""

import asyncio
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult


async def person(context, params):
    """Whoever sits at the client."""
    return ElicitResult(action="accept", content={"answer": "mail"})


def handoff(role, status, **more):
    return {
        "agent": role, "output_type": "report", "timestamp": "2025-12-24T10:00:00Z", "feature_directory": "f",
        "skills_invoked": [], "status": status, "handoff": {"next_agent": None, "context": f"{status}: facts are in the fields beside this."}, **more,
    }


class Orchestrator:
    def __init__(self, client):
        self.client = client

    async def call(self, tool, refused=False, **arguments):
        result = await self.client.call_tool(tool, arguments)
        assert bool(result.is_error) == refused, result
        return result.structured_content

    async def plays(self, role, group, status, **more):
        following = await self.call("whats_next")
        [given] = [one for one in following["assignments"] if (one["role"], one["group"]) == (role, group)]
        claimed = await self.call("claim_assignment", assignment=given["assignment"])
        report = {"assignment": claimed["assignment"], "token": claimed["token"]}
        await self.call("report_handoff", refused=True, **report, handoff={"status": status})
        return await self.call("report_handoff", **report, handoff=handoff(role, status, **more))


def server(program, folder):
    if not program.startswith("http://"):
        return StdioServerParameters(command=program, args=["mcp"], cwd=folder, env=dict(os.environ))
    with open(folder) as file:
        token = file.read().strip()
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False)
    return streamable_http_client(program, http_client=client)


async def main(program, folder, mode):
    async with Client(server(program, folder), mode=mode, elicitation_callback=person) as client:
        team = Orchestrator(client)
        await team.call("start_session", title="Add login")
        question = {"text": "By mail or by name?", "options": ["mail", "name"]}
        await team.plays("project_manager", None, "NEEDS_CLARIFICATION", questions=[question])
        answered = await team.call("ask_person")
        assert answered["answered"] and answered["by"].startswith("ann by way of "), answered
        await team.plays("project_manager", None, "PLANNING_COMPLETE", groups=[{"id": "LOGIN", "title": "Log in"}])
        await team.plays("developer", "LOGIN", "READY_FOR_QA")
        await team.plays("qa_expert", "LOGIN", "PASS")
        await team.plays("tech_lead", "LOGIN", "APPROVED")
        await team.plays("developer", "LOGIN", "MERGE_SUCCESS")
        last = await team.plays("project_manager", None, "BAZINGA")
        assert last["judgement"]["verdict"] == "ACCEPT", last
        await team.call("explain_decision", decision=last["decision"])
        status = await team.call("session_status", session=last["session"])
        assert len((await client.list_prompts()).prompts) > 4
        for resource in (await client.list_resources()).resources:
            assert (await client.read_resource(str(resource.uri))).contents
        print(last["session"], status["status"], client.session.protocol_version)


asyncio.run(main(*sys.argv[1:]))
