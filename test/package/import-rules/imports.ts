import ts from 'typescript';

/** One module that a file leans on. */
export interface ImportedModule {
  /** As written: `./session.js`, `rxjs`, `node:net`. */
  readonly specifier: string;
  /** `static` is loaded with the file (or named in its declarations); `dynamic` only when the call is reached. */
  readonly kind: 'static' | 'dynamic';
  readonly line: number;
}

/**
 * Every module a source names: imports and re-exports (of types too: they end up in the declarations), `import()` in
 * code and in types, `require`. Parsed, so that neither comments nor text in quotes count.
 */
export function importsOf(path: string, source: string): ImportedModule[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const found: ImportedModule[] = [];
  const add = (node: ts.Node | undefined, kind: ImportedModule['kind']) => {
    if (node === undefined) return;
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    // A computed name cannot be judged; it is reported as what it is, and no rule lets it pass.
    found.push({ specifier: ts.isStringLiteralLike(node) ? node.text : `(${node.getText()})`, kind, line });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier, 'static');
    else if (ts.isExternalModuleReference(node)) add(node.expression, 'static');
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, 'static');
    else if (ts.isCallExpression(node) && loadsModule(node)) add(node.arguments[0], 'dynamic');
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function loadsModule(call: ts.CallExpression): boolean {
  if (call.expression.kind === ts.SyntaxKind.ImportKeyword) return true;
  return ts.isIdentifier(call.expression) && call.expression.text === 'require';
}
