"""https://docs.sws.speechify.com/docs/features/speech-marks"""

import base64
import json
import re

from aiohttp import web

from vbot.testing.stand_in import Service, pieces, word_times


class SpeechifySpeech(Service):
    """Text to speech, one request for each sentence: events, with the times of words."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == "/v1/audio/stream/with-timestamps", "no such path")
        self.expect(request.headers.get("Speechify-Version"), "no version")
        body = await request.json()
        text = body["input"]
        self.expect(text and body.get("voice_id") and body.get("model"), "no text, voice or model")
        form, _, rate = body["output_format"].partition("_")
        self.expect(form == "pcm", f"format: {body['output_format']}")
        self.requests.append(body)
        rate = int(rate)
        pcm = self.script.voice(text.strip(), rate)
        starts = [round(start * 1000) for _, start in word_times(text, pcm, rate)]
        duration = round(len(pcm) / 2 / rate * 1000)
        words = zip(re.finditer(r"\S+", text), starts, [*starts[1:], duration], strict=True)
        marks = [
            {
                "type": "word",
                "value": word.group(),
                "start": word.start(),  # in the text
                "end": word.end(),
                "start_time": start,
                "end_time": end,
            }
            for word, start, end in words
        ]
        events: list[tuple[str, dict[str, object]]] = [
            ("speech.chunk", {"audio": base64.b64encode(piece).decode()})
            for piece in pieces(pcm, rate)
        ]
        events.append(("speech.chunk", {"speech_marks": marks}))
        events.append(("speech.done", {"audio_duration_ms": duration}))
        lines = (f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        return web.Response(text="".join(lines), content_type="text/event-stream")
