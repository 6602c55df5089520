package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// wrongLines are command lines that a person gets wrong, one a line. ~ is a space
// within an argument, ” an empty argument.
const wrongLines = `
inti
int
new
quickstart
login
logout
secrets
secrets list
list
whomai
environment
bash
help foo
help secrets
help env
help cloud foo
cloud init
cloud secret
cloud secrets
cloud secrets lst
cloud secrets remove
cloud login acme
cloud whoami me
cloud
''
'' init
dirs
--jsno
-V
-v
-x
--config=x
completion
completion tcsh
completion bash zsh
version 2
version --short

init
init one two
init ''
init ---mode
init --MODE
init --Mode=cascade
init --stt_service deepgram
init --stt-service deepgram
init --transports daily
init --enable-observability
init --no-enable-eval
init --observabilty
init --no-recordin
init --deploy
init --bogus
init --bogus=hunter2
init --BOGUS
init -hunter2
init -5
init -=x
init --=x
init ---
init -é
init -q
init -V
init -tdaily
init -tdaily -mcascade
init -nMyBot
init -mcascade
init -mode2 x
init –mode cascade
init --name
init --name --stt deepgram
init -t
init --stt --llm openai
init --config
init --recording yes
init --recording false
init --eval No
init --recording=perhaps
init --no-recording=maybe
init --json=perhaps
init --describe-options stt
init --describe-options=nothing
init --list-options=stt

init bot -t daily
init bot -t daily,twilio -m realtime --realtime openai
init bot -t daily~twilio -m realtime --realtime openai
init bot -t daily,twillio -m realtime --realtime openai
init bot -t daily, -m realtime --realtime openai
init bot -t dailly -m realtime --realtime openai
init bot -t pigeon -m realtime --realtime openai
init bot -t '' -m realtime --realtime openai
init bot -t Daily -m realtime --realtime openai
init bot -t tel_z -m realtime --realtime openai
init bot -t daily -m realtime
init bot -t daily -m cascade
init bot -t daily -m Cascade
init bot -t daily -m talk
init bot -t daily --stt deepgram --llm openai
init bot -t daily -m cascade --stt deepgrm --llm openai --tts cartesia
init bot -t daily -m cascade --stt Deepgram --llm openai --tts cartesia
init bot -t daily -m cascade --stt stt_zz --llm openai --tts cartesia
init bot -t daily -m cascade --stt claude --llm claude --tts claude
init bot -t daily -m cascade --stt deepgram --llm gpt-4 --tts 11labs
init bot -t daily -m realtime --realtime openai --stt deepgram
init bot -t daily -m cascade --stt deepgram --llm openai --tts cartesia --realtime openai
init bot -t daily -m realtime --realtime openai --video heygan
init bot -t twilio -m realtime --realtime openai --video heygen
init bot -t tel_a -b web -m realtime --realtime openai
init bot -t twilio -b web -m realtime --realtime openai
init bot -t daily_pstn_dialin -b web -m realtime --realtime openai
init bot -b phone -t daily -m realtime --realtime openai
init bot -t daily_pstn -m realtime --realtime openai
init bot -t rtc_hosted_pstn -m realtime --realtime openai
init bot -t daily_pstn --daily-pstn-mode dialin -m realtime --realtime openai
init bot -t daily_pstn_dialin --daily-pstn-mode dial-out -m realtime --realtime openai
init bot -t daily_pstn_dialin -t daily_pstn_dialout -m realtime --realtime openai
init bot -t daily_pstn_dialin -t twilio_daily_sip_dialin -m realtime --realtime openai
init bot -t daily --daily-pstn-mode dial-in -m realtime --realtime openai
init bot -t twilio_daily_sip -m realtime --realtime openai
init bot -t daily -m realtime --realtime openai --client-framework vue
init bot -t daily -m realtime --realtime openai --client-framework vanilla --client-server nextjs
init bot -t daily -m realtime --realtime openai --client-server next
init bot -t twilio -m realtime --realtime openai --client-framework react
init bot -t livekit -m realtime --realtime openai --deploy-to-cloud
init bot -t websocket -m realtime --realtime openai --video-input
init bot -t daily -m realtime --realtime openai --enable-noise-cancel --no-deploy-to-cloud
init bot -t daily -m realtime --realtime openai --name a/b
init bot -t daily -m realtime --realtime openai --name ''
init quickstart --stt deepgram
init quickstart --config bot.json
init @@@ -t daily -m realtime --realtime openai

init bot --config none.json
init bot --config .
init bot --config empty.json
init bot --config -
init bot --config comma.json
init bot --config nan.json
init bot --config utf16.json
init bot --config twice.json
init bot --config after.json
init bot --config comma-after.json
init bot --config comment.json
init bot --config conflict.json
init bot --config single.json
init bot --config python.json
init bot --config ture.json
init bot --config list.json
init bot --config open.json
init bot --config keys.json
init bot --config types.json
init bot --config values.json

cloud whoami
cloud login --no-input
cloud login -oacme --no-input
cloud secrets list a b
cloud secrets list a/b
cloud secrets list --regoin x
cloud secrets list -r
cloud secrets set
cloud secrets set my-bot
cloud secrets set my_bot A=1
cloud secrets set my-bot A=1 --wait 2m
cloud secrets set my-bot A=1 --wait 30
cloud secrets set my-bot A=1 --wait=30
cloud secrets set my-bot A=1 --wait=0s
cloud secrets set my-bot A=1 --yes
cloud secrets set my-bot A=1
cloud secrets set my-bot A=1 A=2 --skip
cloud secrets set my-bot A= --skip
cloud secrets set my-bot --flie x
cloud secrets set my-bot --file none.env --skip
cloud secrets unset my-bot
cloud secrets unset my-bot A B --skip
cloud secrets delete
cloud secrets delete a b --skip
cloud secrets image-pull-secret
cloud secrets image-pull-secret hub
cloud secrets image-pull-secret hub ghcr.io --encode false
cloud secrets image-pull-secret hub ghcr.io user:hunter2 --encode No
cloud secrets image-pull-secret hub ghcr.io user:hunter2 more
`

