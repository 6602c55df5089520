"""https://platform.openai.com/docs/api-reference/audio/createSpeech"""

from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Service


class OpenAISpeech(Service):
    """Text to speech, one request for each sentence, at 24 kHz."""

    @classmethod
    def client(cls, address: str, system_instruction: str) -> Any:
        from pipecat.services.openai.tts import OpenAITTSService

        return OpenAITTSService(api_key="none", base_url=f"http://{address}/v1")

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == "/v1/audio/speech", "no such path")
        body = await request.json()
        text = body["input"]
        self.expect(body.get("model") and body.get("voice"), "no model or voice")
        self.expect(body.get("response_format") == "pcm", "not asked for samples")
        self.expect(0 < len(text) <= 4096, f"{len(text)} characters")
        self.requests.append(body)
        return web.Response(body=self.script.voice(text, 24000), content_type="audio/pcm")
