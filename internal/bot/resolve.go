package bot

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"vbot/internal/catalog"
	"vbot/internal/report"
)

// A resolver turns values into a configuration: the rules replace values by canonical ids and drop values
// that do not apply; then every option stores its value. It continues after a problem, so that all problems
// are reported together.
type resolver struct {
	cat        *catalog.Catalog
	values     Values
	config     Config
	transports []*catalog.Service // those that were found, in the order given
	typed      map[string]string  // the word given for each transport, by id
	dropped    []Dropped
	problems   report.Problems
}

// Dropped is a value of the file that the command line overrides.
type Dropped struct {
	Option *Option // nil if What is only a part of a value
	What   string  // the option's key or, if Option is nil, a description
	Why    string
}

// Resolve applies every rule to the values and fills in the defaults. dirName is the
// default project name, or "" if there is none. Use the configuration only if there are no problems.
func Resolve(cat *catalog.Catalog, values Values, dirName string) (Config, []Dropped, report.Problems) {
	r := &resolver{
		cat:    cat,
		values: maps.Clone(values),
		config: Defaults(),
		typed:  map[string]string{},
	}
	for _, o := range Options {
		if v, ok := r.values[o]; ok && o.kind() == reflect.String && v.Text == "" && !v.reported {
			r.refuse(o, "the value is empty")
			r.values[o] = Value{FromFlag: v.FromFlag, reported: true}
		}
	}
	r.name(dirName)
	r.mode()
	r.findTransports()
	r.botType()
	for _, o := range ServiceOptions {
		r.checkService(o)
	}
	r.language()
	r.cloud()
	r.video()
	r.client()
	for _, o := range Options {
		if o.Enum != nil {
			r.checkEnum(o)
		}
		if r.has(o) {
			o.set(&r.config, r.values[o])
		}
	}
	slices.SortStableFunc(r.problems, func(a, b report.Problem) int {
		return cmp.Compare(position(a.Field), position(b.Field))
	})
	return r.config, r.dropped, r.problems
}

// refuse adds a problem with the option, and says where its value is.
func (r *resolver) refuse(o *Option, format string, args ...any) *report.Problem {
	message := fmt.Sprintf(format, args...)
	if at := r.values[o].at; at.Line > 0 {
		return r.problems.AddAt(at, o.Key, "%s: %s", o.Key, message)
	}
	return r.problems.Add(o.Key, o.Where(), "%s", message)
}

// refuseWithAllowed adds a problem together with the allowed values.
func (r *resolver) refuseWithAllowed(o *Option, format string, args ...any) *report.Problem {
	p := r.refuse(o, format, args...)
	p.Allowed, p.Names = o.AllowedIn(r.cat)
	return p
}

// unknown adds the problem that no service has the name, and suggests the nearest one.
func (r *resolver) unknown(o *Option, noun, name string) {
	near := r.cat.Nearest(o.Kind, name)
	aside := report.DidYouMean(near)
	if s := r.cat.OfModel(o.Kind, name); s != nil {
		noun = "service"
		near = s.Names[0]
		aside = " (it looks like a model of " + near + "; models are set in .env)"
	}
	if near == "" && o != OptTransports && !r.values[o].FromFlag && !r.cat.HasCustom() {
		aside = " (is --catalog or VBOT_CATALOG missing?)"
	}
	p := r.refuseWithAllowed(o, "unknown %s %s%s", noun, report.Typed(name), aside)
	if near != "" {
		p.Names = showsAll(o.Kind)
	}
}

// missing adds the problem that a required option was not given.
func (r *resolver) missing(o *Option, format string, args ...any) {
	r.refuseWithAllowed(o, format, args...).Missing = true
}

// has reports whether the option has a usable value.
func (r *resolver) has(o *Option) bool {
	v, ok := r.values[o]
	return ok && !v.reported
}

// given reports whether the option was given, usable or not.
func (r *resolver) given(o *Option) bool {
	_, ok := r.values[o]
	return ok
}

// overrule drops the value of o, which contradicts that of winner. If o comes from the file and winner
// from the command line, it is dropped with a note; otherwise the contradiction is a problem.
func (r *resolver) overrule(o, winner *Option, why string) {
	v := r.values[o]
	if !v.FromFlag && r.values[winner].FromFlag {
		r.dropped = append(r.dropped, Dropped{Option: o, What: o.Key, Why: why})
		delete(r.values, o)
		return
	}
	r.refuse(o, "%s", why)
	r.values[o] = Value{FromFlag: v.FromFlag, reported: true}
}

// checkEnum returns the value of an option with fixed values, in lower case, or "" if it has none. It refuses
// a value that is not allowed, and stores the others in lower case.
func (r *resolver) checkEnum(o *Option) string {
	if !r.has(o) {
		return ""
	}
	v := r.values[o]
	if value := strings.ToLower(v.Text); slices.Contains(o.Allowed(), value) {
		v.Text = value
		r.values[o] = v
		return value
	}
	near := report.Nearest(v.Text, o.Allowed())
	r.refuseWithAllowed(o, "unknown value %s%s", report.Typed(v.Text), report.DidYouMean(near))
	r.values[o] = Value{reported: true}
	return ""
}

// name checks the project name; the directory's is the default.
func (r *resolver) name(dirName string) {
	r.config.ProjectName = dirName
	if r.has(OptName) {
		if err := CheckName(r.values[OptName].Text); err != nil {
			r.refuse(OptName, "%v", err)
		}
	} else if dirName == "" && !r.given(OptName) {
		r.missing(OptName, "missing: the directory's name cannot be a project name")
	}
	namespace := Slug(cmp.Or(r.values[OptName].Text, dirName))
	isReserved := namespace == "default" || strings.HasPrefix(namespace, "kube-")
	if r.values[optSelfHost].On && isReserved {
		r.refuse(OptName, "the bot's namespace in Kubernetes would be %q, "+
			"which Kubernetes reserves; choose another name", namespace)
	}
}

// mode checks the mode, which has no default: the problem says which services go with which.
func (r *resolver) mode() {
	if !r.given(OptMode) {
		isCascade := r.given(OptSTT) || r.given(OptLLM) || r.given(OptTTS)
		isRealtime := r.given(OptRealtime)
		likely := ""
		switch {
		case isCascade && !isRealtime:
			likely = "-m " + ModeCascade
		case isRealtime && !isCascade:
			likely = "-m " + ModeRealtime
		}
		r.missing(OptMode, "missing: cascade takes --stt, --llm and --tts, realtime takes --realtime%s",
			report.DidYouMean(likely))
	}
	r.checkEnum(OptMode)
}