// wrongFiles are the files that wrongLines name.
var wrongFiles = map[string]string{
	"bot.json":         `{"mode": "realtime"}`,
	"empty.json":       "\n",
	"comma.json":       "{\n  \"mode\": \"cascade\",\n  \"transports\": [\"daily\"],\n}\n",
	"nan.json":         "{\n  \"recording\": NaN\n}\n",
	"utf16.json":       "\xff\xfe{\x00\"\x00m\x00",
	"twice.json":       "{\n  \"mode\": \"realtime\", \"realtime_service\": \"openai\", \"transports\": [\"daily\"],\n  \"mode\": \"cascade\"\n}\n",
	"after.json":       "\ufeff{\"mode\": \"realtime\", \"realtime_service\": \"openai\", \"transports\": [\"daily\"]}\n}\n",
	"comma-after.json": "{\"mode\": \"realtime\", \"realtime_service\": \"openai\", \"transports\": [\"daily\"]},\n",
	"comment.json":     "{\n  // the mode\n  \"mode\": \"cascade\"\n}\n",
	"conflict.json":    "{\n  \"mode\": \"cascade\",\n<<<<<<< HEAD\n  \"recording\": true\n=======\n  \"recording\": false\n>>>>>>> other\n}\n",
	"single.json":      "{'mode': 'cascade'}\n",
	"python.json":      "{\"recording\": True}\n",
	"ture.json":        "{\"recording\": ture}\n",
	"list.json":        "[\n  \"daily\"\n]\n",
	"open.json":        "{\n  \"mode\": \"cascade\",\n  \"transports\": [\"daily\"\n",
	"keys.json":        "{\n  \"Mode\": \"realtime\",\n  \"stt\": \"deepgram\",\n  \"client-framework\": \"react\",\n  \"colour\": 1\n}\n",
	"types.json":       "{\n  \"mode\": true,\n  \"transports\": \"daily\",\n  \"recording\": \"yes\",\n  \"llm_service\": [\"openai\"]\n}\n",
	"values.json":      "{\n  \"mode\": \"cascade\",\n  \"transports\": [\"daily,twilio\", \"\"],\n  \"stt_service\": \"deepgrm\",\n  \"llm_service\": \"\",\n  \"tts_service\": \"cartesia\"\n}\n",
}

// What a person reads after each mistake, all in one golden file, to be read as a
// newcomer would; and with --json the same problems as one object.
func TestWrongLines(t *testing.T) {
	dir := t.TempDir()
	for name, text := range wrongFiles {
		put(t, dir, name, text)
	}
	before := readTree(t, dir)
	vbot := func(args ...string) result {
		var stdout, stderr bytes.Buffer
		env := map[string]string{"VBOT_CONFIG": filepath.Join(dir, "login.json")}
		a := &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, getenv: func(name string) string { return env[name] }, dir: dir}
		code := run(context.Background(), args, a)
		return result{args, stdout.String(), stderr.String(), code}
	}
	var all bytes.Buffer
	for line := range strings.Lines(wrongLines) {
		args := strings.Fields(line)
		if len(args) == 0 {
			continue
		}
		for i, arg := range args {
			args[i] = strings.ReplaceAll(strings.ReplaceAll(arg, "~", " "), "''", "")
		}
		r := vbot(args...)
		if want := 2; r.code != want && !(r.code == 1 && strings.Contains(r.stderr, "not signed in")) || r.stdout != "" {
			t.Errorf("vbot %s: exit code %d, stdout %q", strings.TrimSpace(line), r.code, r.stdout)
		}
		if strings.Contains(r.stderr, "hunter2") {
			t.Errorf("vbot %s: the text was repeated: %s", strings.TrimSpace(line), r.stderr)
		}
		asJSON := vbot(append([]string{"--json"}, args...)...)
		var answer struct {
			Error struct {
				Code, Message string
				Problems      []struct {
					Field, Message string
					Allowed        []string
				}
			}
		}
		if err := json.Unmarshal([]byte(asJSON.stdout), &answer); err != nil || asJSON.code != r.code || asJSON.stderr != r.stderr || answer.Error.Message == "" {
			t.Errorf("vbot --json %s: exit code %d, %v: %s", strings.TrimSpace(line), asJSON.code, err, asJSON.stdout)
		}
		var fields []string
		for _, p := range answer.Error.Problems {
			fields = append(fields, p.Field)
			if p.Message == "" || p.Allowed == nil {
				t.Errorf("vbot --json %s: %+v", strings.TrimSpace(line), p)
			}
		}
		all.Write(bytes.ReplaceAll(r.transcript(dir), []byte("--- stdout\n--- stderr\n"), nil))
		all.WriteString("--- " + strings.Join(append([]string{answer.Error.Code + ":"}, fields...), " ") + "\n")
	}
	golden(t, "errors/lines.txt", all.Bytes())
	if !equalTrees(before, readTree(t, dir)) {
		t.Error("something was written")
	}
}
