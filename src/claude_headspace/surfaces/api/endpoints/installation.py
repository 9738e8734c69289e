"""This installation: settings, the doctor, and browser sign-in."""

import asyncio

from starlette.requests import Request

from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.auth.sign_in import SignInLink
from claude_headspace.surfaces.client import doctor
from claude_headspace.surfaces.text.settings import SettingsView


async def settings(context: ApiContext, _request: Request) -> SettingsView:
    """All settings."""
    return context.installation.settings()


async def examine(context: ApiContext, _request: Request) -> doctor.Report:
    """The report of the doctor."""
    return await asyncio.to_thread(context.installation.examine)


async def sign_in_link(context: ApiContext, _request: Request) -> SignInLink:
    """A new sign-in link."""
    return context.installation.sign_in.create_link()


ENDPOINTS = (
    Endpoint("GET", "/api/settings", "All settings with their values and where each is set.", settings, SettingsView),
    Endpoint(
        "POST",
        "/api/doctor",
        "Run the checks of `headspace doctor`. They send one test event.",
        examine,
        doctor.Report,
        scope="act",
    ),
    Endpoint(
        "POST",
        "/api/admin/signin",
        "Create a link that signs a browser in, once.",
        sign_in_link,
        SignInLink,
        scope="admin",
    ),
)
