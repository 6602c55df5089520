package render

import (
	"cmp"
	"fmt"
	"strings"
)

// The sizes of evals in megabytes, measured with framework 1.14: packages in .venv, and models that the
// first spoken eval downloads.
const (
	evalPackages      = 50 // the framework's program, and Kokoro
	moonshinePackages = 45
	whisperPackages   = 170

	kokoroModel    = 338
	moonshineModel = 142 // small-streaming, which is the bot's default, too
	whisperModel   = 486 // small
)

// EvalProgram returns the command that runs evals. As a Python module, it finds evals/judge.py.
func (d *Data) EvalProgram() string {
	if d.LocalLLM() {
		return "python -m pipecat.evals"
	}
	return "pipecat eval"
}

// EvalPackages returns the size of the packages that `--group evals` adds.
func (d *Data) EvalPackages() string {
	size := evalPackages
	if !isNamed(d.STT(), "moonshine") {
		size += moonshinePackages
	}
	if !d.English() && !isNamed(d.STT(), "whisper") {
		size += whisperPackages
	}
	return fmt.Sprintf("%d MB", size)
}

// An evalModel is a model that the first spoken eval downloads.
type evalModel struct {
	name      string
	megabytes int
}

// evalModels returns these models, except those that the bot uses itself.
func (d *Data) evalModels() (models []evalModel) {
	speaks := d.English() || d.Realtime() != nil // else people type
	if speaks && !isNamed(d.TTS(), "kokoro") {
		models = append(models, evalModel{"Kokoro", kokoroModel})
	}
	switch {
	case !d.English():
		models = append(models, evalModel{"Whisper", whisperModel})
	case !isNamed(d.STT(), "moonshine"):
		models = append(models, evalModel{"Moonshine", moonshineModel})
	}
	return models
}

// EvalDownloads returns what the first spoken eval downloads, each with its size.
func (d *Data) EvalDownloads() string {
	var names []string
	for _, m := range d.evalModels() {
		names = append(names, fmt.Sprintf("%s (%d MB)", m.name, m.megabytes))
	}
	return cmp.Or(strings.Join(names, " and "), "nothing")
}

// EvalDownloadSize returns the total size of these downloads, such as "480 MB".
func (d *Data) EvalDownloadSize() string {
	size := 0
	for _, m := range d.evalModels() {
		size += m.megabytes
	}
	return fmt.Sprintf("%d MB", size)
}

// isNamed reports whether s has this first name; s may be nil.
func isNamed(s *Service, name string) bool { return s != nil && s.Names[0] == name }
