package cli

import (
	"reflect"
	"strings"

	"vbot/internal/report"
)

// simpleTypes are the types of JSON for Go's.
var simpleTypes = map[reflect.Kind]string{reflect.Bool: "boolean", reflect.Int: "integer", reflect.String: "string"}

// SchemaOf returns the JSON Schema (2020-12) of a Go type. The tag `enum` of a field lists its
// values. Objects may get more keys in later versions.
func SchemaOf(t reflect.Type) map[string]any {
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
		if !f.IsExported() || key == "-" {
			continue
		}
		properties[key] = SchemaOf(f.Type)
		if words := f.Tag.Get("enum"); words != "" {
			properties[key] = map[string]any{"enum": strings.Split(words, ",")}
		}
		if optional == "" {
			required = append(required, key)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
