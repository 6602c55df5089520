// Command verify checks a release: go run ./release/verify DIST ALLOWED_SIGNERS [COMMIT]
//
// DIST is the folder of a release, with its signatures; ALLOWED_SIGNERS a file with
// the line of the release key (see SECURITY.md). It checks that
//
//   - SHA256SUMS and the provenance are signed by that key;
//   - the folder has the files that they name with those digests, these two with their
//     signatures, and nothing else;
//   - the provenance is an in-toto statement with SLSA provenance, both version 1;
//   - the binaries say of themselves that the Go version and the modules that the
//     provenance names built them, and the source tarball that it is that commit, or
//     COMMIT if given;
//   - the names of these files have the version of the provenance.
//
// It needs Go and ssh-keygen of OpenSSH 8.1 or later, and no network. The exit code is
// 1 if something is not so.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	sumsFile  = "SHA256SUMS"
	signer    = "vbot"         // in ALLOWED_SIGNERS
	namespace = "vbot-release" // of the signatures
)

// A statement is provenance in the forms of in-toto and SLSA.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     struct {
		BuildDefinition struct {
			BuildType          string `json:"buildType"`
			ExternalParameters struct {
				Command string `json:"command"`
				Commit  string `json:"commit"`
				Version string `json:"version"`
			} `json:"externalParameters"`
			InternalParameters   map[string]any `json:"internalParameters"`
			ResolvedDependencies []resource     `json:"resolvedDependencies"`
		} `json:"buildDefinition"`
		RunDetails struct {
			Builder struct {
				ID      string            `json:"id"`
				Version map[string]string `json:"version"`
			} `json:"builder"`
		} `json:"runDetails"`
	} `json:"predicate"`
}

