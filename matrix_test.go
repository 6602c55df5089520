package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/python"
	"vbot/internal/render"
)

// matrixBots are the bots of TestMatrix, as options of init.
var matrixBots = map[string]string{
	"web": "-t smallwebrtc -m cascade --stt deepgram --llm openai --tts cartesia",
	"full": "-t smallwebrtc -t daily -m cascade --stt deepgram_flux --llm openai --tts cartesia " +
		"--recording --transcription --observability --eval --self-host --client-framework react " +
		"--language fr",
	"realtime": "-t smallwebrtc -m realtime --realtime openai",
	"own":      "-t smallwebrtc -m cascade --stt moonshine --llm ollama --tts piper",
	"phone":    "-t twilio -t smallwebrtc -m cascade --stt deepgram --llm openai --tts cartesia",
	"speaker":  "-t telnyx -m realtime --realtime gemini_live",
	"dial-in":  "-t daily_pstn_dialin -t twilio -m cascade --stt deepgram --llm openai --tts cartesia",
	"dial-out": "-t daily_pstn_dialout -m cascade --stt deepgram --llm openai --tts cartesia",
	"sip": "-t twilio_daily_sip_dialin -t smallwebrtc " +
		"-m cascade --stt deepgram --llm openai --tts cartesia",
	"ultravox": "-t smallwebrtc -m realtime --realtime ultravox",
	"every-way": "-t smallwebrtc -t twilio -t plivo -t livekit " +
		"-m cascade --stt openai --llm anthropic --tts elevenlabs --no-deploy-to-cloud",
}

// matrixChanges are the changes of options in TestMatrix. A change that a bot cannot have, or already has,
// is left out.
var matrixChanges = []string{
	"--stt openai", "--stt google", "--stt moonshine",
	"--llm anthropic", "--llm google", "--llm ollama",
	"--tts elevenlabs", "--tts openai", "--tts piper",
	"--realtime openai", "--realtime gemini_live", "--realtime ultravox",
	"--stt openai --llm anthropic --tts elevenlabs",
	"-m realtime --realtime openai",
	"-m cascade --stt deepgram --llm openai --tts cartesia",
	"--recording", "--no-recording",
	"--transcription", "--no-transcription",
	"--language de", "--language pt-BR",
	"--observability", "--no-observability",
	"--eval", "--no-eval",
	"--self-host", "--no-self-host",
	"--deploy-to-cloud", "--no-deploy-to-cloud",
	"--enable-noise-cancel",
	"-t smallwebrtc", "-t smallwebrtc -t daily", "-t smallwebrtc -t livekit", "-t smallwebrtc -t websocket",
	"-t smallwebrtc -t twilio", "-t twilio", "-t telnyx", "-t twilio -t telnyx -t smallwebrtc",
	"-t daily_pstn_dialin", "-t daily_pstn_dialout -t smallwebrtc",
	"--client-framework react", "--client-framework vanilla", "--client-framework none",
	"--video heygen", "--video-input",
	"--recording --transcription --observability --eval --self-host --language de",
}

// A draftOfOwner is a project that its owner edits as its documents say.
type draftOfOwner struct {
	t     *testing.T
	files map[string]string
}

const (
	agentPy     = "server/agent.py"
	botPy       = "server/bot.py"
	sentencesPy = "server/sentences.py"
)

// replace replaces a text that is in the file exactly once, and reports whether it is.
func (d *draftOfOwner) replace(name, old, new string) bool {
	if strings.Count(d.files[name], old) != 1 {
		return false
	}
	d.files[name] = strings.Replace(d.files[name], old, new, 1)
	return true
}

// addImports adds import statements where bot.py has its owner's, sorted as `ruff check --fix` does.
func (d *draftOfOwner) addImports(code string) {
	const comment = "# Your own imports go below. Updates change those above.\n# isort: split\n"
	above, rest, _ := strings.Cut(d.files[botPy], comment)
	own, below := rest, ""
	if at := regexp.MustCompile(`(?m)^(\n\n|\n#)`).FindStringIndex(rest); at != nil {
		own, below = rest[:at[0]], rest[at[0]:]
	}
	imports := python.FormatImports(append(python.ParseImports(own), python.ParseImports(code)...))
	d.files[botPy] = above + comment + imports + below
}

