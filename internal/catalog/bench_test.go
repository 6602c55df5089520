package catalog

import "testing"

// All services are read whenever init starts.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New()
	}
}
