// Command compose reads dotenv files as Docker Compose does, with its library: from a
// JSON array of texts on stdin to a JSON array of objects, null for an error.
package main

import (
	"encoding/json"
	"log"
	"os"
	"strings"

	"github.com/compose-spec/compose-go/v2/dotenv"
)

func main() {
	var files []string
	if err := json.NewDecoder(os.Stdin).Decode(&files); err != nil {
		log.Fatal(err)
	}
	var read []map[string]string
	for _, file := range files {
		values, err := dotenv.ParseWithLookup(strings.NewReader(file), os.LookupEnv)
		if err != nil {
			values = nil
		}
		read = append(read, values)
	}
	if err := json.NewEncoder(os.Stdout).Encode(read); err != nil {
		log.Fatal(err)
	}
}
