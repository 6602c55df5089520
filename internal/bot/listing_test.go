package bot

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vbot/internal/catalog"
)

// A listing has the services of each kind under the key of the kind, and the transports by type of bot.
func TestListOptions(t *testing.T) {
	cat := catalog.New()
	got := ListOptions(cat)
	want := Sections[[]string]{
		BotType: []string{BotWeb, BotTelephony},
		Transports: ByBotType[[]string]{
			Web:       []string{catalog.Daily, catalog.SmallWebRTC, catalog.LiveKit, catalog.WebSocket},
			Telephony: catalog.IDs(cat.Transports(true)),
		},
		STT:      catalog.IDs(cat.List(catalog.KindSTT)),
		LLM:      catalog.IDs(cat.List(catalog.KindLLM)),
		TTS:      catalog.IDs(cat.List(catalog.KindTTS)),
		Realtime: catalog.IDs(cat.List(catalog.KindRealtime)),
		Video:    catalog.IDs(cat.List(catalog.KindVideo)),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// A description of one kind has its services.
func TestDescriptions(t *testing.T) {
	cat := catalog.New()
	for _, kind := range catalog.ServiceKinds {
		var ids []string
		for _, p := range Describe(cat, kind).(map[string]any)[kind].([]ServiceInfo) {
			ids = append(ids, p.ID)
		}
		if !slices.Equal(ids, catalog.IDs(cat.List(kind))) {
			t.Errorf("%s: %q", kind, ids)
		}
	}
	transports := Describe(cat, catalog.KindTransport).(map[string]any)[catalog.KindTransport]
	all := Describe(cat, "").(Sections[[]ServiceInfo])
	if !reflect.DeepEqual(transports, all.Transports) || len(all.STT) < 20 || len(all.Video) == 0 {
		t.Errorf("%d transports, %d and %d services", len(all.Transports.Web), len(all.STT), len(all.Video))
	}
}

// The JSON of a service has everything about it; lists are never null, unknown values are.
func TestDescriptionOfAService(t *testing.T) {
	data, err := json.Marshal(infoOf(catalog.New().Find(catalog.KindTransport, "twilio")))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"id":"tel_a","label":"Twilio","names":["twilio"],"env":[{"name":"TWILIO_ACCOUNT_SID",` +
			`"required":true,"required_unless":null,"required_with":null,"refused_with":null,"kind":"id",` +
			`"default":null,"default_variable":null,"note":"account SID"}`,
		`{"name":"TWILIO_AUTH_TOKEN","required":true,"required_unless":"TWILIO_API_KEY",`,
		`"refused_with":"TWILIO_AUTH_TOKEN"`,
		`"required_with":"TWILIO_API_KEY"`,
		`"extras":["websocket"],"needs":[],"hosts":["api.twilio.com"],"language":null,"languages":[]}`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in\n%s", want, data)
		}
	}
	data, err = json.Marshal(Describe(catalog.New(), "").(Sections[[]ServiceInfo]).BotType)
	if want := `[{"id":"web","label":"Web","names":[],"env":[],"extras":[],"needs":[],"hosts":[],` +
		`"language":null,"languages":[]},{"id":"telephony","label":"Telephony",`; err != nil ||
		!strings.HasPrefix(string(data), want) {
		t.Errorf("%s, %v", data, err)
	}
}

// The description for people has a paragraph for each service, in 80 columns.
func TestDescriptionForPeople(t *testing.T) {
	cat := catalog.New()
	text := DescribeText(cat, catalog.KindTTS)
	const paragraph = `
  piper                     Piper, tts_aa, piper_tts
                            [PIPER_VOICES_DIR], [PIPER_VOICE_ID]
                            languages voice
                            local, extras piper
`
	if !strings.HasPrefix(text, "Text to speech (--tts)\n\n  cartesia                  Cartesia, tts_a,") ||
		!strings.Contains(text, paragraph) || strings.Contains(text, "(--stt)") {
		t.Error(text)
	}
	all := DescribeText(cat, "")
	for _, title := range []string{
		"Web transports (--transport)", "Telephony transports (--transport)", "Speech to text (--stt)",
		"Language models (--llm)", "Speech to speech (--realtime)", "Video avatars (--video)",
	} {
		if !strings.Contains("\n\n"+all, "\n\n"+title+"\n\n") {
			t.Errorf("nothing is called %s", title)
		}
	}
	for line := range strings.Lines(all) {
		if len([]rune(line)) > 81 { // with its end
			t.Errorf("too long: %s", line)
		}
	}
}

// The schema allows each key, with the values that there are, and null.
func TestSchema(t *testing.T) {
	schema := Schema(catalog.New())
	properties := schema["properties"].(map[string]any)
	others := 3 + len(afterConfig) // $schema, generate_client and enable_krisp
	if len(properties) != len(Options)+others || schema["additionalProperties"] != false {
		t.Errorf("%d properties", len(properties))
	}
	for key, want := range map[string]string{
		"project_name":    `{"anyOf":[{"type":"string"},{"type":"null"}],"description":"project name (`,
		"recording":       `{"anyOf":[{"type":"boolean"},{"type":"null"}],"description":"record the conv`,
		"enable_krisp":    `{"anyOf":[{"type":"boolean"},{"type":"null"}],"description":"filter noise; n`,
		"mode":            `{"anyOf":[{"enum":["cascade","realtime"]},{"type":"null"}],"description":"ca`,
		"transports":      `{"anyOf":[{"items":{"enum":["rtc_hosted","daily","rtc_small","smallwebrtc",`,
		"stt_service":     `{"anyOf":[{"enum":["stt_a","deepgram","deepgram_stt",`,
		"generate_client": `{"description":"of pipecat init: whether there is a client","type":"boolean"}`,
		"$schema":         `{"description":"the address of this schema","type":"string"}`,
	} {
		data, err := json.Marshal(properties[key])
		if err != nil || !strings.HasPrefix(string(data), want) {
			t.Errorf("%s: %s, %v", key, data, err)
		}
	}
}

// An option is called as it was given.
func TestNamesOfOptions(t *testing.T) {
	recording := ByKey("recording")
	for _, c := range []struct {
		value Value
		want  string
	}{
		{Value{On: true}, "recording"},
		{Value{On: true, Alias: "--recording"}, "--recording"},
		{Value{On: false, Alias: "--no-recording"}, "--no-recording"},
		{Value{On: true, Alias: "generate_client"}, "recording"},
	} {
		if got := recording.CalledBy(c.value); got != c.want {
			t.Errorf("%+v: %s", c.value, got)
		}
	}
	if got := OptSTT.Where(); got != "--stt (stt_service)" {
		t.Error(got)
	}
	if ByKey("enable_krisp") != optNoiseCancel || ByKey("") != nil || ByKey("stt") != nil {
		t.Error("keys lead to other options")
	}
	if OptName.Question() != "Project name" || recording.Question() != AskOptions.Text {
		t.Error("the questions are others")
	}
}

// A list of services is cut off for people; ids are complete.
func TestAllowedValues(t *testing.T) {
	cat := catalog.New()
	all, line := OptVideo.AllowedIn(cat)
	ids := catalog.IDs(cat.List(catalog.KindVideo))
	if !slices.Equal(all, ids) || !strings.HasPrefix(line, "allowed: heygen") {
		t.Errorf("%q, %s", all, line)
	}
	all, line = OptMode.AllowedIn(cat)
	if !slices.Equal(all, []string{ModeCascade, ModeRealtime}) || line != "" {
		t.Errorf("%q, %s", all, line)
	}
	if all, line = OptName.AllowedIn(cat); all != nil || line != "" {
		t.Errorf("%q, %s", all, line)
	}
}

// A transport that an update names may change the type of the bot, unless somebody asked for the type.
func TestUpdate(t *testing.T) {
	cat := catalog.New()
	daily, twilio := Value{List: []string{"rtc_hosted"}}, Value{List: []string{"tel_a"}}
	for _, c := range []struct {
		about           string
		recorded, typed Values
		want            string
	}{
		{"web", Values{OptTransports: daily, OptBotType: {Text: BotWeb}}, Values{}, BotWeb},
		{
			"web to phone",
			Values{OptTransports: daily, OptBotType: {Text: BotWeb}},
			Values{OptTransports: twilio},
			"",
		},
		{
			"phone to web",
			Values{OptTransports: twilio, OptBotType: {Text: BotTelephony}},
			Values{OptTransports: daily},
			"",
		},
		{
			"asked for",
			Values{OptTransports: daily, OptBotType: {Text: BotTelephony}},
			Values{OptTransports: daily},
			BotTelephony,
		},
	} {
		if got := Update(cat, c.recorded, c.typed)[OptBotType].Text; got != c.want {
			t.Errorf("%s: %q", c.about, got)
		}
		if len(c.recorded) != 2 {
			t.Errorf("%s: the recorded values changed", c.about)
		}
	}
	config := Defaults()
	if config.Transports = []string{"tel_a"}; !config.HasTelephone(cat) {
		t.Error("Twilio is no telephone")
	}
	if config.Transports = []string{"rtc_hosted", "nothing"}; config.HasTelephone(cat) {
		t.Error("Daily is a telephone")
	}
}
