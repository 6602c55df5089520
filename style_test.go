package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// goFiles are all Go files of the repository, those of tests included.
func goFiles(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		isHidden := name != "." && strings.HasPrefix(d.Name(), ".") // such as a cache
		// A source tarball has the modules of others in vendor.
		isOthers := d.Name() == "node_modules" || name == "vendor"
		switch {
		case err != nil:
			return err
		case d.IsDir() && (isHidden || isOthers):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go"):
			names = append(names, name)
		}
		return nil
	})
	if err != nil || len(names) < 100 {
		t.Fatal(len(names), err)
	}
	return names
}

// A line has at most 110 columns, a tab being 4 of them.
func TestLongLines(t *testing.T) {
	parallel(t)
	for _, name := range goFiles(t) {
		number := 0
		for line := range strings.Lines(document(t, name)) {
			number++
			columns := len([]rune(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")))
			if columns > 110 {
				t.Errorf("%s:%d has %d columns", name, number, columns)
			}
		}
	}
}

// A literal of a struct that has more than four values names its fields.
func TestLiteralsNameTheirFields(t *testing.T) {
	parallel(t)
	files := token.NewFileSet()
	structs := map[string]bool{} // names of types that are structs, in any package
	parsed := map[string]*ast.File{}
	for _, name := range goFiles(t) {
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed[name] = f
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				_, isStruct := spec.Type.(*ast.StructType)
				structs[spec.Name.Name] = isStruct
			}
			return true
		})
	}
	if len(structs) < 100 {
		t.Fatalf("found %d types", len(structs))
	}
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if isStructType(lit.Type, structs) {
				checkFieldNames(t, files, lit)
			}
			if isStructType(elementType(lit.Type), structs) {
				for _, e := range lit.Elts {
					if pair, ok := e.(*ast.KeyValueExpr); ok {
						e = pair.Value
					}
					if element, ok := e.(*ast.CompositeLit); ok && element.Type == nil {
						checkFieldNames(t, files, element)
					}
				}
			}
			return true
		})
	}
}

// elementType is the type of the elements of a slice, an array or a map; nil for others.
func elementType(of ast.Expr) ast.Expr {
	switch x := of.(type) {
	case *ast.ArrayType:
		return x.Elt
	case *ast.MapType:
		return x.Value
	}
	return nil
}

// isStructType reports whether the type is a struct, or the name of one.
func isStructType(of ast.Expr, structs map[string]bool) bool {
	switch x := of.(type) {
	case *ast.StructType:
		return true
	case *ast.Ident:
		return structs[x.Name]
	case *ast.SelectorExpr:
		return structs[x.Sel.Name]
	}
	return false
}

// checkFieldNames fails the test if the literal has more than four values without names.
func checkFieldNames(t *testing.T, files *token.FileSet, lit *ast.CompositeLit) {
	t.Helper()
	if len(lit.Elts) <= 4 {
		return
	}
	if _, named := lit.Elts[0].(*ast.KeyValueExpr); !named {
		t.Errorf("%s: %d values without names", files.Position(lit.Pos()), len(lit.Elts))
	}
}
