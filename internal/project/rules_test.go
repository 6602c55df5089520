package project

import "testing"

// Each combination of facts that can occur has exactly one rule, and any other has none.
func TestEveryFileHasOneRule(t *testing.T) {
	for _, disk := range []onDisk{absent, upToDate, untouched, edited} {
		for _, record := range []inRecord{unlisted, userOwned, baseKnown, baseMissing} {
			for _, version := range []inVersion{omitted, written} {
				file := facts{disk, record, version}
				want := 1
				if version == omitted && (record == unlisted || disk == upToDate) {
					want = 0
				}
				var found []decision
				for _, rule := range rules {
					if rule.when.covers(file) {
						found = append(found, rule.then)
					}
				}
				if len(found) != want {
					t.Errorf("%+v has %d rules, want %d: %+v", file, len(found), want, found)
				}
				if want == 1 && decisionFor(file) != found[0] {
					t.Errorf("%+v: %+v, want %+v", file, decisionFor(file), found)
				}
			}
		}
	}
}

// The facts of a file are what is on disk and in the record, whatever the line ends.
func TestFacts(t *testing.T) {
	const old, new, other, mine = "old\n", "new\n", "other\n", "mine\n"
	sum := func(text string) string { return hexSum([]byte(text)) }
	u := &updatePlanner{
		UpdateRequest: &UpdateRequest{Was: &Record{Files: map[string]string{
			"listed":   sum(old),
			"lost":     sum("lost\n"),
			"users":    userOwnedHash,
			"rewrites": sum(new),
		}}},
		bases: map[string][]byte{sum(old): []byte(old), sum(other): []byte(other)},
	}
	const none, unreadable = "-", "?"
	for _, test := range []struct {
		name, text, version string
		want                facts
	}{
		{"new", none, new, facts{absent, unlisted, written}},
		{"new", mine, new, facts{edited, unlisted, written}},
		{"new", "", new, facts{edited, unlisted, written}},
		{"new", new, new, facts{upToDate, unlisted, written}},
		{"new", other, new, facts{untouched, unlisted, written}},
		{"new", unreadable, new, facts{edited, unlisted, written}},
		{"listed", none, none, facts{absent, baseKnown, omitted}},
		{"listed", old, old, facts{upToDate, baseKnown, written}},
		{"listed", old, new, facts{untouched, baseKnown, written}},
		{"listed", "old\r\n", new, facts{untouched, baseKnown, written}},
		{"listed", "new\r\n", new, facts{upToDate, baseKnown, written}},
		{"listed", "", new, facts{untouched, baseKnown, written}},
		{"listed", mine, none, facts{edited, baseKnown, omitted}},
		{"listed", unreadable, new, facts{edited, baseKnown, written}},
		{"lost", none, new, facts{absent, baseMissing, written}},
		{"lost", mine, new, facts{edited, baseMissing, written}},
		{"lost", "lost\n", new, facts{untouched, baseKnown, written}}, // the file itself is the base
		{"rewrites", mine, new, facts{edited, baseKnown, written}},    // and so is what is written again
		{"users", none, new, facts{absent, userOwned, written}},
		{"users", mine, new, facts{edited, userOwned, written}},
		{"users", old, none, facts{untouched, userOwned, omitted}},
		{"users", "", new, facts{untouched, userOwned, written}},
	} {
		s, found := &Step{Path: test.name}, existing{at: test.name}
		switch test.text {
		case none:
			found.at = ""
		case unreadable:
		default:
			s.found, s.Before = []byte(test.text), sum(test.text)
		}
		if test.version != none {
			s.data = []byte(test.version)
		}
		s.base = u.baseOf(s)
		if got := u.factsOf(s, found); got != test.want {
			t.Errorf("%s holds %q, version has %q: %+v, want %+v", test.name, test.text, test.version,
				got, test.want)
		}
	}
}
