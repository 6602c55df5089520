# id: acme
# label: Acme Speech
# names: acme, acme_stt
# pip: acme-speech>=1,<2
# env: ACME_STT_URL required url: address, such as ws://stt.internal:9000
# env: ACME_STT_KEY optional secret: key, if the server wants one
# host: {ACME_STT_URL}
import os
import time

from acme_speech import AcmeSTTService


def build() -> AcmeSTTService:
    stt = AcmeSTTService(url=os.environ["ACME_STT_URL"], key=os.getenv("ACME_STT_KEY", ""))
    return stt
