"""Twilio: what it has to do with a call."""

from xml.sax.saxutils import quoteattr

from fastapi import APIRouter, Request, Response

from vbot.hosting.app import Shared
from vbot.hosting.carriers import answer, check_token, check_twilio, form_of, stream_url

router = APIRouter()


@router.post("/twilio/{token}")
async def answer_twilio(request: Request, token: str, hosting: Shared) -> Response:
    """Tell Twilio what to do with a call."""
    check_token(request, token)
    check_twilio(request, form := await form_of(request))
    numbers = {"from_number": form.get("From", ""), "to_number": form.get("To", "")}
    told = "".join(
        f"<Parameter name={quoteattr(name)} value={quoteattr(number)}/>"
        for name, number in numbers.items()
        if number
    )
    url = quoteattr(stream_url(request))
    return answer(hosting, f"<Connect><Stream url={url}>{told}</Stream></Connect>")
