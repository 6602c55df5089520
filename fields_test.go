package main

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vbot/internal/cli"
)

// Each field of the JSON of `vbot cloud` has a value in the output of some scenario or other golden file, so
// that a field which is never set fails, and so does one that the fake of the API does not send.
func TestEveryFieldIsSetOnce(t *testing.T) {
	parallel(t)
	isSet := map[string]bool{} // by command and path
	for _, pattern := range []string{"golden/scenarios/*.txt", "golden/cloud/*.txt"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range names {
			markFields(document(t, name), isSet)
		}
	}
	played, _ := playScenario(t, otherFields, true)
	markFields(played, isSet)
	for _, field := range []string{"key", "removed.key"} {
		isSet["cloud secrets delete "+field] = true // always null, as it is of `unset`, which removes keys
	}
	everyField(func(command, field string) {
		if !isSet[command+" "+field] {
			t.Errorf("no golden file has a value of %s in the JSON of `vbot %s`", field, command)
		}
	})
}

// otherFields has commands for fields that no other scenario sets.
const otherFields = `api: many
$ vbot cloud secrets check app-secrets --file blank.env --skip-empty --json
$ vbot cloud secrets wait ours --json
-- blank.env --
API_KEY=x
BLANK=
`

// The table of docs/scripting.md has each field of the JSON of `vbot cloud`.
func TestTableOfFields(t *testing.T) {
	parallel(t)
	rows := strings.Split(document(t, "docs/scripting.md"), "\n")
	everyField(func(command, field string) {
		words := strings.Fields(command)
		last := "`" + words[len(words)-1] + "`"
		named, before := false, ""
		for _, row := range rows {
			cells := strings.SplitN(row, "|", 3)
			if len(cells) == 3 && strings.HasPrefix(cells[2], " the same") {
				cells[2] += before // the row above
			}
			before = row
			isAbout := len(cells) == 3 && strings.HasPrefix(cells[1], " `"+words[0]+" ") &&
				(strings.Contains(cells[1], "`"+command) || strings.Contains(cells[1], ", "+last))
			named = named || isAbout && strings.Contains(cells[2], "`"+lastKey(field)+"`")
		}
		if !named {
			t.Errorf("the row of `%s` in docs/scripting.md does not have `%s`", command, lastKey(field))
		}
	})
}

func lastKey(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

// everyField calls f with each field that the JSON of a command of `vbot cloud` may have: "secrets.name".
func everyField(f func(command, field string)) {
	everyCommand(commandTree(), "", func(c *cli.Command, path string) {
		command := strings.TrimSpace(path)
		if !strings.HasPrefix(command, "cloud ") {
			return
		}
		var fields []string
		for _, result := range c.Results {
			fields = append(fields, fieldsOf(cli.SchemaOfResult(result), "")...)
		}
		slices.Sort(fields)
		for _, field := range slices.Compact(fields) {
			if !strings.HasPrefix(field, "warnings") { // which any command may have
				f(command, field)
			}
		}
	})
}

// fieldsOf returns the paths of a schema that are no objects themselves.
func fieldsOf(schema map[string]any, path string) (fields []string) {
	if items, ok := schema["items"].(map[string]any); ok {
		schema = items
	}
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return []string{strings.TrimPrefix(path, ".")}
	}
	for key, property := range properties {
		fields = append(fields, fieldsOf(property.(map[string]any), path+"."+key)...)
	}
	return fields
}

// markFields marks the fields that have a value in the JSON of a golden file's commands.
func markFields(text string, isSet map[string]bool) {
	command, object := "", ""
	for line := range strings.Lines(text) {
		if typed, ok := strings.CutPrefix(line, "$ vbot "); ok {
			command, object = typed, ""
			continue
		}
		if object == "" && line != "{\n" {
			continue
		}
		object += line
		var value map[string]any
		if line == "}\n" && json.Unmarshal([]byte(object), &value) == nil {
			if result, ok := value["result"].(map[string]any); ok { // next to an error
				value = result
			}
			everyCommand(commandTree(), "", func(_ *cli.Command, path string) {
				if path := strings.TrimSpace(path); strings.HasPrefix(command, path+" ") {
					markValues(value, path+" ", isSet)
				}
			})
			object = ""
		}
	}
}

// markValues marks the paths of values other than null, false, 0, "" and empty lists.
func markValues(value any, path string, isSet map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			dot := "."
			if strings.HasSuffix(path, " ") {
				dot = ""
			}
			markValues(v, path+dot+key, isSet)
		}
	case []any:
		for _, v := range value {
			markValues(v, path, isSet)
		}
	default:
		if value != nil && !reflect.ValueOf(value).IsZero() {
			isSet[path] = true
		}
	}
}
