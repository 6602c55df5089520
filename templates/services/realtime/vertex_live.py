# id: realtime_f
# label: Gemini Vertex Live
# names: vertex_live, gemini_vertex_live_realtime, gemini_vertex_live
# turns: Settings(vad=GeminiVADParams(silence_duration_ms=1000))
# turns-import: from pipecat.services.google.gemini_live.llm import GeminiVADParams
# video: in
# extras: google
# license: Apache-2.0: google-cloud-speech, google-cloud-texttospeech, google-genai
# languages: ar, bn-IN, de, en, es, fr, gu, hi, id, it, ja, kn, ko, ml, mr, nl, pl, pt-BR, ru, ta
# languages: te, th, tr, vi, zh
# voices: any
# starts: context
# keys: https://console.cloud.google.com/iam-admin/serviceaccounts
# env: GOOGLE_APPLICATION_CREDENTIALS optional path: JSON key file; unset: the login of the machine
# env: GOOGLE_CREDENTIALS_JSON optional secret: text of that file in single quotes, in its place
# env: GOOGLE_PROJECT_ID required id: project id, from the cloud console
# env: GOOGLE_VERTEX_BASE_URL optional url library: address of the API, or of a compatible one
# env: GOOGLE_LOCATION required region: location, such as us-east4
# env: GOOGLE_MODEL optional model =google/gemini-3.8-live: model id, also read by other Google LLMs
# env: GOOGLE_VOICE_ID optional voice =Charon: voice name, also read by other Google services
# host: {GOOGLE_LOCATION}-aiplatform.googleapis.com
# host: oauth2.googleapis.com
import os

from pipecat.services.google.gemini_live.vertex.llm import GeminiLiveVertexLLMService
from pipecat.transcriptions.language import Language
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str, language: str) -> GeminiLiveVertexLLMService:
    llm = GeminiLiveVertexLLMService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON"),
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS"),
        project_id=os.environ["GOOGLE_PROJECT_ID"],
        location=os.environ["GOOGLE_LOCATION"],
        settings=GeminiLiveVertexLLMService.Settings(
            model=os.getenv("GOOGLE_MODEL", NOT_GIVEN),
            voice=os.getenv("GOOGLE_VOICE_ID", NOT_GIVEN),
            language=Language(language),  # when: language
            system_instruction=system_instruction,
        ),
    )
    return llm
