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

const maxLogin = 64 << 10 // bytes

// A Login is what `vbot cloud login` stores.
type Login struct {
	Token        string `json:"token"`
	Organization string `json:"organization,omitempty"`
	APIURL       string `json:"api_url"` // where the token may be sent
}

// A LoginFile is the file with the login.
type LoginFile struct{ Path string }

// FindLoginFile returns the file in which login stores the token, whether it exists or not.
func FindLoginFile(s system.System) (LoginFile, error) {
	path := s.Getenv("VBOT_CONFIG")
	if fault := report.AssignmentFault(path); fault != "" {
		return LoginFile{}, report.One(report.InvalidConfig, "VBOT_CONFIG", "VBOT_CONFIG", "%s", fault)
	}
	if path != "" {
		return LoginFile{s.Path(path)}, nil
	}
	dir, err := os.UserConfigDir()
	if err == nil && !filepath.IsAbs(dir) {
		err = fmt.Errorf("%s is a relative path", dir)
	}
	if err != nil {
		const noDirectory = "your configuration directory is unknown; set VBOT_CONFIG to a file"
		f := report.Errorf(report.IO, noDirectory)
		f.Err = err
		return LoginFile{}, f
	}
	return LoginFile{filepath.Join(dir, "vbot", "config.json")}, nil
}

var errForeign = errors.New("is not a file that `vbot cloud login` wrote; " +
	"remove it, or set VBOT_CONFIG to another file")

// Read reads the file. If it is missing, the login is empty. Like ssh, it refuses a file of another
// user, or one that others can read or write; see private.
func (f LoginFile) Read() (Login, error) {
	s, info, err := f.parse()
	if errors.Is(err, fs.ErrNotExist) {
		return Login{}, nil
	}
	if err == nil {
		err = private(info)
	}
	if err != nil {
		return Login{}, err
	}
	return s, nil
}

// parse reads the file, and returns its info.
func (f LoginFile) parse() (s Login, info fs.FileInfo, err error) {
	data, info, err := readFile(f.Path, maxLogin)
	if err != nil {
		return s, info, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	// Do not return the decoder's error: it may quote the token.
	if dec.Decode(&s) != nil || dec.Decode(&s) != io.EOF ||
		s.Organization != "" && !IsSegment(s.Organization) || s.APIURL == "" {
		return s, info, errForeign
	}
	return s, info, nil
}

// CheckOwned returns an error if the file exists, but is not a regular file of this user that login wrote:
// vbot must not replace or remove it.
func (f LoginFile) CheckOwned() error {
	info, err := os.Lstat(f.Path)
	if err != nil {
		return nil
	}
	if !info.Mode().IsRegular() {
		return errNotRegular
	}
	if err := own(info); err != nil {
		return err
	}
	s, _, err := f.parse()
	if err == nil && s.Token == "" {
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
func (f LoginFile) Write(s Login) error {
	data, _ := json.MarshalIndent(s, "", "  ") // strings cannot fail
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

// temporary creates a file beside the login file, with mode 0600. A killed login leaves it;
// Remove recognizes its name.
func (f LoginFile) temporary() (*os.File, error) {
	return os.CreateTemp(filepath.Dir(f.Path), f.temporaryPrefix()+"*")
}

func (f LoginFile) temporaryPrefix() string { return "." + filepath.Base(f.Path) + ".vbot-" }

// Remove removes the file, and files that killed logins left beside it. It reports whether
// there were any. Call CheckOwned first.
func (f LoginFile) Remove() (removed bool, err error) {
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
