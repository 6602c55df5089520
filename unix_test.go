//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"vbot/internal/cloudtest"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/report"
)

// A pipe in the place of a file is never opened, because reading it might never end.
func TestPipeInTheWay(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/notes.txt", "mine")
	if err := syscall.Mkfifo(filepath.Join(dir, "target/README.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := vbot(t, dir, initArgs()...)
	r.wantCode(t, 1)
	section(t, "errors/conflict.txt", "pipe", r.transcript(dir))
}

// A pipe in a catalog is never opened, either.
func TestPipeInACatalog(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "catalog/tts/notes.txt", "")
	name := filepath.Join(dir, "catalog/tts/acme.py")
	if err := syscall.Mkfifo(name, 0o644); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(name, os.O_RDWR, 0) // for a reader, until it closes
	if err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(10*time.Second, func() { pipe.Close() }).Stop()
	r := vbot(t, dir, "init", "--list-options", "--catalog", "catalog")
	if r.wantCode(t, 2); !strings.Contains(r.stderr, "expected a file of at most ") {
		t.Errorf("it said %s", r.stderr)
	}
}

// The system's authorities are trusted.
func TestSystemAuthorities(t *testing.T) {
	parallel(t)
	if runtime.GOOS == "darwin" {
		skip(t, "macOS reads no SSL_CERT_FILE")
	}
	s, ca := tlsFake(t, "GET ~/secrets")
	list := []string{"cloud", "secrets", "list"}
	subprocess{env: s.Env()}.vbot(t, t.TempDir(), list...).wantCode(t, 6)
	subprocess{env: append(s.Env(), "SSL_CERT_FILE="+ca)}.vbot(t, t.TempDir(), list...).wantCode(t, 0)
	// Those of VBOT_CA_FILE are trusted in addition.
	s, ca = tlsFake(t, "GET ~/secrets")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	filetest.Put(t, dir, "other.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	subprocess{env: append(s.Env(), "SSL_CERT_FILE="+ca, "VBOT_CA_FILE=other.pem")}.vbot(t, dir, list...).
		wantCode(t, 0)
}

// In a deleted working directory, only relative names fail.
func TestDeletedWorkingDirectory(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		command string
		code    int
	}{
		{"version", 0}, {"init --help", 0}, {"init x", 1}, {"init . -c bot.json", 2}, {"init TARGET", 0},
	} {
		dir := t.TempDir()
		target := filepath.Join(dir, "target")
		cmd := vbotCommand(t, dir)
		cmd.Path, cmd.Args = "/bin/sh", []string{
			"sh", "-c",
			`mkdir gone && cd gone && rmdir ../gone && exec "$0" ` +
				strings.ReplaceAll(c.command, "TARGET", report.ShellQuote(target)), cmd.Path,
		}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("vbot %s: exit code %d, want %d\n%s", c.command, code, c.code, out)
		}
	}
}

// Others can read a project and not write to it, even if the umask would let them.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	defer syscall.Umask(syscall.Umask(0))
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	filepath.WalkDir(filepath.Join(dir, "target"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		info, err := d.Info()
		if err != nil {
			t.Fatal(err)
		}
		want := fs.FileMode(0o644)
		if d.IsDir() {
			want = 0o755 | fs.ModeDir
		}
		if info.Mode() != want {
			t.Errorf("%s: mode %v, want %v", path, info.Mode(), want)
		}
		return nil
	})
}

// Only the user can access the files and directories that login creates, and always can, whatever the umask.
// Existing directories keep their modes.
func TestUmaskOfLogin(t *testing.T) {
	s := cloudtest.New(t, "vbot/"+version).Expect("GET /v1/organizations", "GET /v1/organizations",
		"GET /v1/organizations")
	for _, c := range []struct {
		umask int
		path  string
	}{{0, "a/b/config.json"}, {0o777, "a/b/config.json"}, {0, "config.json"}} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		before := syscall.Umask(c.umask)
		r := inProcess{
			env:   []string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + filepath.Join(dir, c.path)},
			dir:   dir,
			stdin: strings.NewReader(cloudtest.Token),
		}.vbot(t, "cloud", "login")
		syscall.Umask(before)
		r.wantCode(t, 0)
		want := fs.ModeDir | 0o755
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if info, err := d.Info(); err != nil || info.Mode() != want && info.Mode() != 0o600 {
				t.Errorf("umask %03o, %s: %v, %v", c.umask, path, info.Mode(), err)
			}
			want = fs.ModeDir | 0o700
			return err
		})
	}
}

