# id: stt_aa
# label: Speechmatics
# names: speechmatics, speechmatics_stt
# extras: speechmatics
# keys: https://portal.speechmatics.com/settings/api-keys
# env: SPEECHMATICS_API_KEY required secret: API key
# env: SPEECHMATICS_RT_URL optional url library =wss://eu2.rt.speechmatics.com/v2/agent: address
# host: eu2.rt.speechmatics.com
import os

from pipecat.services.speechmatics.stt import SpeechmaticsSTTService


def build() -> SpeechmaticsSTTService:
    stt = SpeechmaticsSTTService(api_key=os.environ["SPEECHMATICS_API_KEY"])
    return stt
