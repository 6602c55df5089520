package main

import (
	"path/filepath"
	"strings"
	"testing"

	"vbot/internal/filetest"
	"vbot/internal/report"
)

// A guide that is a link is kept, and not reported as different, because vbot does not read it.
func TestGuideThatIsALink(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Link(t, "elsewhere", filepath.Join(dir, "AGENTS.md"))
	r := vbot(t, dir, "init", ".", "--no-input")
	r.wantCode(t, 0)
	if !strings.Contains(r.stderr, "kept AGENTS.md, which is a link, unreadable or larger than 1 MiB\n") {
		t.Errorf("it said %s", r.stderr)
	}
}

// Guides.

func TestGuides(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	r := vbot(t, dir, "init", "target")
	r.wantCode(t, 0)
	section(t, "init.txt", "guides", r.transcript(dir))
	goldenTree(t, "guides", filepath.Join(dir, "target"))
	again := vbot(t, dir, "init", "target", "--json")
	again.wantCode(t, 0)
	section(t, "init.txt", "guides again", again.transcript(dir))
}

const stamp = "<!-- vbot %s wrote this; `vbot init --overwrite-guide` brings it up to date. -->\n"

// Existing guides are kept, whoever wrote them, and the person is told how to
// replace them.
func TestExistingGuides(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/AGENTS.md", "from long ago\n"+strings.Replace(stamp, "%s", "0.0.9", 1))
	filetest.Put(t, dir, "target/AGENT_IMPORT.md", "my own")
	filetest.Put(t, dir, "target/GETTING_STARTED.md",
		"from the future\n"+strings.Replace(stamp, "%s", "99.0.0", 1))
	before := filetest.Listing(t, dir)
	r := vbot(t, dir, "init", "target")
	r.wantCode(t, 0)
	section(t, "init.txt", "guides kept", r.transcript(dir))
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	r = vbot(t, dir, "init", "target", "--overwrite-guide")
	r.wantCode(t, 0)
	section(t, "init.txt", "guides replaced", r.transcript(dir))
	goldenTree(t, "guides", filepath.Join(dir, "target"))
	if got := filetest.Listing(t, dir); strings.Contains(got, ".vbot-") {
		t.Errorf("something was left behind:\n%s", got)
	}
}

// The last line of a guide names the command that replaces it, as a coding agent would
// run it: in the guide's directory, without a terminal.
func TestCommandInGuides(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, "init", ".").wantCode(t, 0)
	for name, guide := range filetest.Tree(t, dir) {
		_, command, _ := strings.Cut(guide[strings.LastIndex(guide, "<!-- vbot "):], "`vbot ")
		command, _, _ = strings.Cut(command, "`")
		filetest.Put(t, dir, name, "old")
		vbot(t, dir, strings.Fields(command)...).wantCode(t, 0)
		if filetest.Tree(t, dir)[name] != guide {
			t.Errorf("vbot %s did not replace %s", command, name)
		}
	}
}

// A shell accepts the command that replaces a guide, whatever the name of the directory.
func TestCommandForAGuide(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "my bot/AGENTS.md", "mine")
	r := vbot(t, dir, "init", "my bot", "--no-input")
	r.wantCode(t, 0)
	command := "vbot init --no-input --overwrite-guide " + report.ShellQuote(filepath.Join(dir, "my bot"))
	if !strings.Contains(r.stderr, "to replace it: "+command+"\n") {
		t.Errorf("it said %s", r.stderr)
	}
}

// An agent that follows the guide to add an option to an edited bot gets all of it, and where
// its edits are in the way, both between markers.
func TestOptionsChangedAsTheGuideSays(t *testing.T) {
	parallel(t)
	for edit, code := range map[string]int{"# mine\n": 0, "": 1} {
		dir := t.TempDir()
		vbot(t, dir, append([]string{"init", "."}, strings.Fields(cascade)...)...).wantCode(t, 0)
		tree := filetest.Tree(t, dir)
		_, section, _ := strings.Cut(tree["AGENTS.md"], "## Change the options\n")
		_, command, _ := strings.Cut(section, "`vbot ")
		command, _, _ = strings.Cut(command, "`")
		const end = "\n\n\nasync def bot(" // of TRANSPORTS, which gets another entry
		mine := strings.Replace(tree["server/bot.py"], "}"+end, "}  # mine"+end, 1)
		if code == 0 {
			mine = tree["server/bot.py"] + edit
		}
		filetest.Put(t, dir, "server/bot.py", mine)
		vbot(t, dir, strings.Fields(command)...).wantCode(t, code)
		text := filetest.Tree(t, dir)["server/bot.py"]
		if code == 1 {
			vbot(t, dir, append(strings.Fields(command), "--conflict-markers")...).wantCode(t, 1)
			text = filetest.Tree(t, dir)["server/bot.py"]
			if !strings.Contains(text, "\n<<<<<<< yours\n") {
				t.Errorf("bot.py has no markers:\n%s", text)
			}
		}
		hasEvals := filetest.Tree(t, dir)["server/evals/starter_text.yaml"] != ""
		if !hasEvals || !strings.Contains(text, "\"eval\": lambda") || !strings.Contains(text, edit) {
			t.Errorf("after the update:\n%s\n%s", filetest.Listing(t, dir), text)
		}
	}
}

