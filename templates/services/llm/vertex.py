# id: llm_k
# label: Google Vertex AI
# names: vertex, google_vertex_llm, google_vertex
# extras: google
# license: Apache-2.0: google-cloud-speech, google-cloud-texttospeech, google-genai
# keys: https://console.cloud.google.com/iam-admin/serviceaccounts
# env: GOOGLE_APPLICATION_CREDENTIALS optional path: JSON key file; unset: the login of the machine
# env: GOOGLE_CREDENTIALS_JSON optional secret: text of that file in single quotes, in its place
# env: GOOGLE_LOCATION optional region =global: location, also read by Gemini Vertex Live
# env: GOOGLE_PROJECT_ID required id: project id, from the cloud console
# env: GOOGLE_VERTEX_BASE_URL optional url library: address of the API, or of a compatible one
# env: GOOGLE_MODEL optional model =gemini-3.8-flash: model id, also read by other Google services
# host: aiplatform.googleapis.com: with a GOOGLE_LOCATION, that and a hyphen in front
# host: oauth2.googleapis.com
import os

from pipecat.services.google.vertex.llm import GoogleVertexLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> GoogleVertexLLMService:
    llm = GoogleVertexLLMService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON"),
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS"),
        location=os.getenv("GOOGLE_LOCATION", "global"),
        project_id=os.environ["GOOGLE_PROJECT_ID"],
        settings=GoogleVertexLLMService.Settings(
            model=os.getenv("GOOGLE_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
