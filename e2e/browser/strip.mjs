// The plain JavaScript client's modules, made from the TypeScript of the React clients: node strip.mjs EN.TXT FROM... TO
//
// Works on templates. While the types are taken out, a line with a directive stands as a comment, and a directive in a
// line as part of a name, which is as long as the English text for which it stands.
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { format } from "prettier";
import blankSpace from "ts-blank-space";
import ts from "typescript";

const line = /^ *<%.*%>$/gm;
const inLine = /<%.*?%>/g;
const say = /^<% \.Say "(\w+)"/;

/** Without what only the type checker reads, and the comments on it. */
function withoutTypes(source) {
  const file = ts.createSourceFile("x.ts", source, ts.ScriptTarget.Latest);
  let out = "";
  let end = 0;
  for (const statement of file.statements) {
    if (!ts.isInterfaceDeclaration(statement) && !ts.isTypeAliasDeclaration(statement)) continue;
    const comments = ts.getLeadingCommentRanges(source, statement.pos) ?? [];
    const own = comments.filter(({ kind }) => kind === ts.SyntaxKind.MultiLineCommentTrivia);
    out += source.slice(end, own.at(-1)?.pos ?? statement.getStart(file));
    // What directives say of a part of the type goes with it.
    end = statement.end;
  }
  return out + source.slice(end);
}

async function strip(template, english) {
  const kept = [];
  const keep = (text) => kept.push(text.trim()) - 1;
  const length = (directive) => english.get(say.exec(directive)?.[1])?.length ?? 0;
  const source = template
    .replace(line, (text) => `//% ${keep(text)}`)
    .replace(inLine, (text) => `KEPT${keep(text)}_`.padEnd(length(text), "_"));
  const plain = blankSpace(withoutTypes(source)).replace(/\b(\w+)\.ts\b/g, "$1.js");
  const formatted = await format(plain, { parser: "babel", printWidth: 120 });
  return formatted.replace(/^ *\/\/% (\d+)$/gm, (_, i) => kept[i]).replace(/KEPT(\d+)_+/g, (_, i) => kept[i]);
}

const paths = process.argv.slice(2);
const to = paths.pop();
const translation = await readFile(paths.shift(), "utf8");
const english = new Map(translation.split("\n").map((text) => text.split(/: (.*)/)));
for (const path of paths) {
  await writeFile(join(to, basename(path).replace(".ts", ".js")), await strip(await readFile(path, "utf8"), english));
}
