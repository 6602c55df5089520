package render

import (
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// Evals download what the bot has not, and a bot's own model is judged by no other.
func TestEvals(t *testing.T) {
	cat := catalog.New()
	for _, c := range []struct{ language, stt, llm, tts, packages, downloads, program string }{
		{
			stt: "moonshine", llm: "ollama", tts: "piper",
			packages: "50 MB", downloads: "Kokoro (338 MB)", program: "python -m pipecat.evals",
		},
		{
			stt: "moonshine", llm: "ollama", tts: "kokoro",
			packages: "50 MB", downloads: "nothing", program: "python -m pipecat.evals",
		},
		{
			language: "de", stt: "whisper", llm: "ollama", tts: "piper",
			packages: "95 MB", downloads: "Whisper (486 MB)", program: "python -m pipecat.evals",
		},
		{
			stt: "deepgram", llm: "openai", tts: "cartesia",
			packages: "95 MB", program: "pipecat eval",
			downloads: "Kokoro (338 MB) and Moonshine (142 MB)",
		},
		{
			language: "de", stt: "deepgram", llm: "openai", tts: "cartesia",
			packages: "265 MB", downloads: "Whisper (486 MB)", program: "pipecat eval",
		},
	} {
		values := bot.Values{
			bot.OptTransports:        {List: []string{"smallwebrtc"}},
			bot.OptMode:              {Text: bot.ModeCascade},
			bot.OptSTT:               {Text: c.stt},
			bot.OptLLM:               {Text: c.llm},
			bot.OptTTS:               {Text: c.tts},
			bot.ByKey("enable_eval"): {On: true},
		}
		if c.language != "" {
			values[bot.OptLanguage] = bot.Value{Text: c.language}
		}
		d := New(configured(t, cat, values), cat, "1")
		got := [3]string{d.EvalPackages(), d.EvalDownloads(), d.EvalProgram()}
		if got != [3]string{c.packages, c.downloads, c.program} {
			t.Errorf("%s, %s: %q", c.stt, c.llm, got)
		}
		files, err := d.Files()
		if err != nil {
			t.Fatal(err)
		}
		_, hasJudge := files["server/evals/judge.py"]
		for _, name := range []string{"page.html", "evals/starter_text.yaml", "evals/starter_audio.yaml"} {
			text := string(files["server/"+name])
			if !hasJudge == (c.llm == "ollama") || strings.Contains(text, "evals.judge.words") != hasJudge {
				t.Errorf("%s, %s: %s has another judge", c.stt, c.llm, name)
			}
		}
	}
	realtime := New(configured(t, cat, bot.Values{
		bot.OptTransports: {List: []string{"smallwebrtc"}},
		bot.OptMode:       {Text: bot.ModeRealtime},
		bot.OptRealtime:   {Text: "openai"},
		bot.OptLanguage:   {Text: "de"},
	}), cat, "1")
	const both = "Kokoro (338 MB) and Whisper (486 MB)"
	if got := realtime.EvalDownloads(); got != both || realtime.EvalDownloadSize() != "824 MB" {
		t.Error(got, realtime.EvalDownloadSize())
	}
}