// A file that is larger than any that vbot writes is not read.
func TestHugeFile(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	makeOlder(t, dir, map[string]string{"server/Dockerfile": "FROM old\n"})
	for _, name := range []string{"server/bot.py", "AGENTS.md"} {
		if err := os.Truncate(filepath.Join(dir, "target", name), 1<<40); err != nil {
			skip(t, "no file of that size here: ", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, c := range []struct {
		section string // of the golden file; "" for JSON
		args    []string
		code    int
	}{
		{"", []string{"init", "target", "--check", "--json"}, 3},
		{"huge-check", []string{"init", "target", "--check"}, 3},
		{"huge-init", initArgs("--recording"), 1},
		{"huge-update", []string{"init", "target", "--update"}, 0},
	} {
		cmd := vbotCommand(t, dir, c.args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
		cmd.Wait()
		stop()
		r := result{c.args, stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
		r.wantCode(t, c.code)
		if c.section != "" {
			section(t, "update/check.txt", c.section, r.transcript(dir))
		} else if !strings.Contains(r.stdout, `"path": "server/bot.py",
        "state": "edited",
        "sha256": null`) {
			t.Errorf("it said %s", r.stdout)
		}
	}
}

// A signal interrupts a run that waits for its configuration.
func TestSignals(t *testing.T) {
	parallel(t)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		if err := syscall.Mkfifo(filepath.Join(dir, "config"), 0o600); err != nil {
			skip(t, "no named pipes here: ", err)
		}
		cmd := vbotCommand(t, dir, "init", "target", "--config", "config")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The pipe opens when vbot reads it, so the signal arrives while vbot is reading.
		w, err := os.OpenFile(filepath.Join(dir, "config"), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 ||
			stderr.String() != "cancelled; nothing was written\n" {
			t.Errorf("%v: exit code %d, %s", sig, code, &stderr)
		}
		if _, err := os.Lstat(filepath.Join(dir, "target")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: target was made", sig)
		}
	}
}

// stubborn repeats the signal until the run ends, because one signal may not be enough.
func stubborn(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range 100 {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
	cmd.Process.Kill()
	t.Errorf("vbot %q does not end after 100 signals", cmd.Args[1:])
	<-ended
}

// If stderr is closed, the result still says what was done, because it is written first.
func TestReaderThatGoesAway(t *testing.T) {
	gone := func() *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		t.Cleanup(func() { w.Close() })
		return w
	}
	s := cloudtest.NewLenient(t, "vbot/"+version)
	defer s.Close()
	s.Put("app", "us-west", "ready", "K", "L")
	dir := t.TempDir()
	for _, args := range [][]string{
		{"cloud", "secrets", "set", "app", "A=1", "--skip", "--json"},
		{"cloud", "secrets", "image-pull-secret", "reg", "ghcr.io", "bob:x", "--json"},
		{"cloud", "secrets", "unset", "app", "K", "--skip", "--json"},
		{"cloud", "secrets", "delete", "app", "--skip", "--json"},
		initArgs("--json"),
		{"init", "target", "--update", "--recording", "--json"},
		{"init", "target", "--check", "--json"},
		{"init", "target", "--update", "--json", "-t", "pigeon"},
		{"cloud", "logout", "--json"},
	} {
		s.Statuses = []string{"ready"}
		cmd := vbotCommand(t, dir, args...)
		cmd.Env = append(cmd.Env, s.Env()...)
		var stdout bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, gone()
		cmd.Run()
		want := 0
		if slices.Contains(args, "pigeon") {
			want = 2
		}
		if code := cmd.ProcessState.ExitCode(); code != want || !json.Valid(stdout.Bytes()) {
			t.Errorf("vbot %q: exit code %d, stdout: %s", args, code, &stdout)
		}
	}
	// If the reader of stdout is gone, the command ends without a message, as other programs do.
	var stderr bytes.Buffer
	cmd := vbotCommand(t, dir, "init", "--list-options")
	cmd.Stdout, cmd.Stderr = gone(), &stderr
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 141 || stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", code, &stderr)
	}
	// The messages still say what was done.
	s.Put("app", "us-west", "ready")
	cmd = vbotCommand(t, dir, "cloud", "secrets", "set", "app", "A=1", "--skip", "--json")
	cmd.Env = append(cmd.Env, s.Env()...)
	cmd.Stdout, cmd.Stderr = gone(), &stderr
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 141 ||
		stderr.String() != "stored in secret set app of organization acme, region us-west:\n  A  new\n" {
		t.Errorf("exit code %d, %s", code, &stderr)
	}
}

// If nobody reads stderr, the result is still written, because it comes before the messages.
func TestReaderThatWaits(t *testing.T) {
	s := cloudtest.NewLenient(t, "vbot/"+version)
	defer s.Close()
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		return r, w
	}
	_, full := pipe()
	full.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := full.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	answer, stdout := pipe()
	answer.SetReadDeadline(time.Now().Add(30 * time.Second))
	cmd := vbotCommand(t, t.TempDir(), "cloud", "secrets", "set", "app", "A=1", "--skip", "--json")
	cmd.Env, cmd.Stdout, cmd.Stderr = append(cmd.Env, s.Env()...), stdout, full
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var got json.RawMessage
	err := json.NewDecoder(answer).Decode(&got)
	cmd.Process.Kill()
	cmd.Wait()
	if err != nil {
		t.Errorf("no answer: %v", err)
	}
}

// The second signal ends a run immediately, even if nobody reads its output.
func TestSecondSignal(t *testing.T) {
	dir := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // fill the pipe, and no more
	w.Write(make([]byte, 1<<20))
	cmd := vbotCommand(t, dir, initArgs("--json")...)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for !project.Has(dir, "target/"+project.RecordName) { // which comes last, but for the answer
		time.Sleep(time.Millisecond)
	}
	stubborn(t, cmd)
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

// A run that reads a named pipe without a writer can be interrupted.
func TestPipesThatNeverOpen(t *testing.T) {
	parallel(t)
	for _, c := range []struct{ env, args string }{
		{"VBOT_CONFIG=pipe", "cloud whoami"},
		{"VBOT_CA_FILE=pipe", "cloud login"},
		{"VBOT_TOKEN=x", "cloud secrets set name --skip --file pipe"},
		{"VBOT_TOKEN=x", "cloud secrets set name --skip --value-file KEY=pipe"},
		{"", "init target --config pipe"},
	} {
		dir := t.TempDir()
		if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
			skip(t, "no named pipes here: ", err)
		}
		cmd := vbotCommand(t, dir, strings.Fields(c.args)...)
		cmd.Env = append(cmd.Env, c.env)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // for a signal that comes too early ends any program
		stubborn(t, cmd)
		if code := cmd.ProcessState.ExitCode(); code == 0 {
			t.Errorf("vbot %s with %s succeeded", c.args, c.env)
		}
	}
}

// A value may come from a pipe, such as a shell's <(...).
func TestValueFromPipe(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/fresh", "PUT ~/secrets/fresh")
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := vbotCommand(t, t.TempDir(), "cloud", "secrets", "set", "fresh", "--skip", "--value-file",
		"KEY=/dev/fd/3")
	cmd.Env = append(cmd.Env, s.Env()...)
	cmd.ExtraFiles = []*os.File{in}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // vbot waits for the value
	out.WriteString("of a pipe\n")
	out.Close()
	if err := cmd.Wait(); err != nil || s.Values("fresh")["KEY"] != "of a pipe\n" {
		t.Errorf("%v, stored %q", err, s.Values("fresh"))
	}
}

// fullDisk is a directory on a file system of 16 KiB.
func fullDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", dir).
		CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("CI mounts a small file system for this test: %v: %s", err, out)
		}
		skip(t, "only root can mount a small file system: ", string(out))
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// A run during which the disk becomes full leaves the target unchanged.
func TestFullDisk(t *testing.T) {
	dir := fullDisk(t)
	filetest.Put(t, dir, "target/AGENTS.md", "mine")
	before := filetest.Listing(t, dir)
	r := vbot(t, dir, initArgs("--overwrite-guide")...)
	r.wantCode(t, 1)
	section(t, "errors/full-disk.txt", "text", r.transcript(dir))
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	r = vbot(t, dir, initArgs("--json")...)
	r.wantCode(t, 1)
	section(t, "errors/full-disk.txt", "json", r.transcript(dir))
}

// An update during which the disk becomes full leaves the project unchanged.
func TestFullDiskWhileUpdating(t *testing.T) {
	dir, elsewhere := fullDisk(t), t.TempDir()
	vbot(t, elsewhere, initArgs()...).wantCode(t, 0)
	makeOlder(t, elsewhere, map[string]string{
		"server/bot.py": "old",
		"README.md":     "old",
	})
	if err := os.Remove(filepath.Join(elsewhere, "target/AGENTS.md")); err != nil { // too large
		t.Fatal(err)
	}
	for name, data := range filetest.Tree(t, elsewhere) {
		if data == "old" && !strings.Contains(name, "/.vbot/") ||
			strings.HasSuffix(name, project.RecordName) {
			filetest.Put(t, dir, name, data)
		}
	}
	before := filetest.Listing(t, dir)
	r := vbot(t, dir, "init", "target", "--update")
	r.wantCode(t, 1)
	if after := filetest.Listing(t, dir); after != before || !strings.Contains(r.stderr, "no space left") {
		t.Errorf("%s\nbefore:\n%s\nafter:\n%s", r.stderr, before, after)
	}
}

// An update prints nothing to stdout, so it does not fail if stdout is on a full disk.
func TestUpdateWithFullStdout(t *testing.T) {
	parallel(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		skip(t, err)
	}
	defer full.Close()
	dir := editedProject(t)
	cmd := vbotCommand(t, dir, "init", "target", "--update")
	cmd.Stdout = full
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
}

// readOnly makes the directory read-only until the test ends.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		os.Chmod(dir, 0o555)
		t.Cleanup(func() { os.Chmod(dir, 0o755) })
		return
	}
	// Root can write everywhere except on a read-only mount.
	for _, args := range [][]string{{"--bind", dir, dir}, {"-o", "remount,bind,ro", dir}} {
		if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
			t.Fatalf("mount: %v: %s", err, out)
		}
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
}

