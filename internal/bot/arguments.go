package bot

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"vbot/internal/catalog"
)

// Arguments returns the shortest list of command-line options for the same configuration. dirName is the
// same as for Resolve. Services appear under their real names.
//
// A value that is a default, or follows from other values, is left out. To find these, Arguments resolves
// the values without each one of them.
func (given Values) Arguments(cat *catalog.Catalog, dirName string) (args []string) {
	values := maps.Clone(given)
	config, _, problems := Resolve(cat, values, dirName)
	isNeeded := func(o *Option) bool {
		without := maps.Clone(values)
		delete(without, o)
		otherConfig, _, otherProblems := Resolve(cat, without, dirName)
		return !reflect.DeepEqual(otherConfig, config) || !reflect.DeepEqual(otherProblems, problems)
	}
	byPosition := func(a, b *Option) int { return cmp.Compare(position(a.Key), position(b.Key)) }
	for _, o := range slices.SortedFunc(maps.Keys(given), byPosition) {
		if !isNeeded(o) {
			delete(values, o)
			continue
		}
		args = append(args, o.arguments(cat, values[o])...)
	}
	return args
}

// arguments returns the option with its value, as it is typed.
func (o *Option) arguments(cat *catalog.Catalog, v Value) (args []string) {
	name := "--" + o.Flag
	if o.Short != "" && o != OptName {
		name = "-" + o.Short
	}
	words := v.List
	switch {
	case o.IsToggle() && v.On:
		return []string{name}
	case o.IsToggle():
		return []string{"--no-" + o.Flag}
	case o.kind() == reflect.String:
		words = []string{v.Text}
	}
	for _, word := range words {
		if o.Kind != "" {
			word = cat.Find(o.Kind, word).Names[0]
		}
		args = append(args, name, word)
	}
	return args
}
