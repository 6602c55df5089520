"""https://elevenlabs.io/docs/api-reference/speech-to-text/convert"""

from aiohttp import web

from vbot.testing.stand_in import Service, wav_sound


class ElevenLabsTranscription(Service):
    """Speech to text of a recording: whole sentences, as WAV files."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == "/v1/speech-to-text", "no such path")
        form = await request.post()
        self.expect(form.get("model_id"), "no model")
        file = form.get("file")
        assert isinstance(file, web.FileField)
        pcm, rate = wav_sound(file.file.read())
        self.requests.append({"model_id": form["model_id"], "seconds": len(pcm) / 2 / rate})
        text = self.script.heard(pcm, rate)
        return web.json_response({"text": text, "language_code": "eng", "words": []})