// A directory with a bot gets no guide to get started.
func TestGuidesBesideABot(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/server/bot.py", "mine")
	filetest.Put(t, dir, "target/GETTING_STARTED.md", "mine")
	r := vbot(t, dir, "init", "target", "--overwrite-guide")
	r.wantCode(t, 0)
	section(t, "init.txt", "guides beside a bot", r.transcript(dir))
	if got := filetest.Tree(t, filepath.Join(dir, "target"))["GETTING_STARTED.md"]; got != "mine" {
		t.Errorf("GETTING_STARTED.md holds %q", got)
	}
}

// A scaffold keeps existing guides, too, and they are never a conflict.
func TestScaffoldBesideGuides(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/AGENTS.md", "my own")
	filetest.Put(t, dir, "target/GETTING_STARTED.md", "my own")
	r := vbot(t, dir, initArgs()...)
	r.wantCode(t, 0)
	section(t, "init.txt", "bot beside guides", r.transcript(dir))
	vbot(t, dir, initArgs("--overwrite-guide")...).wantCode(t, 0)
	tree := filetest.Tree(t, filepath.Join(dir, "target"))
	if tree["AGENTS.md"] == "my own" || tree["GETTING_STARTED.md"] != "my own" {
		t.Errorf("AGENTS.md: %.20q, GETTING_STARTED.md: %q", tree["AGENTS.md"], tree["GETTING_STARTED.md"])
	}
}

// What callers hear while no bot answers is in the bot's language, wherever a guide prints it.
func TestCarriersSpeakTheLanguageOfTheBot(t *testing.T) {
	parallel(t)
	guides := map[string]string{"deploy/README.md": "--self-host", "DEPLOY.md": "--deploy-to-cloud"}
	for language, sentence := range map[string]string{
		"de": `"de-DE">Zurzeit kann niemand Ihren Anruf annehmen. Bitte rufen Sie später wieder an.</Say>`,
		"en": `"en-US">Nobody can take your call right now. Please call again later.</Say>`,
	} {
		for file, hosted := range guides {
			dir := t.TempDir()
			options := "init . -t twilio " + cascade + " --language " + language + " " + hosted
			if file != "DEPLOY.md" {
				options += " --no-deploy-to-cloud"
			}
			vbot(t, dir, strings.Fields(options)...).wantCode(t, 0)
			text := filetest.Tree(t, dir)[file]
			if got := strings.Count(text, "<Say "); got != strings.Count(text, sentence) || got == 0 {
				t.Errorf("%s in %s has %d sentences, not all of which are %s", file, language, got, sentence)
			}
		}
	}
}

// BUSINESS.md says of each bot what its log has, and names no setting that the bot does not have.
func TestWhatTheLogHasIsSaid(t *testing.T) {
	parallel(t)
	for options, want := range map[string]struct{ has, lacks string }{
		"--self-host":                 {"at `INFO` neither. `LOG_LEVEL` sets it", "PIPECAT_LOG_LEVEL"},
		"--self-host --transcription": {"at `INFO` only the transcript. `LOG_LEVEL`", "neither"},
		"--deploy-to-cloud":           {"`PIPECAT_LOG_LEVEL` sets the level", "RECORD=ask"},
		"--self-host --recording":     {"`RECORD=ask` in `.env` asks first", "PIPECAT_LOG_LEVEL"},
	} {
		dir := t.TempDir()
		args := append(strings.Fields("init . -t twilio "+cascade), strings.Fields(options)...)
		if !strings.Contains(options, "cloud") {
			args = append(args, "--no-deploy-to-cloud")
		}
		vbot(t, dir, args...).wantCode(t, 0)
		text := strings.Join(strings.Fields(filetest.Tree(t, dir)["BUSINESS.md"]), " ")
		if !strings.Contains(text, want.has) || strings.Contains(text, want.lacks) {
			t.Errorf("with %s, it has not %q, or has %q:\n%s", options, want.has, want.lacks, text)
		}
		if n := len(strings.Fields(text)); n > 400 {
			t.Errorf("with %s, it has %d words", options, n)
		}
	}
}
