// Command style checks two rules for the Go code below a directory that no linter of tools/go.mod has. It
// prints what breaks them, and exits with 1:
//
//   - A line has at most 110 columns, a tab being 4 of them.
//   - A literal of a struct with more than four values names its fields.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxColumns = 110
	maxUnnamed = 4 // values
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: style DIRECTORY")
		os.Exit(2)
	}
	c := checker{fset: token.NewFileSet(), structs: map[string]bool{}}
	if err := c.parse(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, f := range c.files {
		ast.Inspect(f, c.checkNode)
	}
	if c.failed {
		os.Exit(1)
	}
}

// A checker has the files of the program, and what is known about their types.
type checker struct {
	fset    *token.FileSet
	files   []*ast.File
	structs map[string]bool // the names of types, in any package, and whether they are structs
	failed  bool
}

// report prints a violation at the place, such as bot.go:3.
func (c *checker) report(place, format string, args ...any) {
	c.failed = true
	fmt.Printf("%s: %s\n", place, fmt.Sprintf(format, args...))
}

// parse parses all Go files below the directory, except those of other modules and of caches, and checks
// their lines.
func (c *checker) parse(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		isHidden := name != dir && strings.HasPrefix(d.Name(), ".")
		if d.IsDir() && (isHidden || d.Name() == "node_modules" || d.Name() == "vendor") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		c.checkLines(name, string(data))
		f, err := parser.ParseFile(c.fset, name, data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		c.files = append(c.files, f)
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				_, c.structs[spec.Name.Name] = spec.Type.(*ast.StructType)
			}
			return true
		})
		return nil
	})
}

func (c *checker) checkLines(name, text string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		columns := len([]rune(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")))
		if columns > maxColumns {
			c.report(fmt.Sprintf("%s:%d", name, number), "%d columns", columns)
		}
	}
}

// checkNode checks a literal of a struct, or those in a literal of a slice, an array or a map.
func (c *checker) checkNode(n ast.Node) bool {
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return true
	}
	if c.isStruct(lit.Type) {
		c.checkFieldNames(lit)
	}
	if !c.isStruct(elementType(lit.Type)) {
		return true
	}
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		if element, ok := e.(*ast.CompositeLit); ok && element.Type == nil {
			c.checkFieldNames(element)
		}
	}
	return true
}

// elementType returns the type of the elements of a slice, an array or a map; nil for other types.
func elementType(t ast.Expr) ast.Expr {
	switch t := t.(type) {
	case *ast.ArrayType:
		return t.Elt
	case *ast.MapType:
		return t.Value
	}
	return nil
}

// isStruct reports whether the type is a struct, or the name of one.
func (c *checker) isStruct(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.StructType:
		return true
	case *ast.Ident:
		return c.structs[t.Name]
	case *ast.SelectorExpr:
		return c.structs[t.Sel.Name]
	}
	return false
}

func (c *checker) checkFieldNames(lit *ast.CompositeLit) {
	if len(lit.Elts) <= maxUnnamed {
		return
	}
	if _, isNamed := lit.Elts[0].(*ast.KeyValueExpr); !isNamed {
		at := c.fset.Position(lit.Pos())
		c.report(fmt.Sprintf("%s:%d", at.Filename, at.Line), "%d values without names", len(lit.Elts))
	}
}
