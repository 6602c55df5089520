package render

import (
	"cmp"
	"slices"
	"testing"

	"vbot/internal/catalog"
	"vbot/templates"
)

// Every service and every caller is played by a class, in files that are there with all that they import.
func TestStandInsAreThere(t *testing.T) {
	cat := catalog.New()
	for _, kind := range append(slices.Clone(catalog.ServiceKinds), catalog.KindTransport) {
		for _, s := range cat.List(kind) {
			name := cmp.Or(s.StandIn.File, substitutes[kind])
			if name == "" {
				continue // a face, or rooms of another company
			}
			file := "stand_ins/" + kind + "/" + name
			if kind == catalog.KindTransport {
				file = "people/" + name
			}
			if lastClass(file) == "" {
				t.Errorf("%s: %s has no class", s.Label, file)
			}
			for _, path := range withImported(nil, file) {
				if _, err := templates.Files.ReadFile(path); err != nil {
					t.Errorf("%s: %v", s.Label, err)
				}
			}
		}
	}
}

func TestFilesOfStandIns(t *testing.T) {
	d := &Data{}
	d.EnableEval = true
	for file, imported := range map[string]string{
		"stand_ins/llm/ollama":   "stand_ins/llm/openai_chat.py",
		"stand_ins/realtime/xai": "stand_ins/realtime/realtime_api.py",
		"people/twilio":          "people/phone.py",
		"stand_ins/stt/deepgram": "stand_ins/stt/__init__.py",
		"stand_ins/tts/deepgram": "stand_ins/__init__.py",
	} {
		if paths := withImported(nil, file); !slices.Contains(paths, testsFolder+imported) {
			t.Errorf("%s without %s: %v", file, imported, paths)
		}
	}
	if paths := d.standInFiles(); !slices.Contains(paths, testsFolder+"people/person.py") {
		t.Errorf("no people: %v", paths)
	}
	if paths := (&Data{}).standInFiles(); paths != nil {
		t.Errorf("a bot without tests has %v", paths)
	}
}