// In a directory that it may not write to, a run fails with a message and changes nothing.
func TestReadOnly(t *testing.T) {
	for _, place := range []string{"target", "target/server"} {
		dir := t.TempDir()
		filetest.Put(t, dir, "target/server/mine.txt", "mine")
		readOnly(t, filepath.Join(dir, place))
		before := filetest.Listing(t, dir)
		r := vbot(t, dir, initArgs()...)
		r.wantCode(t, 1)
		if !strings.Contains(r.stderr, "nothing was written") || strings.Count(r.stderr, "\n") != 2 {
			t.Errorf("%s is read-only: %s", place, r.stderr)
		}
		if after := filetest.Listing(t, dir); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	}
}

// Several runs have the same target at once, and some are killed or interrupted. After a run that reports
// success, the files are those that a new run with the configuration in the record writes. After a kill, they
// are so after the next update.
func TestRunsAtOnce(t *testing.T) {
	whole := t.TempDir()
	began := time.Now()
	subprocess{}.vbot(t, whole, initArgs()...).wantCode(t, 0)
	took := time.Since(began)
	first := filetest.Tree(t, whole)
	// fresh returns the files that a new run with the configuration in the record writes.
	made := map[string]map[string]string{first["target/.vbot.json"]: first}
	fresh := func(record string) map[string]string {
		if made[record] == nil {
			var r struct{ Config json.RawMessage }
			if err := json.Unmarshal([]byte(record), &r); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			inProcess{stdin: bytes.NewReader(r.Config), dir: dir}.vbot(t, "init", "target", "--config", "-").
				wantCode(t, 0)
			made[record] = filetest.Tree(t, dir)
		}
		return made[record]
	}
	again, keep := initArgs(), initArgs("--keep-existing")
	seed := mathrand.Uint64()
	rng := mathrand.New(mathrand.NewPCG(seed, 0))
	codes := map[int]int{}
	for round := range filetest.Rounds(8, 200) {
		dir := t.TempDir()
		commands := [][]string{again, keep}
		if round%2 == 0 {
			for name, data := range first {
				filetest.Put(t, dir, name, data)
			}
			commands = [][]string{again, {"init", "target", "--update"}}
			for _, options := range []string{
				"--tts elevenlabs", "--llm anthropic", "--recording", "--client-framework react",
			} {
				commands = append(commands,
					append([]string{"init", "target", "--update"}, strings.Fields(options)...))
			}
		}
		var runs []*exec.Cmd
		said := ""
		killed, done := false, false
		for range 2 + 2*rng.IntN(2) {
			cmd := vbotCommand(t, dir, commands[rng.IntN(len(commands))]...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			runs = append(runs, cmd)
			time.Sleep(time.Duration(rng.Int64N(int64(took))))
			switch rng.IntN(5) {
			case 0:
				cmd.Process.Kill()
				killed = true
			case 1, 2:
				cmd.Process.Signal(os.Interrupt)
			}
		}
		for _, cmd := range runs {
			cmd.Wait()
			code := cmd.ProcessState.ExitCode()
			codes[code]++
			done = done || code == 0
			said += fmt.Sprintf("vbot %q: %d\n", cmd.Args[1:], code)
		}
		if killed {
			finish := again
			if round%2 == 0 {
				finish = []string{"init", "target", "--update"}
			}
			vbot(t, dir, finish...).wantCode(t, 0)
			done = true
		}
		tree := filetest.Tree(t, dir)
		if record := tree["target/.vbot.json"]; done && !equalTrees(tree, fresh(record)) {
			t.Fatalf("seed %d, round %d:\n%s%s\n%s", seed, round, said, record, filetest.Listing(t, dir))
		}
	}
	t.Logf("exit codes: %v", codes)
	if filetest.Thorough() && (codes[0] == 0 || codes[1] == 0 || codes[-1] == 0) {
		t.Errorf("the runs never met: %v", codes)
	}
}

// Files named by the environment are read only if they are regular: a pipe may never open, and a device may
// never end.
func TestConfigAndAuthoritiesAreRegularFiles(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir, "/dev/zero"} {
		for _, variable := range []string{"VBOT_CONFIG", "VBOT_CA_FILE"} {
			for _, args := range []string{"whoami", "login", "logout"} {
				if variable == "VBOT_CA_FILE" && args == "logout" {
					continue
				}
				env := []string{"VBOT_CONFIG=none", variable + "=" + path}
				// If vbot opened the pipe, it would wait until something is written.
				opened := time.AfterFunc(30*time.Second, func() {
					if w, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
						time.Sleep(time.Second)
						w.Close()
					}
				})
				r := inProcess{env: env, stdin: strings.NewReader(cloudtest.Token), dir: dir}.vbot(t, "cloud",
					args)
				if !opened.Stop() {
					t.Errorf("%s=%s, %s: it opened the pipe", variable, path, args)
				}
				if r.code != 1 && r.code != 2 || !strings.Contains(r.stderr, path) ||
					!strings.Contains(r.stderr, "is not a regular file") {
					t.Errorf("%s=%s, %s: exit code %d, %s", variable, path, args, r.code, r.stderr)
				}
			}
		}
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("the pipe: %v", err)
	}
}

