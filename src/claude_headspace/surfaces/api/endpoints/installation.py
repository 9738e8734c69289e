"""This installation: settings, the doctor, and browser sign-in."""

import asyncio

from starlette.requests import Request

from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.auth.sign_in import SignInLink
from claude_headspace.surfaces.client import doctor
from claude_headspace.surfaces.text.settings import SettingsView

endpoints = EndpointTable()


@endpoints.get("/api/settings")
async def settings(context: ApiContext, _request: Request) -> SettingsView:
    """All settings with their values and where each is set."""
    return context.installation.describe_settings()


@endpoints.post("/api/doctor")
async def examine(context: ApiContext, _request: Request) -> doctor.Report:
    """Run the checks of `headspace doctor`. They send one test event."""
    return await asyncio.to_thread(context.installation.examine)


@endpoints.post("/api/admin/signin", scope="admin")
async def sign_in_link(context: ApiContext, request: Request) -> SignInLink:
    """Create a link that signs a browser in, once. Agents get none."""
    await context.requesters.refuse_agents(request)
    return context.installation.sign_in.create_link()
