package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vbot/internal/files"
	"vbot/internal/report"
	"vbot/internal/system"
)

const maxTokenFile = 64 << 10 // bytes

// A StoredToken is the token that `vbot cloud login` stores, and where it may be used.
type StoredToken struct {
	Token        string `json:"token"`
	Organization string `json:"organization,omitempty"`
	APIURL       string `json:"api_url"` // where the token may be sent
}

// A TokenFile is the file with the stored token. JSON and messages call it the config file.
type TokenFile struct{ Path string }

// FindTokenFile returns the file in which login stores the token, whether it exists or not.
func FindTokenFile(s system.System) (TokenFile, error) {
	path := s.Getenv("VBOT_CONFIG")
	if err := report.CheckFileName(path); err != nil {
		return TokenFile{}, report.One(report.InvalidConfig, "VBOT_CONFIG", "VBOT_CONFIG", "%v", err)
	}
	if path != "" {
		return TokenFile{s.Path(path)}, nil
	}
	dir, err := os.UserConfigDir()
	if err == nil && !filepath.IsAbs(dir) {
		err = fmt.Errorf("%s is a relative path", dir)
	}
	if err != nil {
		const noDirectory = "your configuration directory is unknown; set VBOT_CONFIG to a file"
		f := report.Errorf(report.IO, noDirectory)
		f.Err = err
		return TokenFile{}, f
	}
	return TokenFile{filepath.Join(dir, "vbot", "config.json")}, nil
}

var errForeign = errors.New("is not a file that `vbot cloud login` wrote; " +
	"remove it, or set VBOT_CONFIG to another file")

// Read reads the file. If it is missing, the token is empty. Like ssh, it refuses a file of another
// user, or one that others can read or write; see checkPrivate.
func (f TokenFile) Read() (StoredToken, error) {
	token, info, err := f.parse()
	if errors.Is(err, fs.ErrNotExist) {
		return StoredToken{}, nil
	}
	if err == nil {
		err = checkPrivate(info)
	}
	if err != nil {
		return StoredToken{}, err
	}
	return token, nil
}

// parse reads the file, and returns its info.
func (f TokenFile) parse() (token StoredToken, info fs.FileInfo, err error) {
	data, info, err := readFile(f.Path, maxTokenFile)
	if err != nil {
		return token, info, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	// Do not return the decoder's error: it may quote the token.
	isOne := dec.Decode(&token) == nil && dec.Decode(&token) == io.EOF
	if !isOne || token.Organization != "" && !IsSegment(token.Organization) || token.APIURL == "" {
		return token, info, errForeign
	}
	return token, info, nil
}

// CheckOwned returns an error if the file exists, but is not a regular file of this user that login wrote:
// vbot must not replace or remove it.
func (f TokenFile) CheckOwned() error {
	info, err := os.Lstat(f.Path)
	if err != nil {
		return nil
	}
	if !info.Mode().IsRegular() {
		return errNotRegular
	}
	if err := checkOwner(info); err != nil {
		return err
	}
	token, _, err := f.parse()
	if err == nil && token.Token == "" {
		err = errForeign
	}
	return err
}

var errNotRegular = errors.New("is not a regular file")

// readFile reads a regular file of at most limit bytes, and returns its info. Reading other files,
// such as pipes, may never end; opening a pipe may block.
func readFile(name string, limit int64) (data []byte, info fs.FileInfo, err error) {
	if info, err = os.Stat(name); err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, info, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, info, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, info, errNotRegular // it was replaced
	}
	data, err = files.Read(file, limit)
	if tooLarge, ok := errors.AsType[*files.TooLargeError](err); ok {
		err = fmt.Errorf("is %w", tooLarge)
	}
	return data, info, err
}

// Write replaces the file atomically, with mode 0600. Missing directories get mode 0700.
func (f TokenFile) Write(token StoredToken) error {
	data, _ := json.MarshalIndent(token, "", "  ") // strings cannot fail
	dir := filepath.Dir(f.Path)
	if err := makeDir(dir); err != nil {
		return err
	}
	tmp, err := f.temporary()
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())             // no-op after the rename
	if err = tmp.Chmod(0o600); err == nil { // the umask may have taken more
		_, err = tmp.Write(append(data, '\n'))
	}
	if err == nil {
		err = tmp.Sync()
	}
	tmp.Close() // everything is on the disk, or err says why not
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), f.Path)
}

// makeDir makes a directory that only the user can access, whatever the umask, and missing parents.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeDir(filepath.Dir(dir)); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// temporary creates a file beside the token file, with mode 0600. A login that is killed leaves it; Remove
// recognizes its name.
func (f TokenFile) temporary() (*os.File, error) {
	return os.CreateTemp(filepath.Dir(f.Path), f.temporaryPrefix()+"*")
}

func (f TokenFile) temporaryPrefix() string { return "." + filepath.Base(f.Path) + ".vbot-" }

// Remove removes the file, and temporary files beside it. It reports whether there were any. Call CheckOwned
// first.
func (f TokenFile) Remove() (removed bool, err error) {
	dir := filepath.Dir(f.Path)
	names := []string{filepath.Base(f.Path)}
	entries, _ := os.ReadDir(dir) // if it does not exist, there is nothing to remove
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), f.temporaryPrefix()) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		err := os.Remove(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = removed || err == nil
	}
	return removed, nil
}