// addTool adds a tool, which is a file of its own: its name in TOOLS, its import, and the variables that it
// needs.
func (d *draftOfOwner) addTool(module, block string, variables ...string) bool {
	const mine, end = "# Your own imports go below", "    # your own, one per line\n]\n"
	const required = "    # your own, one per line, such as"
	name := regexp.MustCompile(`async def (\w+)`).FindStringSubmatch(block)[1]
	line := regexp.MustCompile(`(?m)^` + mine + `.*\n`).FindString(d.files[agentPy])
	d.files["server/"+module+".py"] = block
	ok := d.replace(agentPy, line, line+"from "+module+" import "+name+"\n") &&
		d.replace(agentPy, end, "    "+name+",\n"+end)
	for _, variable := range variables {
		ok = ok && d.replace(agentPy, required, "    \""+variable+"\",\n"+required)
		d.files["server/.env.example"] += variable + "=\n"
	}
	return ok
}

// addPackage adds a package as `uv add` does, which keeps lists sorted.
func (d *draftOfOwner) addPackage(requirement string) bool {
	const name, empty, head = "server/pyproject.toml", "\ndependencies = []\n", "\ndependencies = [\n"
	d.replace(name, empty, head+"]\n")
	before, rest, ok := strings.Cut(d.files[name], head)
	list, after, closed := strings.Cut(rest, "]\n")
	lines, line := slices.Collect(strings.Lines(list)), "    \""+requirement+"\",\n"
	at, _ := slices.BinarySearch(lines, line)
	d.files[name] = before + head + strings.Join(slices.Insert(lines, at, line), "") + "]\n" + after
	return ok && closed
}

// above adds code above a line that is in bot.py exactly once.
func (d *draftOfOwner) above(line, code string) bool {
	return d.replace(botPy, "\n"+line, "\n"+strings.TrimRight(code, "\n")+"\n"+line)
}

