"""https://platform.openai.com/docs/api-reference/audio/createTranscription"""

from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Service, wav_sound


class OpenAITranscription(Service):
    """Speech to text of a recording: whole sentences, as WAV files."""

    @classmethod
    def client(cls, address: str, system_instruction: str) -> Any:
        from pipecat.services.openai.stt import OpenAISTTService

        return OpenAISTTService(api_key="none", base_url=f"http://{address}/v1")

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path.endswith("/audio/transcriptions"), "no such path")
        form = await request.post()
        self.expect(form.get("model"), "no model")
        file = form.get("file")
        assert isinstance(file, web.FileField)
        pcm, rate = wav_sound(file.file.read())
        self.requests.append({"model": form["model"], "seconds": len(pcm) / 2 / rate})
        return web.json_response({"text": self.script.heard(pcm, rate)})
