"""https://docs.speechmatics.com/text-to-speech/quickstart"""

from aiohttp import web

from vbot.testing.stand_in import Service


class SpeechmaticsSpeech(Service):
    """Text to speech, one request for each sentence, at 16 kHz."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        start, _, voice = request.path.rpartition("/")
        self.expect(start == "/generate" and voice, "no such path")
        form = request.query.get("output_format")
        self.expect(form == "pcm_16000", f"format: {form}")
        body = await request.json()
        self.expect(body.get("text"), "no text")
        self.requests.append(body)
        pcm = self.script.voice(body["text"].strip(), 16000)
        return web.Response(body=pcm, content_type="audio/pcm")
