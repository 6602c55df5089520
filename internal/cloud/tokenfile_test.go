package cloud

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vbot/internal/files"
)

// Read accepts what Write wrote, and refuses all other files without repeating their text.
func TestReadLogin(t *testing.T) {
	const (
		foreign = "is not a file that `vbot cloud login` wrote; remove it, or set VBOT_CONFIG to another file"
		login   = `{"token":"hunter2","organization":"acme","api_url":"https://api.example.com"}`
	)
	for text, want := range map[string]string{
		login:                               "",
		login + "\n":                        "",
		`{"token":"hunter2","api_url":"x"}`: "",
		`{"api_url":"x"}`:                   "",
		`{"token":"hunter2"}`:               foreign,
		`{"token":"hunter2","api_url":"x","organization":"a/hunter2"}`: foreign,
		`{"token":"hunter2","api_url":"x","more":"hunter2"}`:           foreign,
		`{"token":"hunter2","api_url":5}`:                              foreign,
		login + "{}":                                                   foreign,
		login + "hunter2":                                              foreign,
		`"hunter2"`:                                                    foreign,
		"":                                                             foreign,
		login[:len(login)-1]:                                           foreign,
		login + strings.Repeat(" ", maxTokenFile-len(login)):   "",
		login + strings.Repeat(" ", maxTokenFile-len(login)+1): "is larger than 64 KiB",
	} {
		got, err := TokenFile{writeTokenFile(t, text)}.Read()
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%.100s: %v", text, err)
		}
		if err != nil && got != (StoredToken{}) {
			t.Errorf("%.100s: it returned %+v", text, got)
		}
	}
	file := TokenFile{writeTokenFile(t, login)}
	want := StoredToken{Token: "hunter2", Organization: "acme", APIURL: "https://api.example.com"}
	if got, err := file.Read(); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	missing := TokenFile{filepath.Join(t.TempDir(), "none", "x")}
	if got, err := missing.Read(); err != nil || got != (StoredToken{}) {
		t.Errorf("a missing file: %+v, %v", got, err)
	}
	if _, err := (TokenFile{t.TempDir()}).Read(); !errors.Is(err, errNotRegular) {
		t.Errorf("a directory: %v", err)
	}
}

// Files that others can read or write are refused, even if only one of them can.
func TestReadLoginOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such modes")
	}
	file := TokenFile{writeTokenFile(t, `{"token":"t","api_url":"x"}`)}
	for mode, want := range map[os.FileMode]string{
		0o600: "", 0o400: "", 0o700: "",
		0o640: "0640", 0o604: "0604", 0o620: "0620", 0o602: "0602", 0o610: "0610", 0o601: "0601",
	} {
		if err := os.Chmod(file.Path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := file.Read()
		if want == "" && err != nil || want != "" && (err == nil || err.Error() !=
			"other users have access to the token in it (mode "+want+"); run chmod 600 on it") {
			t.Errorf("%04o: %v", mode, err)
		}
	}
}

// vbot replaces and removes only files that login wrote. A link is not one, wherever it leads.
func TestCheckOwned(t *testing.T) {
	for text, want := range map[string]error{
		`{"token":"t","api_url":"x"}`: nil, `{"api_url":"x"}`: errForeign, "": errForeign, "{}": errForeign,
	} {
		if err := (TokenFile{writeTokenFile(t, text)}).CheckOwned(); !errors.Is(err, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	login := writeTokenFile(t, `{"token":"t","api_url":"x"}`)
	if err := (TokenFile{filepath.Join(filepath.Dir(login), "none")}).CheckOwned(); err != nil {
		t.Errorf("a missing file: %v", err)
	}
	if err := (TokenFile{filepath.Dir(login)}).CheckOwned(); !errors.Is(err, errNotRegular) {
		t.Errorf("a directory: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(login, link); err != nil {
		t.Skip(err)
	}
	if err := (TokenFile{link}).CheckOwned(); !errors.Is(err, errNotRegular) {
		t.Errorf("a link: %v", err)
	}
}

// Write makes the directories that are missing, for this user only.
func TestWriteMakesDirectories(t *testing.T) {
	dir := t.TempDir()
	file := TokenFile{filepath.Join(dir, "a", "b", "config.json")}
	if err := file.Write(StoredToken{Token: "t", Organization: "acme", APIURL: "x"}); err != nil {
		t.Fatal(err)
	}
	const want = "{\n  \"token\": \"t\",\n  \"organization\": \"acme\",\n  \"api_url\": \"x\"\n}\n"
	if data, err := os.ReadFile(file.Path); err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
	if got, err := file.Read(); err != nil || got.Organization != "acme" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, made := range []string{"a", "a/b"} {
		info, err := os.Stat(filepath.Join(dir, made))
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", made, info.Mode(), err)
		}
	}
	// A directory that exists keeps its mode.
	if err := os.Chmod(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := (TokenFile{filepath.Join(dir, "a", "config.json")}).Write(StoredToken{Token: "t"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "a"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	below := TokenFile{filepath.Join(file.Path, "x", "config.json")}
	if err := below.Write(StoredToken{Token: "t"}); err == nil {
		t.Error("it wrote below a file")
	}
}

// readFile reads regular files up to a limit.
func TestReadFile(t *testing.T) {
	name := writeTokenFile(t, "12345")
	if data, info, err := readFile(name, 5); err != nil || string(data) != "12345" || info.Size() != 5 {
		t.Errorf("%s, %v", data, err)
	}
	_, _, err := readFile(name, 4)
	_, isTooLarge := errors.AsType[*files.TooLargeError](err)
	if !isTooLarge || !strings.HasPrefix(err.Error(), "is larger than") {
		t.Errorf("%v", err)
	}
	if _, _, err := readFile(name+".none", 4); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
