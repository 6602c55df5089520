package catalog

// The ids of the transports that code and templates ask for. A test compares them with
// templates/services/transports. Configurations and records hold these ids, so they never change.
const (
	Daily       = "rtc_hosted"
	SmallWebRTC = "rtc_small"
	LiveKit     = "rtc_room"
	WebSocket   = "websocket"
	Twilio      = "tel_a"
	Telnyx      = "tel_b"
	Plivo       = "tel_c"
	Exotel      = "tel_d"
	Asterisk    = "tel_e"

	// These two have a dial mode, dial-in or dial-out, and a file for each.
	DailyPSTN      = "rtc_hosted_pstn"
	TwilioDailySIP = "tel_a_rtc_hosted_sip"
)
