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

// SchemaOfResult returns the JSON Schema (2020-12) of what --json prints for a result of this type.
func SchemaOfResult(result any) map[string]any {
	if d, ok := result.(Document); ok {
		return schemaOf(reflect.TypeOf(d.Value))
	}
	schema := schemaOf(reflect.TypeOf(result))
	addFields(schema, reflect.TypeFor[report.Warnings]())
	return schema
}

// schemaOf returns the schema of a Go type. An enum is a field with a tag `enum`, or a type with a method
// Enum; the tag `about` describes a field. Objects may get more keys in later versions.
func schemaOf(t reflect.Type) map[string]any {
	if enum, ok := reflect.Zero(t).Interface().(interface{ Enum() []string }); ok {
		return map[string]any{"enum": enum.Enum()}
	}
	switch {
	case t == reflect.TypeFor[report.OrNull]():
		return map[string]any{"type": []string{"string", "null"}}
	case t == reflect.TypeFor[report.Number]():
		return map[string]any{"type": []string{"integer", "null"}}
	case t.Kind() == reflect.Pointer:
		return map[string]any{"anyOf": []any{schemaOf(t.Elem()), map[string]any{"type": "null"}}}
	case simpleTypes[t.Kind()] != "":
		return map[string]any{"type": simpleTypes[t.Kind()]}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case t.Kind() != reflect.Struct:
		return map[string]any{} // anything
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{}, "required": []string{}}
	addFields(schema, t)
	return schema
}

// A describer is a struct that describes its fields by key, instead of with tags. enum is nil if any text may
// be the value.
type describer interface {
	DescribeKey(key string) (about string, enum []string)
}

// addFields adds the fields of a struct to the schema of an object.
func addFields(schema map[string]any, t reflect.Type) {
	describes, _ := reflect.Zero(t).Interface().(describer)
	properties, required := schema["properties"].(map[string]any), schema["required"].([]string)
	for _, f := range reflect.VisibleFields(t) {
		key, optional, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || key == "-" {
			continue // the fields of an embedded struct are visible themselves
		}
		property := schemaOf(f.Type)
		about, words := f.Tag.Get("about"), strings.FieldsFunc(f.Tag.Get("enum"), isComma)
		if about == "" && describes != nil {
			about, words = describes.DescribeKey(key)
		}
		if len(words) > 0 {
			property = map[string]any{"enum": enumOf(words, f.Type == reflect.TypeFor[report.OrNull]())}
		}
		if about != "" {
			property["description"] = about
		}
		properties[key] = property
		if optional == "" {
			required = append(required, key)
		}
	}
	schema["required"] = required
}

// enumOf returns the values of an enum.
func enumOf(words []string, orNull bool) (values []any) {
	for _, word := range words {
		values = append(values, word)
	}
	if orNull {
		values = append(values, nil)
	}
	return values
}

func isComma(r rune) bool { return r == ',' }
