package main

import (
	"cmp"
	"context"
	"io"
	"reflect"
	"slices"
	"strings"
)

const helpSchema = `Print the JSON Schemas of what vbot reads and writes.

Usage: vbot schema [NAME] [OPTIONS]

Without NAME, the names are listed. "config" is the file for init --config, and
"failure" is what --json prints when a command fails. The others are what a
command prints when it succeeds. The dialect is 2020-12.

Options:
      --catalog DIR    list the services in DIR, too; see "vbot init --help"
      --json           print the list as JSON; a schema is always JSON
  -h, --help           print this help

Examples:
  vbot schema
  vbot schema config > vbot.schema.json
`

// schemaList is the JSON of `vbot schema`.
type schemaList struct {
	Schemas []string `json:"schemas"`
}

// schemas returns the shapes by name: of the configuration file, of a failure, and of
// each command.
func schemas(root *command) []shape {
	all := []shape{{"config", nil}, {"failure", failureEnvelope{}}, {"help", helpAnswer{}}}
	var walk func(c *command, path []string)
	walk = func(c *command, path []string) {
		for _, s := range c.shapes {
			name := slices.Clone(path)
			if s.name != "" {
				name = append(name, s.name)
			}
			all = append(all, shape{strings.Join(name, "-"), s.value})
		}
		for i := range c.sub {
			walk(&c.sub[i], append(slices.Clone(path), c.sub[i].name))
		}
	}
	walk(root, nil)
	return all
}

func setupSchema(inv *invocation) runFunc {
	inv.catalogFlag()
	all, list := schemas(inv.root), schemaList{[]string{}}
	for _, s := range all {
		list.Schemas = append(list.Schemas, s.name)
	}
	inv.cmd.first = list.Schemas
	return func(_ context.Context, a *app, inv *invocation, args []string) error {
		switch {
		case len(args) == 0 && inv.json:
			return writeJSON(a.stdout, list)
		case len(args) == 0:
			_, err := io.WriteString(a.stdout, strings.Join(list.Schemas, "\n")+"\n")
			return err
		case len(args) > 1:
			return usageError("expected one name; see `%s --help`", inv.path)
		}
		i := slices.Index(list.Schemas, args[0])
		if i < 0 {
			return usageError("unknown schema %q%s; `vbot schema` lists them", args[0], didYouMean(nearest(args[0], list.Schemas)))
		}
		cat, err := openCatalog(a, inv)
		if err != nil {
			return err
		}
		out := configSchema(cat)
		if args[0] != "config" {
			out = schemaOf(reflect.TypeOf(all[i].value))
		}
		out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
		out["title"] = "vbot " + args[0]
		return writeJSON(a.stdout, out)
	}
}

// schemaOf returns the JSON Schema of a Go type. The tag `enum` of a field lists its
// values. Objects may get more keys in later versions.
func schemaOf(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[orNull]():
		return map[string]any{"type": []string{"string", "null"}}
	case t.Kind() == reflect.Pointer:
		return map[string]any{"anyOf": []any{schemaOf(t.Elem()), map[string]any{"type": "null"}}}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.Int:
		return map[string]any{"type": "integer"}
	case t.Kind() == reflect.String:
		return map[string]any{"type": "string"}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case t.Kind() == reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				continue
			}
			key, optional, _ := strings.Cut(f.Tag.Get("json"), ",")
			property := schemaOf(f.Type)
			if words := f.Tag.Get("enum"); words != "" {
				property = map[string]any{"enum": strings.Split(words, ",")}
			}
			properties[key] = property
			if optional == "" {
				required = append(required, key)
			}
		}
		return map[string]any{"type": "object", "properties": properties, "required": required}
	}
	return map[string]any{} // anything
}

// configSchema returns the schema of a configuration file: a null means "not given".
// Ids and real names are listed, as far as they are fixed.
func configSchema(cat *catalog) map[string]any {
	properties := map[string]any{"$schema": map[string]any{"type": "string"}, "generate_client": map[string]any{"type": "boolean"}}
	for _, o := range options {
		words := o.allowed()
		if o.kind != "" {
			for _, p := range cat.list(o.kind) {
				words = append(words, slices.Compact(append([]string{p.id}, p.names...))...)
			}
		}
		text := map[string]any{"type": "string"}
		if words != nil {
			text = map[string]any{"enum": words}
		}
		value := text
		if o.toggle != nil {
			value = map[string]any{"type": "boolean"}
		} else if o.list != nil {
			value = map[string]any{"type": "array", "items": text}
		}
		for _, key := range []string{o.key, cmp.Or(o.peer, o.key)} {
			properties[key] = map[string]any{
				"description": strings.ReplaceAll(o.help, "\n", " "),
				"anyOf":       []any{value, map[string]any{"type": "null"}},
			}
		}
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}
