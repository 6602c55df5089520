// Package catalog has the services: their front matter and code in templates/services, and a user's own
// services.
package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"vbot/internal/report"
	"vbot/templates"
)

// A Catalog has all services.
type Catalog struct {
	byKind map[string][]*Service // in the order of ids, a user's own last
}

// HasCustom reports whether there are services of the user's own.
func (c *Catalog) HasCustom() bool {
	isCustom := func(s *Service) bool { return s.isCustom }
	for _, services := range c.byKind {
		if slices.ContainsFunc(services, isCustom) {
			return true
		}
	}
	return false
}

// New returns the catalog of vbot's own services, to which Add may add others.
func New() *Catalog {
	c := &Catalog{byKind: map[string][]*Service{}}
	for kind, services := range builtin() {
		c.byKind[kind] = slices.Clip(services)
	}
	return c
}

// builtin returns vbot's own services by kind, in order. They are part of the program, so it reads
// them once. It panics on a file that it cannot read; a test checks that all have the form in
// CONTRIBUTING.md.
var builtin = sync.OnceValue(func() map[string][]*Service {
	kinds := append(slices.Clone(ServiceKinds), KindTransport)
	ofKind := make([][]*Service, len(kinds))
	var all sync.WaitGroup // in parallel, because many commands wait for this; it takes half the time
	for i, kind := range kinds {
		all.Go(func() { ofKind[i] = readBuiltin(kind) })
	}
	all.Wait()
	byKind := map[string][]*Service{}
	for i, kind := range kinds {
		byKind[kind] = ofKind[i]
	}
	return byKind
})

// readBuiltin reads vbot's own services of a kind, in order.
func readBuiltin(kind string) (services []*Service) {
	folder := "services/" + kind + "/"
	entries, err := templates.Files.ReadDir(strings.TrimSuffix(folder, "/"))
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		text, err := templates.Files.ReadFile(folder + e.Name())
		s := &Service{Kind: kind, file: folder + e.Name()}
		if problems := s.parse(string(text)); err != nil || len(problems) > 0 {
			panic(fmt.Sprint(s.file, err, problems))
		}
		services = append(services, s)
	}
	slices.SortFunc(services, func(a, b *Service) int {
		return cmp.Or(
			cmp.Compare(a.order, b.order),
			cmp.Compare(len(a.ID), len(b.ID)), // stt_z comes before stt_aa
			strings.Compare(a.ID, b.ID),
		)
	})
	return services
}

// List returns the services of the kind, in order.
func (c *Catalog) List(kind string) []*Service { return c.byKind[kind] }

// HasSecret reports whether a service has a secret variable of this name.
func (c *Catalog) HasSecret(name string) bool {
	isSecret := func(v Variable) bool { return v.Name == name && v.Kind == "secret" }
	for _, services := range c.byKind {
		for _, s := range services {
			if slices.ContainsFunc(s.Env, isSecret) {
				return true
			}
		}
	}
	return false
}

// Find returns the service of the kind with this id, name or label, in any letter case; nil if there is none.
func (c *Catalog) Find(kind, word string) *Service {
	lower := strings.ToLower(word)
	for _, s := range c.byKind[kind] {
		if s.ID == lower || slices.Contains(s.Names, lower) || strings.EqualFold(s.Label, word) {
			return s
		}
	}
	return nil
}

// refuse adds a problem with a line of the service's file, or with the file if line is 0.
func (s *Service) refuse(problems *report.Problems, line int, format string, args ...any) {
	at := s.file
	if line > 0 {
		at += fmt.Sprintf(":%d", line)
	}
	problems.Add(at, at, format, args...).AtLine = report.Number(line)
}

// IDs returns the ids of services; it is never nil, because JSON would have null.
func IDs(services []*Service) []string {
	out := []string{}
	for _, s := range services {
		out = append(out, s.ID)
	}
	return out
}

// Transports returns the web or the telephony transports, in order.
func (c *Catalog) Transports(telephony bool) []*Service {
	isOther := func(s *Service) bool { return s.Telephony != telephony }
	return slices.DeleteFunc(slices.Clone(c.byKind[KindTransport]), isOther)
}

// DialMode returns the service of a transport's dial mode, dial-in or dial-out; nil if there is none.
func (c *Catalog) DialMode(id, mode string) *Service {
	for _, s := range c.byKind[KindTransport] {
		if s.ModeOf == id && s.Mode == mode {
			return s
		}
	}
	return nil
}

// Nearest returns the name of the service of the kind that is nearest to word, or "".
func (c *Catalog) Nearest(kind, word string) string {
	var words []string
	for _, s := range c.List(kind) {
		words = append(append(words, s.Names...), s.ID)
	}
	near := report.Nearest(word, words)
	if s := c.Find(kind, near); s != nil && near == s.ID {
		return s.Names[0]
	}
	return near
}

// OfModel returns the service of the kind that probably has this model, or nil. It looks for a
// language model service with a default model of the same family, such as gpt-4.1 for gpt-4o, and
// returns the service of that name.
func (c *Catalog) OfModel(kind, model string) *Service {
	family := func(name string) string {
		return name[:len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"))]
	}
	same := func(v Variable) bool {
		return v.Kind == "model" && family(v.Fallback) != "" && family(v.Fallback) == family(model)
	}
	for _, s := range c.List(KindLLM) {
		if found := c.Find(kind, s.Names[0]); found != nil && slices.ContainsFunc(s.Env, same) {
			return found
		}
	}
	return nil
}

// FirstNames returns the first names of as many services as fit on a line, which begins with start. others
// says where to find the rest.
func FirstNames(start string, services []*Service, others string) string {
	line := start + ": "
	for i, s := range services {
		if i > 0 {
			line += ", "
		}
		if len(line)+len(s.Names[0]) > 60 {
			return line + "... (" + others + ")"
		}
		line += s.Names[0]
	}
	return line
}
