"""The bot's page, which only pages of trusted origins may show in a frame.

Elsewhere it could be laid under what somebody clicks at, who then talks to the bot unknowingly.
"""

import os
import re
from pathlib import Path

from starlette.responses import FileResponse

PAGE = Path(__file__).parents[1] / "page.html"


def allowed_origins() -> list[str]:
    """Return the origins, other than the bot's own, whose pages may start sessions."""
    return os.getenv("PIPECAT_ALLOWED_ORIGINS", "").replace(" ", "").split(",")


def page_response() -> FileResponse:
    """Return the page. Browsers ask for it each time, so that they have that of this version."""
    frames = ["'self'", *(o for o in allowed_origins() if re.fullmatch(r"\*|https?://[^;,\s]+", o))]
    headers = {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": f"frame-ancestors {' '.join(frames)}",
    }
    return FileResponse(PAGE, headers=headers)
