"""The app that serves the sessions, and what the handlers of its requests share."""

import contextlib
import ipaddress
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse

from vbot.hosting.sessions import Session, Sessions
from vbot.page import allowed_origins
from vbot.sentences import Sentences

# Prepares or starts a reserved session, and returns how the client joins it.
Start = Callable[[Sessions, Session], Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class Hosting:
    """What the handlers of requests share.

    Args:
        sessions: Of this process.
        transports: The keys of TRANSPORTS in bot.py.
        starts: What POST /start does for each of its transports.
        sentences: What a carrier says in place of the bot.
    """

    sessions: Sessions
    transports: Collection[str]
    starts: Mapping[str, Start]
    sentences: Sentences


def hosting_of(connection: HTTPConnection) -> Hosting:
    return connection.app.state.hosting


Shared = Annotated[Hosting, Depends(hosting_of)]  # the parameter of a handler


def new_app(hosting: Hosting, routers: Iterable[APIRouter]) -> FastAPI:
    """Return an app without pages and errors that describe it to strangers."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.hosting = hosting
    app.add_exception_handler(RequestValidationError, explain)
    for router in routers:
        app.include_router(router)
    if hosting.starts:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=allowed_origins(),
            allow_methods=["*"],
            allow_headers=["*"],
        )
    return app


def visitor(connection: HTTPConnection) -> str:
    """Return the address that a request comes from: the one that the proxy has added last."""
    forwarded = ",".join(connection.headers.getlist("x-forwarded-for"))
    added = forwarded.rpartition(",")[2].strip()
    address = added or (connection.client.host if connection.client else "")
    with contextlib.suppress(ValueError):  # of IPv6, a network of 64 bits counts as one
        address = str(ipaddress.IPv6Network((address, 64), strict=False))
    return address


async def explain(request: Request, e: Exception) -> JSONResponse:
    """Say what is wrong without what was sent, which would be in the error."""
    assert isinstance(e, RequestValidationError)
    wrong = [{"loc": error["loc"], "msg": error["msg"]} for error in e.errors()]
    return JSONResponse({"detail": wrong}, 422)
