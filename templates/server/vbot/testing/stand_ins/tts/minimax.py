"""https://platform.minimax.io/docs/api-reference/speech-t2a-http"""

import json

from aiohttp import web

from vbot.testing.stand_in import Service, pieces


class MiniMaxSpeech(Service):
    """Text to speech, one request for each sentence: events with samples in hexadecimal."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == "/v1/t2a_v2", "no such path")
        self.expect(request.query.get("GroupId"), "no group")
        body = await request.json()
        self.expect(
            body.get("model") and body["voice_setting"].get("voice_id"), "no model or voice"
        )
        self.expect(body.get("stream") is True, "not streamed")
        form = body["audio_setting"]
        self.expect((form["format"], form["channel"]) == ("pcm", 1), f"format: {form}")
        self.requests.append(body)
        rate = form["sample_rate"]
        self.expect(rate in (8000, 16000, 22050, 24000, 32000, 44100), f"{rate} samples a second")
        pcm = self.script.voice(body["text"], rate)
        said = {"status_code": 0, "status_msg": "success"}
        events = [{"data": {"audio": p.hex(), "status": 1}} for p in pieces(pcm, rate)]
        about = {"audio_length": round(len(pcm) / 2 / rate * 1000), "audio_sample_rate": rate}
        events.append({"data": {"audio": pcm.hex(), "status": 2}, "extra_info": about})
        lines = (f"data: {json.dumps(e | {'base_resp': said})}\n\n" for e in events)
        return web.Response(text="".join(lines), content_type="text/event-stream")
