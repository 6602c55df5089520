package bot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// A Config describes a bot completely. --dry-run prints it as JSON, --config reads it, and .vbot.json
// records it. The order of the keys is fixed.
type Config struct {
	ProjectName         string   `json:"project_name"`
	BotType             string   `json:"bot_type"`
	Transports          []string `json:"transports"` // canonical ids, in the order given
	Mode                string   `json:"mode"`
	STTService          string   `json:"stt_service" null:"empty"` // services are canonical ids: "stt_a"
	LLMService          string   `json:"llm_service" null:"empty"`
	TTSService          string   `json:"tts_service" null:"empty"`
	Recording           bool     `json:"recording"`
	Transcription       bool     `json:"transcription"`
	DeployToCloud       bool     `json:"deploy_to_cloud"`
	EnableNoiseCancel   bool     `json:"enable_noise_cancel"`
	EnableObservability bool     `json:"enable_observability"`
	RealtimeService     string   `json:"realtime_service" null:"empty"`
	VideoService        string   `json:"video_service" null:"empty"`
	ClientFramework     string   `json:"client_framework" null:"empty"`
	ClientServer        string   `json:"client_server" null:"empty"`
	DailyPSTNMode       string   `json:"daily_pstn_mode" null:"empty"`
	TwilioDailySIPMode  string   `json:"twilio_daily_sip_mode" null:"empty"`
	VideoInput          bool     `json:"video_input"`
	VideoOutput         bool     `json:"video_output"`
	EnableEval          bool     `json:"enable_eval"`
	SelfHost            bool     `json:"self_host"`
	Language            string   `json:"language" null:"empty"` // a BCP 47 tag
}

// MarshalJSON returns the keys in their order. An empty string with the tag null becomes null.
func (c Config) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	fields := reflect.ValueOf(c)
	for i := range fields.NumField() {
		field, value := fields.Type().Field(i), fields.Field(i).Interface()
		if value == "" && field.Tag.Get("null") == "empty" {
			value = nil
		}
		data, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ",%q:%s", field.Tag.Get("json"), data)
	}
	object := b.Bytes()
	object[0] = '{' // in place of the first comma
	return append(object, '}'), nil
}

// position returns the index of the key in the JSON of a configuration, or -1.
func position(key string) int {
	fields := reflect.TypeFor[Config]()
	for i := range fields.NumField() {
		if fields.Field(i).Tag.Get("json") == key {
			return i
		}
	}
	return -1
}
