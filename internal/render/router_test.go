package render

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vbot/internal/catalog"
)

// alternatives are the paragraphs of a configuration with what somebody may uncomment: a sentence, and
// as many lines as it says.
var alternatives = regexp.MustCompile(
	`(?m)^ *# (To [^\n]*uncomment these (\w+) lines[^\n]*)\n((?: *# [^\n]*\n)+)`)

// uncommented returns the configuration with each such paragraph in force.
func uncommented(t *testing.T, config string) map[string]string {
	found := map[string]string{}
	for _, m := range alternatives.FindAllStringSubmatch(config, -1) {
		count := slices.Index([]string{"", "one", "two", "three"}, m[2])
		lines := strings.SplitAfter(m[3], "\n")
		if count < 1 || len(lines) <= count {
			t.Fatalf("%s: there are %d lines", m[1], len(lines)-1)
		}
		block := strings.Join(lines[:count], "")
		found[m[1]] = strings.Replace(config, block, strings.ReplaceAll(block, "# ", ""), 1)
	}
	return found
}

// served says whether an access list of the configuration has the path.
func served(config, list, path string) bool {
	lines := regexp.MustCompile(`(?m)^ *acl ` + list + ` (path|path_beg) (.*)$`)
	for _, m := range lines.FindAllStringSubmatch(config, -1) {
		for _, word := range strings.Fields(m[2]) {
			if path == word || m[1] == "path_beg" && strings.HasPrefix(path, word) {
				return true
			}
		}
	}
	return false
}

// With only telephones served, each carrier still reaches the webhooks of its calls, and the page and
// /start are not public. HAProxy accepts the file, where it is installed.
func TestOnlyTelephonesAreServed(t *testing.T) {
	program, _ := exec.LookPath("haproxy")
	phones := map[string][]string{
		"twilio":                  {"/ws/token", "/twilio/token"},
		"telnyx":                  {"/ws/token", "/telnyx/token"},
		"plivo":                   {"/ws/token", "/plivo", "/plivo/dial/1"},
		"exotel":                  {"/ws/token"},
		"asterisk":                {"/asterisk/token", "/dialout"},
		"twilio_daily_sip_dialin": {"/call"},
		"daily_pstn_dialin":       {"/daily-dialin-webhook"},
	}
	all := map[string]string{}
	for transport, paths := range phones {
		isStreamed := slices.Contains(paths, "/ws/token") || transport == "asterisk"
		for _, carrier := range []string{"", "twilio", "telnyx", "plivo"} {
			if carrier == transport || carrier == "" && !isStreamed {
				continue
			}
			transports, paths := []string{"smallwebrtc", transport}, paths
			if carrier != "" {
				transports = append(transports, carrier)
				paths = append(slices.Clone(paths), phones[carrier]...)
			}
			name := strings.Join(transports, " ")
			p, _ := selfHosted(t, catalog.New(), "stt deepgram", "", transports...)
			files, err := p.Files()
			if err != nil {
				t.Fatal(err)
			}
			config := string(files["deploy/kubernetes/haproxy.cfg"])
			found := uncommented(t, config)
			if len(found) != 1 {
				t.Fatalf("%s: there are %d paragraphs", name, len(found))
			}
			all[name] = config
			for sentence, changed := range found {
				all[name+": "+sentence] = changed
				if !strings.Contains(changed, "\n    http-request deny deny_status 404 unless phone\n") {
					t.Errorf("%s: nothing is refused", name)
				}
				for _, path := range paths {
					if !served(changed, "public", path) || !served(changed, "phone", path) {
						t.Errorf("%s: %s is refused", name, path)
					}
				}
				for _, path := range []string{"/", "/start", "/sessions/1/api/offer"} {
					if !served(changed, "public", path) || served(changed, "phone", path) {
						t.Errorf("%s: %s is not only for a page", name, path)
					}
				}
			}
		}
	}
	if program == "" {
		t.Skip("haproxy is not installed, so it does not check the file")
	}
	for name, config := range all {
		file := filepath.Join(t.TempDir(), "haproxy.cfg")
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, bot := range []string{"", "127.0.0.1:7860"} { // in a cluster, and on one machine
			check := exec.Command(program, "-c", "-f", file)
			check.Env = os.Environ()
			if bot != "" {
				check.Env = append(check.Env, "BOT="+bot)
			}
			if output, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s, %s: %s", name, strconv.Quote(bot), output)
			}
		}
	}
}

// A bot of an Asterisk has no address for carriers, and no file or text about them.
func TestAsteriskAlone(t *testing.T) {
	p, _ := selfHosted(t, catalog.New(), "stt deepgram", "", "asterisk")
	files, err := p.Files()
	if err != nil {
		t.Fatal(err)
	}
	config := string(files["deploy/kubernetes/haproxy.cfg"])
	for path, want := range map[string]bool{"/asterisk/token": true, "/dialout": true, "/ws/token": false} {
		if served(config, "public", path) != want {
			t.Errorf("%s is public: %v", path, !want)
		}
	}
	selfHost := string(files["server/self_host.py"])
	if !strings.Contains(selfHost, "asterisk.router,") || strings.Contains(selfHost, "carriers.router,") {
		t.Error(selfHost)
	}
	for path, words := range map[string][]string{
		"README.md":        {"Over Asterisk", "bot.py -t asterisk", "!YOUR_TUNNEL_HOST", "!The carrier"},
		"DEPLOY.md":        {"websocket_client.conf", "[bot-out]", "!</Connect>", "!minute of the call"},
		"deploy/README.md": {"/asterisk/YOUR_PHONE_TOKEN", "!<Response>"},
	} {
		for _, word := range words {
			word, absent := strings.CutPrefix(word, "!")
			if strings.Contains(string(files[path]), word) == absent {
				t.Errorf("%s: %q is there: %v", path, word, absent)
			}
		}
	}
	for _, path := range []string{"server/vbot/asterisk/serializer.py", "server/vbot/bearer.py"} {
		if files[path] == nil {
			t.Errorf("%s is missing", path)
		}
	}
	if files["server/webhooks.py"] != nil || files["server/vbot/webhooks/dialout.py"] != nil {
		t.Error("there is a webhooks.py")
	}
}
