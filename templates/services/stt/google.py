# id: stt_p
# label: Google Speech-to-Text
# names: google, google_stt
# extras: google
# keys: https://console.cloud.google.com/iam-admin/serviceaccounts
# env: GOOGLE_APPLICATION_CREDENTIALS optional path: JSON key file, else the login of the machine
# env: GOOGLE_CREDENTIALS_JSON optional secret: that file's text in single quotes, used in its place
# host: speech.googleapis.com
import os

from pipecat.services.google.stt import GoogleSTTService


def build() -> GoogleSTTService:
    stt = GoogleSTTService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON") or None,
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS") or None,
    )
    return stt
