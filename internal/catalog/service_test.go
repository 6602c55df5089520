package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What a person has to get for a service is named with the page that has it, once for each page.
func TestCredentialsOfServices(t *testing.T) {
	cat := New()
	for _, c := range []struct{ kind, name, want string }{
		{KindSTT, "deepgram", "DEEPGRAM_API_KEY  https://console.deepgram.com/"},
		{KindSTT, "azure", "AZURE_SPEECH_API_KEY and AZURE_SPEECH_REGION  https://portal.azure.com/"},
		{KindSTT, "moonshine", ""},
		{
			KindTransport, "twilio_daily_sip_dialin",
			"DAILY_API_KEY  https://dashboard.daily.co/developers\n" +
				"TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN  https://console.twilio.com",
		},
		{
			KindTransport, "twilio", "TWILIO_ACCOUNT_SID and either TWILIO_AUTH_TOKEN\n" +
				"    or TWILIO_API_KEY with TWILIO_API_SECRET\n    https://console.twilio.com",
		},
	} {
		var lines []string
		for _, credential := range cat.Find(c.kind, c.name).Credentials() {
			lines = append(lines, credential.Line())
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	only := Credential{Names: "KEY", Page: "https://example.com", Only: "Daily"}
	if got := only.Line(); got != "KEY (only for Daily)  https://example.com" {
		t.Error(got)
	}
}

// What only one of several transports needs is said to be so, and required only if bot.py serves it.
func TestRequirementsOfTransports(t *testing.T) {
	cat := New()
	for _, c := range []struct {
		name     string
		isChoice bool
		want     string
	}{
		{"daily", false, "DAILY_API_KEY"},
		{"daily", true, "DAILY_API_KEY (only Daily) [daily]"},
		{
			"daily_pstn_dialout", false, "DAILY_API_KEY, DAILY_API_KEY server, SERVER_API_KEY server, " +
				"PIPECAT_API_KEY if PIPECAT_AGENT_NAME server",
		},
		{
			"daily_pstn_dialout", true, "DAILY_API_KEY [call], DAILY_API_KEY server, " +
				"SERVER_API_KEY server, PIPECAT_API_KEY if PIPECAT_AGENT_NAME server",
		},
		{"exotel", true, ""},
	} {
		var got []string
		for _, r := range cat.Find(KindTransport, c.name).Requirements(c.isChoice) {
			text := r.Rule.String()
			if r.Only != "" {
				text += " (only " + r.Only + ")"
			}
			if r.Runs != "" {
				text += " [" + r.Runs + "]"
			}
			if r.Server {
				text += " server"
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s, %v: %s", c.name, c.isChoice, strings.Join(got, ", "))
		}
	}
	for _, r := range cat.Find(KindLLM, "openai").Requirements(false) {
		if r.Name == "OPENAI_API_KEY" && (r.Text != "`OPENAI_API_KEY`" || r.Address != "OPENAI_BASE_URL") {
			t.Errorf("%+v", r)
		}
	}
}

// .env.example has no values. An optional variable is commented out.
func TestLinesOfVariables(t *testing.T) {
	for _, c := range []struct {
		v    Variable
		want string
	}{
		{Variable{Name: "KEY", Required: true, Note: "API key"}, "# API key\nKEY="},
		{Variable{Name: "URL", Note: "address"}, "# optional: address\n# URL="},
		{Variable{Name: "M", Note: "model", Fallback: "big"}, "# optional: model (default: big)\n# M="},
		{Variable{Name: "A", Note: "address", Other: "B"}, "# optional: address (default: B)\n# A="},
	} {
		if got := strings.Join(c.v.Lines(), "\n"); got != c.want {
			t.Errorf("%s: %q", c.v.Name, got)
		}
	}
}

// What is known about services follows from their files.
func TestFactsAboutServices(t *testing.T) {
	cat := New()
	find := cat.Find
	for about, c := range map[string]struct{ got, want any }{
		"needs of Moonshine":  {find(KindSTT, "moonshine").Needs(), "[local]"},
		"needs of SageMaker":  {find(KindTTS, "nvidia_sagemaker").Needs(), "[python>=3.12]"},
		"needs of Deepgram":   {find(KindSTT, "deepgram").Needs(), "[]"},
		"addresses of Ollama": {find(KindLLM, "ollama").AddressVariables(), "[OLLAMA_BASE_URL]"},
		"addresses of Groq":   {find(KindTTS, "groq").AddressVariables(), "[]"},
		"Ollama":              {find(KindLLM, "ollama").OnLocalhost(), "true"},
		"OpenAI":              {find(KindLLM, "openai").OnLocalhost(), "false"},
		"local Ollama":        {find(KindLLM, "ollama").Local(), "true"},
		"local OpenAI":        {find(KindLLM, "openai").Local(), "false"},
		"deprecated XTTS":     {find(KindTTS, "xtts").Deprecated(), "true"},
		"deprecated Piper":    {find(KindTTS, "piper").Deprecated(), "false"},
		"cloud and Daily":     {find(KindTransport, "daily").CloudRuns(), "true"},
		"cloud and LiveKit":   {find(KindTransport, "livekit").CloudRuns(), "false"},
		"cloud and Asterisk":  {find(KindTransport, "asterisk").CloudRuns(), "false"},
		"first host of Piper": {find(KindTTS, "piper").Hosts[0].Note, "the voice, at the first start"},
		"downloads of Piper":  {find(KindTTS, "piper").Hosts[0].ForDownload, "true"},
		"more of Piper":       {find(KindTTS, "piper").Hosts[1].ForDownload, "false"},
		"addresses of Twilio": {find(KindTransport, "twilio").Addresses(), "[api.twilio.com]"},
		"addresses of Exotel": {find(KindTransport, "exotel").Addresses(), "[]"},
		"client of Daily":     {find(KindTransport, "daily").Client.Package, "@pipecat-ai/daily-transport"},
		"client of Twilio":    {find(KindTransport, "twilio").Client, "{ }"},
		"size of HeyGen":      {find(KindVideo, "heygen").Width, "1280"},
		"dial-in":             {cat.DialMode(DailyPSTN, "dial-in").Names, "[daily_pstn_dialin]"},
		"dial-out":            {cat.DialMode(TwilioDailySIP, "dial-out").Names, "[twilio_daily_sip_dialout]"},
		"no dial mode":        {cat.DialMode(Daily, "dial-in") == nil, "true"},
		"UDP":                 {Host{Address: "a:1/udp"}.IsUDP(), "true"},
		"TCP":                 {Host{Address: "a:1"}.IsUDP(), "false"},
		"Piper reads":         {find(KindTTS, "piper").Language(), "voice"},
		"Whisper is told":     {find(KindSTT, "whisper").Language(), "told"},
		"OpenAI finds out":    {find(KindTTS, "openai").Language(), "auto"},
		"Groq knows one":      {find(KindTTS, "groq").Language(), "fixed"},
		"Groq's one":          {find(KindTTS, "groq").LanguageNames(), "[English]"},
		"models say nothing":  {find(KindLLM, "openai").Language(), ""},
		"model of OpenAI":     {cat.OfModel(KindLLM, "gpt-4o").Names[0], "openai"},
		"model of OpenAI too": {cat.OfModel(KindRealtime, "gpt-9").Names[0], "openai"},
		"model of nobody":     {cat.OfModel(KindLLM, "4711") == nil, "true"},
		"model of speech":     {cat.OfModel(KindVideo, "gpt-4o") == nil, "true"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", about, got, c.want)
		}
	}
}

// Languages have English names, in any letter case.
func TestNamesOfLanguages(t *testing.T) {
	if TagOf("german") != "de" || TagOf("Klingon") != "" {
		t.Error(TagOf("german"), TagOf("Klingon"))
	}
	if LanguageName("de") != "German" || LanguageName("de-AT") != "" {
		t.Error(LanguageName("de"), LanguageName("de-AT"))
	}
}

// Transports are listed in their order, by type; ids are a list even if there are none.
func TestTypesOfTransports(t *testing.T) {
	cat := New()
	web := []string{Daily, SmallWebRTC, LiveKit, WebSocket}
	if got := IDs(cat.Transports(false)); !slices.Equal(got, web) {
		t.Errorf("%q", got)
	}
	if got := IDs(cat.Transports(true)); got[0] != Twilio || len(got) != 11 {
		t.Errorf("%q", got)
	}
	if IDs(nil) == nil {
		t.Error("JSON has null")
	}
}
