"""Telnyx: what it has to do with a call."""

from xml.sax.saxutils import quoteattr

from fastapi import APIRouter, Request, Response

from vbot.hosting.app import Shared
from vbot.hosting.carriers import answer, check_token, stream_url

router = APIRouter()


@router.post("/telnyx/{token}")
async def answer_telnyx(request: Request, token: str, hosting: Shared) -> Response:
    """Tell Telnyx what to do with a call."""
    check_token(request, token)
    how = 'bidirectionalMode="rtp"'
    url = quoteattr(stream_url(request))
    return answer(hosting, f"<Connect><Stream {how} url={url}/></Connect>")
