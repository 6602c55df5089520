package render

import (
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// README.md and the last words of init say what the measured services take, and of others only what
// Ollama does.
func TestWhatABotTakes(t *testing.T) {
	cat := catalog.New()
	for tts, isMeasured := range map[string]bool{"piper": true, "kokoro": false} {
		said := bot.OnThisMachine()
		said[bot.OptTTS] = bot.Value{Text: tts}
		cfg, _, problems := bot.Resolve(cat, said, "bot")
		d := New(cfg, cat, "1")
		files, err := d.Files()
		if len(problems) > 0 || err != nil {
			t.Fatal(problems, err)
		}
		last, _, err := d.NextSteps("server", "client", "README.md")
		if err != nil {
			t.Fatal(err)
		}
		for text, figures := range map[string][]string{
			string(files["README.md"]): {bot.Measured().Answers, "the bot " + bot.Measured().BotMemory},
			last:                       {bot.Measured().Answers, bot.Measured().Memory},
		} {
			for _, figure := range figures {
				if strings.Contains(text, figure) != isMeasured {
					t.Errorf("%s: %q in %s", tts, figure, text)
				}
			}
			if !strings.Contains(text, bot.Measured().Ollama) {
				t.Errorf("%s: nothing about Ollama in %s", tts, text)
			}
		}
		if !strings.Contains(string(files["README.md"]), "takes "+bot.Measured().ModelMemory+" of memory") {
			t.Errorf("%s: README.md does not say what the model takes", tts)
		}
	}
}
