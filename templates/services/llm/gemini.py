# id: llm_j
# label: Google Gemini
# names: gemini, google_gemini_llm, google_gemini
# extras: google
# license: Apache-2.0: google-cloud-speech, google-cloud-texttospeech, google-genai
# keys: https://aistudio.google.com/apikey
# env: GOOGLE_API_KEY required secret: API key
# env: GOOGLE_GEMINI_BASE_URL optional url library: address of the API, or of a compatible one
# env: GOOGLE_MODEL optional model =gemini-3.6-flash: model id, also read by other Google services
# stand-in: gemini GOOGLE_GEMINI_BASE_URL=http://{}
# host: generativelanguage.googleapis.com
import os

from pipecat.services.google.llm import GoogleLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> GoogleLLMService:
    llm = GoogleLLMService(
        api_key=os.environ["GOOGLE_API_KEY"],
        settings=GoogleLLMService.Settings(
            model=os.getenv("GOOGLE_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