// The CI job in docs/secrets.md, run unchanged, succeeds if the set then has the keys of the file, and
// otherwise fails with the exit code of the command that failed.
func TestJobForCI(t *testing.T) {
	parallel(t)
	doc, err := os.ReadFile("docs/secrets.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(begin string) string {
		_, rest, _ := strings.Cut(string(doc), begin)
		text, _, _ := strings.Cut(rest, "```")
		return text
	}
	posix, powershell := block("```sh\nset -e\n"), block("```powershell\n")
	for line := range strings.Lines(posix) {
		if !strings.HasPrefix(line, "vbot ") || !strings.Contains(powershell, line) {
			t.Errorf("the job for PowerShell lacks the line %s", line)
		}
	}
	shells := map[string][]string{
		"sh":   {"-c", "set -e; vbot() { \"$0\" \"$@\"; }\n" + posix},
		"pwsh": {"-c", "Set-Alias vbot $env:VBOT\n" + powershell},
	}
	for shell, args := range shells {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(shell, "is not installed")
			}
			t.Parallel()
			for want, fault := range map[int]func(*cloudtest.Fake){
				0: func(*cloudtest.Fake) {},
				3: func(s *cloudtest.Fake) {
					s.FailNext("GET", cloudtest.Succeed, cloudtest.Succeed,
						cloudtest.Respond(`{"secrets":[{"fieldName":"A"},{"fieldName":"X"}]}`))
				},
				7: func(s *cloudtest.Fake) {
					s.FailNext("DELETE",
						cloudtest.Status(403, "FORBIDDEN", "No"))
				},
			} {
				s := cloudtest.NewLenient(t, "vbot/"+version)
				defer s.Close()
				s.Put("my-bot-secrets", "us-west", "ready", "OLD")
				fault(s)
				dir := t.TempDir()
				filetest.Put(t, dir, "server/.env", "A=1\nBLANK=\n")
				cmd := vbotCommand(t, dir)
				cmd.Env = append(append(cmd.Env, s.Env()...), "VBOT="+cmd.Path)
				cmd.Path, cmd.Args = path, append(append([]string{shell}, args...), cmd.Path)
				out, _ := cmd.CombinedOutput()
				if got := cmd.ProcessState.ExitCode(); got != want {
					t.Errorf("exit code %d, want %d: %s", got, want, out)
				}
			}
		})
	}
}