type resource struct {
	Name   string            `json:"name"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

func main() {
	if len(os.Args) < 3 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: go run ./release/verify DIST ALLOWED_SIGNERS [COMMIT]")
		os.Exit(2)
	}
	said, err := verify(os.Args[1], os.Args[2], strings.Join(os.Args[3:], ""))
	if err != nil {
		fmt.Fprintln(os.Stderr, "release/verify: NOT VERIFIED:", err)
		os.Exit(1)
	}
	fmt.Println(said)
}

// verify checks the release in dir, and says what it is.
func verify(dir, signers, commit string) (string, error) {
	provenance, err := filepath.Glob(filepath.Join(dir, "vbot-*.intoto.json"))
	if err != nil || len(provenance) != 1 {
		return "", fmt.Errorf("%s has %d files vbot-*.intoto.json, want 1", dir, len(provenance))
	}
	files, err := digests(dir, filepath.Base(provenance[0]))
	if err != nil {
		return "", err
	}
	sumsText, err := signed(filepath.Join(dir, sumsFile), signers)
	if err != nil {
		return "", err
	}
	statementText, err := signed(provenance[0], signers)
	if err != nil {
		return "", err
	}

	sums := map[string]string{}
	for line := range strings.Lines(string(sumsText)) {
		digest, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		sums[name] = digest
	}
	if err := same(sumsFile, sums, files); err != nil {
		return "", err
	}

	s, err := parse(statementText)
	if err != nil {
		return "", fmt.Errorf("%s: %w", provenance[0], err)
	}
	subjects := map[string]string{}
	for _, r := range s.Subject {
		subjects[r.Name] = r.Digest["sha256"]
	}
	delete(files, filepath.Base(provenance[0]))
	if err := same(filepath.Base(provenance[0]), subjects, files); err != nil {
		return "", err
	}

	built := s.Predicate.BuildDefinition.ExternalParameters
	if commit != "" && commit != built.Commit {
		return "", fmt.Errorf("the release is of commit %s, not of %s", built.Commit, commit)
	}
	if filepath.Base(provenance[0]) != "vbot-"+built.Version+".intoto.json" {
		return "", fmt.Errorf("%s is of version %q", provenance[0], built.Version)
	}
	binaries := 0
	versioned := regexp.MustCompile(`^vbot-` + regexp.QuoteMeta(built.Version) + `-(src|man|licenses|generated|linux|darwin|windows)\b`)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		switch {
		case strings.HasPrefix(name, "vbot-") && !versioned.MatchString(name):
			err = fmt.Errorf("the provenance is of version %q", built.Version)
		case strings.HasSuffix(name, "-src.tar.gz"):
			err = checkSource(path, built.Commit)
		case regexp.MustCompile(`^vbot-.*-(linux|darwin|windows)-(amd64|arm64)(-fips)?(\.exe)?$`).MatchString(name):
			binaries++
			err = checkBinary(path, s)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	return fmt.Sprintf("verified: vbot %s of commit %s, built with %s: %d files, %d of them binaries",
		built.Version, built.Commit, s.Predicate.RunDetails.Builder.Version["go"], len(files), binaries), nil
}

// signed returns what is in a file, if its signature beside it is of the release key.
func signed(path, signers string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", signers, "-I", signer, "-n", namespace, "-s", path+".sig")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the signature of %s: %w: %s", filepath.Base(path), err, bytes.TrimSpace(out))
	}
	return text, nil
}

// digests returns the SHA-256 of each file of a release, by its name; not of the sums,
// and of the two signatures.
func digests(dir, provenance string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file", e.Name())
		}
		if slices.Contains([]string{sumsFile, sumsFile + ".sig", provenance + ".sig"}, e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		out[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return out, nil
}

// same reports files that are not as said, not there, or there and not mentioned.
func same(document string, said, files map[string]string) error {
	all := maps.Clone(said)
	maps.Copy(all, files)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch {
		case said[name] == "":
			errs = append(errs, fmt.Errorf("%s does not name %s", document, name))
		case files[name] == "":
			errs = append(errs, fmt.Errorf("%s names %s, which is not there", document, name))
		case said[name] != files[name]:
			errs = append(errs, fmt.Errorf("%s is not as %s says: %s, want %s", name, document, files[name], said[name]))
		}
	}
	return errors.Join(errs...)
}

// parse reads a statement and checks its form.
func parse(text []byte) (*statement, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	s := new(statement)
	if err := d.Decode(s); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the statement")
	}
	definition, builder := s.Predicate.BuildDefinition, s.Predicate.RunDetails.Builder
	dependencies := map[string]string{}
	for _, r := range definition.ResolvedDependencies {
		if r.URI == "" && len(r.Digest) == 0 {
			return nil, fmt.Errorf("dependency %q has neither an address nor a digest", r.Name)
		}
		dependencies[r.Name] = r.Digest["gitCommit"]
	}
	for _, check := range []struct {
		what string
		ok   bool
	}{
		{"_type", s.Type == "https://in-toto.io/Statement/v1"},
		{"predicateType", s.PredicateType == "https://slsa.dev/provenance/v1"},
		{"buildType", strings.Contains(definition.BuildType, ":")},
		{"builder.id", strings.Contains(builder.ID, ":")},
		{"commit", regexp.MustCompile(`^[0-9a-f]{40,64}$`).MatchString(definition.ExternalParameters.Commit)},
		{"source", dependencies["source"] == definition.ExternalParameters.Commit},
	} {
		if !check.ok {
			return nil, fmt.Errorf("%s is not as in SLSA provenance v1 of vbot", check.what)
		}
	}
	return s, nil
}

// checkBinary compares what a binary says of its build with the statement.
func checkBinary(path string, s *statement) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	if want := s.Predicate.RunDetails.Builder.Version["go"]; info.GoVersion != want {
		return fmt.Errorf("built with %s, not with %s", info.GoVersion, want)
	}
	named := map[string]bool{}
	for _, r := range s.Predicate.BuildDefinition.ResolvedDependencies {
		named[r.URI] = true
	}
	for _, m := range info.Deps {
		if uri := "pkg:golang/" + m.Path + "@" + m.Version; !named[uri] || m.Replace != nil {
			return fmt.Errorf("links %s, which the provenance does not name", uri)
		}
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	name := settings["GOOS"] + "-" + settings["GOARCH"]
	if settings["GOFIPS140"] != "" {
		name += "-fips"
	}
	if !strings.HasSuffix(strings.TrimSuffix(path, ".exe"), "-"+name) || settings["CGO_ENABLED"] != "0" {
		return fmt.Errorf("this is a binary for %s with CGO_ENABLED=%s", name, settings["CGO_ENABLED"])
	}
	return nil
}

// checkSource looks for the commit in a source tarball: git archive wrote it there.
func checkSource(path, commit string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(unzipped); ; {
		head, err := r.Next()
		if err != nil {
			return fmt.Errorf("looking for main.go: %w", err)
		}
		if strings.Count(head.Name, "/") == 1 && strings.HasSuffix(head.Name, "/main.go") {
			text, err := io.ReadAll(r)
			if err == nil && !strings.Contains(string(text), `const commit = "`+commit+`"`) {
				err = fmt.Errorf("main.go does not name commit %s", commit)
			}
			return err
		}
	}
}
