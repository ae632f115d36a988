import ts from 'typescript';

export interface SourceText {
  /** Repository-relative, with `/`. */
  path: string;
  text: string;
}

/** Code → files that say it. A code made of a fixed head and something else is `head_…`. */
export type Codes = ReadonlyMap<string, readonly string[]>;

/** Codes that a person or a program meets: of FleetErrors, of refusals by code, and reasons of plans and holds. */
export interface CollectedCodes {
  errors: Codes;
  reasons: Codes;
}

/** Reasons are told from here; elsewhere `because` says why a reading failed, which `doctor` explains itself. */
const reasonFolders =
  /^packages\/(shared\/src\/(jobs|rollouts|transforms)|agent\/src\/(jobs|steps)|server\/src\/(loops|resources\/(jobs|rollouts)))\/|^packages\/agent\/src\/(connection\/attempt-desk|identity\/verify-grant|commands\/describe-plan)\.ts$/;
/** Where an object's `code` is one of ours. */
const codeFolders = /^packages\/(server\/src\/(http|gateway)|agent\/src\/commands)\//;
/** Unions whose members are handed on as reasons. */
const reasonTypes = ['EffectFailure', 'ReadFailure', 'GrantRefusal', 'HolderRefusal', 'SmiFailure'];

export function collectCodes(files: readonly SourceText[]): CollectedCodes {
  const sources = files.map(parse);
  const errors = new Map<string, string[]>();
  const reasons = new Map<string, string[]>();
  for (const source of sources) {
    const path = source.fileName;
    const sayReason = (code: string) => put(reasons, code, path);
    const sayError = (code: string) => put(errors, code, path);
    const tellsReasons = reasonFolders.test(path);
    const tellsCodes = codeFolders.test(path);
    const helpers = helpersFor(source, sources);
    walk(source, (node) => {
      if (ts.isNewExpression(node) && node.expression.getText() === 'FleetError')
        literalsOf(node.arguments?.[0]).forEach(sayError);
      if (ts.isTypeAliasDeclaration(node) && reasonTypes.includes(node.name.text))
        membersOf(node.type).forEach(sayReason);
      if (ts.isPropertyAssignment(node) && tellsReasons && node.name.getText() === 'because')
        literalsOf(node.initializer).forEach(sayReason);
      if (ts.isPropertyAssignment(node) && tellsCodes && node.name.getText() === 'code')
        literalsOf(node.initializer).forEach(sayError);
      if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
        const helper = helpers.get(node.expression.text);
        if (helper?.says === 'because' && tellsReasons) literalsOf(node.arguments[helper.at]).forEach(sayReason);
        if (helper?.says === 'code' && tellsCodes) literalsOf(node.arguments[helper.at]).forEach(sayError);
      }
    });
  }
  return { errors, reasons };
}

const parsed = new WeakMap<SourceText, ts.SourceFile>();

function parse(file: SourceText): ts.SourceFile {
  const known = parsed.get(file) ?? ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  parsed.set(file, known);
  return known;
}

interface Helper {
  says: 'because' | 'code';
  at: number;
}

const helperCache = new WeakMap<ts.SourceFile, Map<string, Helper>>();

/** Functions with a parameter named `because` or `code`, of this file and of those that it imports by name. */
function helpersFor(source: ts.SourceFile, sources: readonly ts.SourceFile[]): Map<string, Helper> {
  const known = new Map(helpersIn(source));
  const imported = new Set<string>();
  walk(source, (node) => {
    if (ts.isImportSpecifier(node)) imported.add((node.propertyName ?? node.name).text);
  });
  for (const other of sources)
    for (const [name, helper] of helpersIn(other)) if (imported.has(name) && !known.has(name)) known.set(name, helper);
  return known;
}

function helpersIn(source: ts.SourceFile): Map<string, Helper> {
  const cached = helperCache.get(source);
  if (cached) return cached;
  const found = new Map<string, Helper>();
  walk(source, (node) => {
    const named = namedFunction(node);
    if (!named) return;
    named.parameters.forEach((parameter, at) => {
      const name = parameter.name.getText();
      if (name === 'because' || name === 'code') found.set(named.name, { says: name, at });
    });
  });
  helperCache.set(source, found);
  return found;
}

function namedFunction(node: ts.Node): { name: string; parameters: readonly ts.ParameterDeclaration[] } | undefined {
  if (ts.isFunctionDeclaration(node) && node.name) return { name: node.name.text, parameters: node.parameters };
  if (
    ts.isVariableDeclaration(node) &&
    ts.isIdentifier(node.name) &&
    node.initializer &&
    ts.isArrowFunction(node.initializer)
  )
    return { name: node.name.text, parameters: node.initializer.parameters };
  return undefined;
}

/** The codes that an expression may have, as far as they are written down. */
function literalsOf(node: ts.Expression | undefined): string[] {
  if (node === undefined) return [];
  if (ts.isStringLiteralLike(node)) return isCode(node.text) ? [node.text] : [];
  if (ts.isTemplateExpression(node)) return isCode(node.head.text) ? [`${node.head.text}…`] : [];
  if (ts.isConditionalExpression(node)) return [...literalsOf(node.whenTrue), ...literalsOf(node.whenFalse)];
  if (ts.isBinaryExpression(node)) return [...literalsOf(node.left), ...literalsOf(node.right)];
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return literalsOf(node.expression);
  return [];
}

function membersOf(type: ts.TypeNode): string[] {
  if (ts.isUnionTypeNode(type)) return type.types.flatMap(membersOf);
  return ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? [type.literal.text] : [];
}

function isCode(text: string): boolean {
  return /^[a-z][a-z0-9_]*$/.test(text);
}

function put(codes: Map<string, string[]>, code: string, path: string): void {
  codes.set(code, [...new Set([...(codes.get(code) ?? []), path])]);
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}
