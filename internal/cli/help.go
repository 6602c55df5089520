package cli

import (
	"fmt"
	"strings"

	"vbot/internal/report"
)

// A HelpPage is the JSON of a help page.
type HelpPage struct {
	Command  string   `json:"command" about:"the command as typed"`
	Page     string   `json:"page" about:"text of the page"`
	Commands []string `json:"commands" about:"names of the commands below it"`
	Topics   []string `json:"topics" about:"names of the help topics below it"`
	Options  []Option `json:"options" about:"options of the command"`
}

func (h HelpPage) Text(out *report.Printer) { out.Print(h.Page) }

// helpPage returns the help page and, for scripts, its parts.
func (inv *invocation) helpPage(flags *Flags) HelpPage {
	out := HelpPage{
		Command:  inv.path,
		Page:     inv.page(flags),
		Commands: inv.command.names(false),
		Topics:   inv.command.names(true),
		Options:  []Option{},
	}
	if strings.Contains(inv.command.page, optionsMark) {
		for _, o := range flags.options {
			out.Options = append(out.Options, *o)
		}
	}
	return out
}

// The lines of a help page that stand for lists.
const (
	commandsMark = "{commands}\n"
	topicsMark   = "{topics}\n"
	optionsMark  = "{options}\n" // the next section of options
)

// aboutHelp is the summary of `vbot help`, which is no command of the tree.
const aboutHelp = "print help for a command or a topic"

// page returns the text of the help page with its lists.
func (inv *invocation) page(flags *Flags) string {
	column := 0
	for _, o := range flags.options {
		if left := len(o.left()); left <= maxLeft {
			column = max(column, left+4)
		}
	}
	page := strings.Replace(inv.command.page, commandsMark, inv.commandList(false), 1)
	page = strings.Replace(page, topicsMark, inv.commandList(true), 1)
	for section := 0; strings.Contains(page, optionsMark); section++ {
		var b strings.Builder
		for _, o := range flags.options {
			if o.section == section {
				o.print(&b, column)
			}
		}
		page = strings.Replace(page, optionsMark, b.String(), 1)
	}
	return page
}

// commandList returns the commands below this one, or the help topics, with their summaries.
func (inv *invocation) commandList(topics bool) string {
	column := 0
	for _, c := range inv.command.Sub {
		column = max(column, len("  "+c.Name+"    "))
	}
	var b strings.Builder
	for _, c := range inv.command.Sub {
		if c.Topic == topics {
			printRow(&b, "  "+c.Name, c.summary(), column)
		}
	}
	if inv.command == inv.root && !topics {
		printRow(&b, "  help", aboutHelp, column)
	}
	return b.String()
}

const (
	maxLeft  = 27 // columns; longer options have a line of their own
	maxWidth = 80 // columns
)

// left returns the left column of the option in the help page: its names and the placeholder.
func (o *Option) left() string {
	left := strings.Join(o.Names, ", ")
	if !strings.HasPrefix(left, "--") {
		left = "  " + left
	} else {
		left = "      " + left
	}
	switch {
	case o.Placeholder == "":
		return left
	case o.valueOptional:
		return left + "[=" + o.Placeholder + "]"
	}
	return left + " " + o.Placeholder
}

// print prints the option; its description begins in the column.
func (o *Option) print(b *strings.Builder, column int) {
	line := o.left()
	if len(line) > maxLeft {
		b.WriteString(line + "\n")
		line = ""
	}
	printRow(b, line, o.About, column)
}

// printRow prints a row of a list. The description begins in the column, in each of its lines.
func printRow(b *strings.Builder, left, about string, column int) {
	for _, line := range report.Fill(strings.Fields(about), "", maxWidth-column) {
		fmt.Fprintf(b, "%-*s%s\n", column, left, line)
		left = ""
	}
}
