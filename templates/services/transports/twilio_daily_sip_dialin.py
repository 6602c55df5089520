# id: tel_a_rtc_hosted_sip_dialin
# label: Twilio + Daily SIP (dial-in)
# names: twilio_daily_sip_dialin
# order: 11
# type: telephony
# generic: tel_a_rtc_hosted_sip
# mode: dial-in
# extras: daily
# pip: twilio>=9,<10
# license: BSD-2-Clause: daily-python
# license: MIT: twilio
# keys: https://dashboard.daily.co/developers
# env: DAILY_API_KEY required secret library: API key
# env: TWILIO_ACCOUNT_SID required id from https://console.twilio.com: account SID
# env: TWILIO_AUTH_TOKEN required secret unless TWILIO_API_KEY: auth token, which webhooks.py needs
# env: TWILIO_API_KEY optional id: API key of Twilio (SK...), for bot.py in place of the token
# env: TWILIO_API_SECRET optional secret with TWILIO_API_KEY: secret of that API key
# env: PUBLIC_URL optional url server: public https address, if the proxy does not forward it
# env: PIPECAT_AGENT_NAME optional id server: start the bot on Pipecat Cloud, under this agent name
# env: PIPECAT_API_KEY optional secret server with PIPECAT_AGENT_NAME: Pipecat Cloud's public key
# env: BOT_URL optional url server =http://localhost:7860: bot.py's address, unless on Pipecat Cloud
# env: HOST optional id server =127.0.0.1: address that webhooks.py listens on; 0.0.0.0 means all
# env: PORT optional id server =8080: port of webhooks.py
# host: api.twilio.com
# host: *.daily.co: the API, signals
# host: prod-ks.pluot.blue
# host: *.daily.co:23000-26999,40000-49999/udp: media
# host: stun.cloudflare.com:3478/udp
# host: *.stun.twilio.com:3478/udp
# host: turn.cloudflare.com:3478/udp: media that cannot go directly
# host: turn.cloudflare.com: media that cannot go over UDP
# host: *.turn.twilio.com: media that cannot go over UDP
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.transports.daily.transport import DailyParams


def build(krisp_filter: BaseAudioFilter | None) -> DailyParams:
    params = DailyParams(
        audio_in_enabled=True,
        audio_in_filter=krisp_filter,  # when: noise_cancel
        audio_out_enabled=True,
    )
    return params
