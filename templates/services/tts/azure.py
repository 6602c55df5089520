# id: tts_e
# label: Azure TTS
# names: azure, azure_tts
# extras: azure
# license: LicenseRef-Microsoft: azure-cognitiveservices-speech
# languages: voice
# voices: ar ar-SA-ZariyahNeural, bg bg-BG-KalinaNeural, cs cs-CZ-VlastaNeural
# voices: da da-DK-ChristelNeural, de de-DE-KatjaNeural, el el-GR-AthinaNeural
# voices: es es-ES-ElviraNeural, fi fi-FI-SelmaNeural, fr fr-FR-DeniseNeural, he he-IL-HilaNeural
# voices: hi hi-IN-SwaraNeural, hr hr-HR-GabrijelaNeural, hu hu-HU-NoemiNeural, id id-ID-GadisNeural
# voices: it it-IT-ElsaNeural, ja ja-JP-NanamiNeural, ko ko-KR-SunHiNeural, ms ms-MY-YasminNeural
# voices: nb nb-NO-PernilleNeural, no nb-NO-PernilleNeural, nl nl-NL-FennaNeural
# voices: pl pl-PL-AgnieszkaNeural, pt pt-BR-FranciscaNeural, ro ro-RO-AlinaNeural
# voices: ru ru-RU-SvetlanaNeural, sk sk-SK-ViktoriaNeural, sl sl-SI-PetraNeural
# voices: sv sv-SE-SofieNeural, ta ta-IN-PallaviNeural, te te-IN-ShrutiNeural
# voices: th th-TH-PremwadeeNeural, tr tr-TR-EmelNeural, uk uk-UA-PolinaNeural
# voices: vi vi-VN-HoaiMyNeural, zh zh-CN-XiaoxiaoNeural, de-AT de-AT-IngridNeural
# voices: de-CH de-CH-LeniNeural, en-AU en-AU-NatashaNeural, en-GB en-GB-SoniaNeural
# voices: en-IN en-IN-NeerjaNeural, es-MX es-MX-DaliaNeural, es-US es-US-PalomaNeural
# voices: fr-CA fr-CA-SylvieNeural, nl-BE nl-BE-DenaNeural, pt-PT pt-PT-RaquelNeural
# voices: zh-HK zh-HK-HiuMaanNeural, zh-TW zh-TW-HsiaoChenNeural
# keys: https://portal.azure.com/
# env: AZURE_SPEECH_API_KEY required secret: key of the Speech resource
# env: AZURE_SPEECH_REGION required region unless AZURE_SPEECH_TTS_ENDPOINT: region, such as eastus
# env: AZURE_SPEECH_TTS_ENDPOINT optional url: address of a private endpoint, wss://...
# env: AZURE_SPEECH_VOICE_ID optional voice =en-US-SaraNeural: voice name, from the voice gallery
# host: {AZURE_SPEECH_REGION}.tts.speech.microsoft.com
# region: in resources of a region in the EU https://learn.microsoft.com/azure/ai-services/speech-service/regions
import os

from pipecat.services.azure.tts import AzureTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> AzureTTSService:
    tts = AzureTTSService(
        api_key=os.environ["AZURE_SPEECH_API_KEY"],
        private_endpoint=os.getenv("AZURE_SPEECH_TTS_ENDPOINT"),
        region=os.getenv("AZURE_SPEECH_REGION"),
        settings=AzureTTSService.Settings(
            voice=os.getenv("AZURE_SPEECH_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