// blocks returns the blocks of Python in the part of a document that begins with the text, or nil. The first
// comment of a block may say where it belongs.
func (d *draftOfOwner) blocks(name, start, end string) (blocks []string) {
	_, part, ok := strings.Cut(d.files[name], start)
	if !ok {
		return nil
	}
	part, _, _ = strings.Cut(part, end)
	block := regexp.MustCompile("(?ms)^```python\n(?:# In \\w+\\.\n)?(.*?)^```$")
	for _, m := range block.FindAllStringSubmatch(part, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// parted splits a block into its imports and the rest.
func parted(block string) (imports, rest string) {
	at := regexp.MustCompile(`(?m)^(@|def |async def |class |    \S|TOOLS)`).FindStringIndex(block)
	if at == nil {
		return block, ""
	}
	return strings.TrimSpace(block[:at[0]]) + "\n", block[at[0]:]
}

// matrixEdits are the edits that README.md, RECIPES.md and DEPLOY.md suggest to the owner of a bot. Each
// reports whether the documents of this bot suggest it.
var matrixEdits = []struct {
	name string
	do   func(d *draftOfOwner) bool
}{
	{"prompt", func(d *draftOfOwner) bool {
		return d.replace(agentPy, "a friendly assistant in", "Captain Ahab, in")
	}},
	{"greeting", func(d *draftOfOwner) bool {
		return d.replace(agentPy, `"Greet the person and introduce yourself briefly."`, `"Ahoy!"`) &&
			d.replace(agentPy, "SAY_GREETING = False", "SAY_GREETING = True")
	}},
	{"tool of README.md", func(d *draftOfOwner) bool {
		return d.addTool("days", d.blocks("README.md", "### Tools", "\n## ")[0])
	}},
	{"handing over", func(d *draftOfOwner) bool {
		blocks := d.blocks("DEPLOY.md", "\n## Handing a call", "**Over")
		if blocks == nil {
			return false
		}
		return d.addTool("handing_over", blocks[0], "COLLEAGUE", "TIME_ZONE")
	}},
	{"own tests", func(d *draftOfOwner) bool {
		const tests = "server/tests/test_agent.py"
		return d.replace(tests, "\nfrom vbot.testing", "\nfrom days import days_until\nfrom vbot.testing")
	}},
	{"variable", func(d *draftOfOwner) bool {
		const required = "    # your own, one per line, such as"
		d.files["server/.env.example"] += "\n# My calendar\nCALENDAR_KEY=\n"
		return d.replace(agentPy, required, "    \"CALENDAR_KEY\",\n"+required)
	}},
	{"package", func(d *draftOfOwner) bool { return d.addPackage("caldav>=2") }},
	{"apology", func(d *draftOfOwner) bool {
		return d.replace(sentencesPy, `"Sorry, I cannot answer right now. Please try again."`, `"Excuse me."`)
	}},
	{"file in the image", func(d *draftOfOwner) bool {
		return d.replace("server/Dockerfile", "COPY *.py ./\n", "COPY *.py menu.txt ./\n")
	}},
	{"more time", func(d *draftOfOwner) bool {
		const is = `llm: vbot.Service("OpenAI", "OPENAI_API_KEY"`
		return d.replace(botPy, is+")", is+", answers_within=60)")
	}},
	{"another service", func(d *draftOfOwner) bool {
		blocks := d.blocks("RECIPES.md", "**Let another service take over**", "\nAny error")
		if blocks == nil || !strings.Contains(d.files[botPy], "OpenAILLMService(") {
			return false
		}
		second := "    second_stt, second_llm, second_tts = make_services()\n"
		return d.above("    pipeline = Pipeline(", second+blocks[0])
	}},
	{"mute", func(d *draftOfOwner) bool {
		imports, code := parted(d.blocks("RECIPES.md", "**Mute the person**", "\n**Let the model")[0])
		d.addImports(imports)
		return d.above("    await runner.run()\n", code+"\n")
	}},
	{"turns", func(d *draftOfOwner) bool {
		imports, code := parted(d.blocks("RECIPES.md", "**Turns and interruptions.**", "**Steps")[0])
		imports, _, _ = strings.Cut(imports, "\n#")
		const is = "        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())\n"
		const start = "        context,\n        user_params=LLMUserAggregatorParams(\n" +
			"            vad_analyzer=SileroVADAnalyzer(),\n"
		arguments := regexp.MustCompile(`(?m)^    `).ReplaceAllString(code, "            ")
		if !d.replace(botPy, is, start+arguments+"        ),\n") {
			return false
		}
		d.addImports(imports)
		return true
	}},
	{"noise", func(d *draftOfOwner) bool {
		if !d.replace(botPy, "SileroVADAnalyzer()", "SileroVADAnalyzer(params=VADParams(confidence=0.8))") {
			return false
		}
		d.addImports("from pipecat.audio.vad.vad_analyzer import VADParams\n")
		return true
	}},
	{"patience of the service", func(d *draftOfOwner) bool {
		const flux = "        settings=DeepgramFluxSTTService.Settings(\n"
		const nova = "    stt = DeepgramSTTService(\n"
		return d.replace(botPy, flux, flux+"            eot_timeout_ms=7000,\n") ||
			d.replace(botPy, nova, nova+"        ttfs_p99_latency=0.4,\n")
	}},
	{"idle time", func(d *draftOfOwner) bool {
		return d.replace(botPy, "runner_args.pipeline_idle_timeout_secs", "60")
	}},
	{"processor", func(d *draftOfOwner) bool {
		const is = "            user_aggregator,\n            llm,\n"
		d.addImports("from pipecat.processors.frame_processor import FrameProcessor\n")
		return d.replace(botPy, is, strings.Replace(is, "llm", "FrameProcessor(),\n            llm", 1))
	}},
	{"telephone keys", func(d *draftOfOwner) bool {
		const is = "            transport.input(),\n"
		d.addImports("from pipecat.processors.aggregators.dtmf_aggregator import DTMFAggregator\n")
		return d.replace(botPy, is, is+"            DTMFAggregator(timeout=3),\n")
	}},
	{"steps", func(d *draftOfOwner) bool {
		d.files["server/flow.py"] = d.blocks("RECIPES.md", "**Steps of a conversation**", "Then change")[0]
		const start, ready = "    # Reports services that fail", "    async def on_ready(conversation):\n"
		const above, built = "            user_aggregator,\n", "    return pipeline, services"
		const calls = "    pipeline, services"
		d.addImports("import flow\n")
		return d.replace(botPy, "    user_aggregator, assistant_aggregator = LLM",
			"    user_aggregator, assistant_aggregator = aggregators = LLM") &&
			d.replace(botPy, above, "            flow.KeepTools(tools),\n"+above) &&
			d.replace(botPy, built+"\n", built+", llm, aggregators\n") &&
			d.replace(botPy, calls+" = await", calls+", llm, aggregators = await") &&
			d.replace(botPy, start, "    steps = flow.flow_of(worker, llm, aggregators)\n"+start) &&
			d.replace(botPy, ready, ready+"        await steps.initialize(flow.first_step())\n")
	}},
	{"tools of a server", func(d *draftOfOwner) bool {
		d.addImports("from mcp.client.session_group import StreamableHttpParameters\n" +
			"from pipecat.frames.frames import LLMSetToolsFrame\n" +
			"from pipecat.services.mcp_service import MCPClient\n")
		const code = "    found = await MCPClient(StreamableHttpParameters(url=\"URL\")).tools()\n" +
			"    await worker.queue_frame(LLMSetToolsFrame([*agent.TOOLS, *found.standard_tools]))\n"
		return d.addPackage("pipecat-ai[mcp]") && d.above("    await runner.run()\n", code)
	}},
	{"values of a session", func(d *draftOfOwner) bool {
		return d.replace(botPy, "facts_about(runner_args)", `facts_about(runner_args, "customer")`)
	}},
	{"leaving the room", func(d *draftOfOwner) bool {
		blocks := d.blocks("RECIPES.md", "\n## A colleague in the room", "\n## Telephone keys")
		if blocks == nil {
			return false
		}
		d.files["server/leave.py"] = blocks[1]
		const first = `    @transport\.event_handler\("on_client_disconnected"\)`
		const last = `await runner\.cancel\(\)\n`
		handler := regexp.MustCompile(`(?ms)^` + first + `.*?` + last).FindString(d.files[botPy])
		const tools = "        *agent.TOOLS,\n"
		d.addImports("from leave import leave_tool\n")
		return d.replace(botPy, handler, blocks[0]) &&
			d.replace(botPy, tools, "        leave_tool(transport),\n"+tools)
	}},
}

// sameStatement has, for edits, the changes (as regular expressions) to the same lines or to those beside
// them. A person must choose between the two.
var sameStatement = map[string]string{
	"apology":                 `--language`,
	"patience of the service": `--stt|^-m `,
	"more time":               `--llm|^-m `,
	"turns":                   `^-m realtime`,
	"noise":                   `^-m realtime`,
	"another service":         `^-m realtime`,
	"processor":               `--llm ollama`, // a step in the same place
	"telephone keys":          `^-m `,         // stt, which is the next step, comes or goes
	"leaving the room":        `^-[mt] `,      // the greeting, or the call of build
	"steps":                   `^-[mt] |--stt|--llm|--video`,
}

// wantSame reports whether an edit and a change are to the same statement.
func wantSame(edit, change string) bool {
	pattern := sameStatement[edit]
	return pattern != "" && regexp.MustCompile(pattern).MatchString(change)
}

// configured returns the configuration that a dry run prints.
func configured(t *testing.T, cat *catalog.Catalog, dir string, args ...string) (cfg bot.Config, ok bool) {
	t.Helper()
	r := vbot(t, dir, append([]string{"init"}, args...)...)
	if strings.Contains(r.stderr, "unknown option") {
		t.Fatal(args, r.stderr)
	}
	if r.code != 0 {
		return cfg, false
	}
	answers, problems := bot.ParseConfig("dry run", []byte(r.stdout))
	cfg, _, refused := bot.Resolve(cat, answers, "")
	if len(problems)+len(refused) > 0 {
		t.Fatal(args, problems, refused)
	}
	return cfg, true
}

// updated updates the project in dir to the files, and returns the conflicts.
func updated(t *testing.T, dir string, files map[string][]byte) (conflicts []string) {
	t.Helper()
	target, err := project.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	paths := render.Paths()
	was, err := target.Record(paths)
	if err != nil {
		t.Fatal(err)
	}
	now, err := project.NewRecord(version, struct{}{}, files)
	if err != nil {
		t.Fatal(err)
	}
	p, err := target.PlanUpdate(&project.UpdateRequest{
		Files:    files,
		Was:      was,
		Now:      now,
		Rendered: func() map[string][]byte { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Conflicts {
		conflicts = append(conflicts, c.Line())
	}
	if conflicts == nil {
		err = target.Apply(context.Background(), p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return conflicts
}

// An ownersProject is a generated project, with the files that its owner edited.
type ownersProject struct {
	name  string            // of the bot and of the edits
	edits []string          // their names
	files map[string]string // the edited ones
}

// editedBots returns the bot with each edit that its documents suggest, and with all edits together.
func editedBots(t *testing.T, name string, old map[string][]byte) (list []ownersProject) {
	for _, e := range matrixEdits {
		d := &draftOfOwner{t: t, files: texts(old)}
		if e.do(d) {
			list = append(list, ownersProject{
				name:  name + ": " + e.name,
				edits: []string{e.name},
				files: changed(old, d.files),
			})
		}
	}
	all := allEdits(t, old, func(string) bool { return true })
	all.name = name + ": all"
	return append(list, all)
}

// allEdits returns the bot with the edits for which may is true, except edits to lines that another edit
// changes.
func allEdits(t *testing.T, old map[string][]byte, may func(edit string) bool) ownersProject {
	d := &draftOfOwner{t: t, files: texts(old)}
	var edits []string
	for _, e := range matrixEdits {
		if e.name == "steps" || e.name == "leaving the room" || !may(e.name) {
			continue
		}
		before := maps.Clone(d.files)
		if e.do(d) {
			edits = append(edits, e.name)
		} else {
			d.files = before
		}
	}
	return ownersProject{edits: edits, files: changed(old, d.files)}
}

// Every edit that the documents of a bot suggest, alone and together with all others, merges with every
// change of options, unless both change the same statement. Undoing the change restores the edited
// files byte for byte, or, if imports are not sorted, line for line. With VBOT_MATRIX, the bots with all
// edits are written to that folder after each change that merges, for e2e/test_matrix.py.
func TestMatrix(t *testing.T) {
	parallel(t)
	cat := catalog.New()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	tried, conflicts, folder := 0, map[string]int{}, os.Getenv("VBOT_MATRIX")
	for _, name := range slices.Sorted(maps.Keys(matrixBots)) {
		home := t.TempDir()
		options := append([]string{"bot", "--dry-run"}, strings.Fields(matrixBots[name])...)
		cfg, ok := configured(t, cat, home, options...)
		if !ok {
			t.Fatalf("%s: not a bot", name)
		}
		old, err := render.New(cfg, cat, version).Files()
		if err != nil {
			t.Fatal(err)
		}
		all := maps.Clone(old)
		if err := project.AddRecord(version, cfg, all); err != nil {
			t.Fatal(err)
		}
		writeProject(t, filepath.Join(home, "bot"), all)
		bots := editedBots(t, name, old)
		for _, change := range matrixChanges {
			args := append([]string{"bot", "--check", "--dry-run"}, strings.Fields(change)...)
			to, ok := configured(t, cat, home, args...)
			if !ok || fmt.Sprint(to) == fmt.Sprint(cfg) {
				continue
			}
			fresh, err := render.New(to, cat, version).Files()
			if err != nil {
				t.Fatal(err)
			}
			if folder != "" {
				edits := allEdits(t, old, func(edit string) bool {
					// The example of a hand-over depends on the bot's transports.
					lost := edit == "handing over" && strings.HasPrefix(change, "-t ") ||
						// It makes three services as the bot does, without an avatar.
						edit == "another service" && strings.HasPrefix(change, "--video heygen")
					return !lost && !wantSame(edit, change)
				})
				writeMerged(t, filepath.Join(folder, name+strings.ReplaceAll(change, " ", "")), all,
					edits.files, change)
			}
			for _, b := range bots {
				if !filetest.Thorough() && rng.IntN(40) > 0 {
					continue
				}
				tried++
				about := fmt.Sprintf("seed %d: %s x %s", seed, b.name, change)
				expected := slices.ContainsFunc(b.edits, func(e string) bool { return wantSame(e, change) })
				if tryUpdate(t, about, b, old, fresh, expected) {
					continue
				}
				for _, e := range b.edits {
					conflicts[e]++
				}
			}
		}
	}
	for edit := range sameStatement {
		if filetest.Thorough() && conflicts[edit] == 0 {
			t.Errorf("%s conflicts with no change", edit)
		}
	}
	t.Logf("%d combinations", tried)
	if tried == 0 {
		t.Error("no change of options was tried")
	}
}

// tryUpdate updates the edited files from old to fresh, both as vbot wrote them, and back. It reports
// whether they merge. A conflict fails the test unless it is expected.
func tryUpdate(
	t *testing.T, about string, b ownersProject, old, fresh map[string][]byte, expected bool,
) bool {
	t.Helper()
	only := func(from map[string][]byte) map[string][]byte {
		some := map[string][]byte{}
		for path := range b.files {
			if data, ok := from[path]; ok {
				some[path] = data
			}
		}
		return some
	}
	dir := t.TempDir()
	was := only(old)
	if err := project.AddRecord(version, struct{}{}, was); err != nil {
		t.Fatal(err)
	}
	for path, data := range was {
		filetest.Put(t, dir, path, string(data))
	}
	for path, text := range b.files {
		filetest.Put(t, dir, path, text)
	}
	before := filetest.Tree(t, dir)
	if conflicts := updated(t, dir, only(fresh)); conflicts != nil {
		if !expected {
			t.Errorf("%s: %s", about, strings.Join(conflicts, "; "))
		}
		return false
	}
	back := updated(t, dir, only(old))
	after := filetest.Tree(t, dir)
	if back != nil || !equalTrees(before, after) {
		t.Errorf("%s, and back: %q; %q differ", about, back, differing(before, after))
	}
	return true
}

// writeMerged writes a project with its owner's edits into a folder, and updates it.
func writeMerged(t *testing.T, dir string, all map[string][]byte, edited map[string]string, change string) {
	t.Helper()
	writeProject(t, dir, all)
	for path, text := range edited {
		filetest.Put(t, dir, path, text)
	}
	args := append([]string{"init", ".", "--update"}, strings.Fields(change)...)
	if r := vbot(t, dir, args...); r.code != 0 {
		t.Errorf("%s: %s", dir, r.stderr)
	}
}

// texts returns files as strings.
func texts(files map[string][]byte) map[string]string {
	all := map[string]string{}
	for name, data := range files {
		all[name] = string(data)
	}
	return all
}

// changed returns the files of now that differ from those of old.
func changed(old map[string][]byte, now map[string]string) map[string]string {
	some := map[string]string{}
	for name, text := range now {
		if text != string(old[name]) {
			some[name] = text
		}
	}
	return some
}
