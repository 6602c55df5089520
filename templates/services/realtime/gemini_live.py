# id: realtime_b
# label: Gemini Live
# names: gemini_live, gemini_live_realtime
# turns: Settings(vad=GeminiVADParams(silence_duration_ms=1000))
# turns-import: from pipecat.services.google.gemini_live.llm import GeminiVADParams
# video: in
# extras: google
# license: Apache-2.0: google-cloud-speech, google-cloud-texttospeech, google-genai
# languages: ar, bn-IN, de, en, es, fr, gu, hi, id, it, ja, kn, ko, ml, mr, nl, pl, pt-BR, ru, ta
# languages: te, th, tr, vi, zh
# voices: any
# starts: context
# keys: https://aistudio.google.com/apikey
# env: GOOGLE_API_KEY required secret: API key
# env: GOOGLE_GEMINI_BASE_URL optional url library: address of the API, or of a compatible one
# env: GOOGLE_MODEL optional model =models/gemini-3.8-live: model id, also read by other Google LLMs
# env: GOOGLE_VOICE_ID optional voice =Charon: voice name, also read by other Google services
# stand-in: gemini_live tls GOOGLE_GEMINI_BASE_URL=https://{}
# host: generativelanguage.googleapis.com
import os

from pipecat.services.google.gemini_live.llm import GeminiLiveLLMService
from pipecat.transcriptions.language import Language
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str, language: str) -> GeminiLiveLLMService:
    llm = GeminiLiveLLMService(
        api_key=os.environ["GOOGLE_API_KEY"],
        settings=GeminiLiveLLMService.Settings(
            model=os.getenv("GOOGLE_MODEL", NOT_GIVEN),
            voice=os.getenv("GOOGLE_VOICE_ID", NOT_GIVEN),
            language=Language(language),  # when: language
            system_instruction=system_instruction,
        ),
    )
    return llm
