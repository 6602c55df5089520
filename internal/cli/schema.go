package cli

import (
	"reflect"
	"slices"
	"strings"

	"vbot/internal/report"
)

// simpleTypes maps Go's types to JSON's.
var simpleTypes = map[reflect.Kind]string{
	reflect.Bool:   "boolean",
	reflect.Int:    "integer",
	reflect.String: "string",
}

// Schemas returns examples of all results of the commands of the tree, of help and of a failure, by the
// name of their schema: the words of the command and the key in Results, joined by hyphens.
func Schemas(root *Command) map[string]any {
	examples := map[string]any{"failure": report.FailureJSON{}, "help": HelpPage{}}
	var add func(c *Command, path []string)
	add = func(c *Command, path []string) {
		for kind, result := range c.Results {
			words := slices.Clone(path)
			if kind != "" {
				words = append(words, kind)
			}
			examples[strings.Join(words, "-")] = result
		}
		for i := range c.Sub {
			add(&c.Sub[i], append(slices.Clone(path), c.Sub[i].Name))
		}
	}
	add(root, nil)
	return examples
}

// SchemaOf returns the JSON Schema (2020-12) of a Go type. An enum is a field with a tag `enum`, or a
// type with a method Enum. Objects may get more keys in later versions.
func SchemaOf(t reflect.Type) map[string]any {
	if enum, ok := reflect.Zero(t).Interface().(interface{ Enum() []string }); ok {
		return map[string]any{"enum": enum.Enum()}
	}
	switch {
	case t == reflect.TypeFor[report.OrNull]():
		return map[string]any{"type": []string{"string", "null"}}
	case t.Kind() == reflect.Pointer:
		return map[string]any{"anyOf": []any{SchemaOf(t.Elem()), map[string]any{"type": "null"}}}
	case simpleTypes[t.Kind()] != "":
		return map[string]any{"type": simpleTypes[t.Kind()]}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": SchemaOf(t.Elem())}
	case t.Kind() != reflect.Struct:
		return map[string]any{} // anything
	}
	properties, required := map[string]any{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		key, optional, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || key == "-" {
			continue // the fields of an embedded struct are visible themselves
		}
		properties[key] = SchemaOf(f.Type)
		if words := f.Tag.Get("enum"); words != "" {
			properties[key] = map[string]any{"enum": strings.Split(words, ",")}
		}
		if f.Tag.Get("null") != "" { // see bot.Config
			properties[key] = map[string]any{"type": []string{"string", "null"}}
		}
		if optional == "" {
			required = append(required, key)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
