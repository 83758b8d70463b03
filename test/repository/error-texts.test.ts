/**
 * Every error text in one file, so that a change of wording is reviewed. Update it with
 * `npx vitest run test/repository/error-texts.test.ts -u`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'

const SERVICES = join(repositoryRoot(), 'services')
const NATIVE_ERRORS = ['Error', 'RangeError', 'SyntaxError', 'TypeError']

const sources = readdirSync(SERVICES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ts.createSourceFile(name, readFileSync(join(SERVICES, name), 'utf8'), ts.ScriptTarget.ES2022))

function visit(node: ts.Node, onNode: (node: ts.Node) => void): void {
  onNode(node)
  ts.forEachChild(node, (child) => visit(child, onNode))
}

function visitAll(onNode: (node: ts.Node) => void): void {
  for (const source of sources) visit(source, onNode)
}

/** Names of classes that extend an error class, directly or not. */
function errorClasses(): Set<string> {
  const parents = new Map<string, string>()
  visitAll((node) => {
    if (!ts.isClassDeclaration(node) || node.name === undefined) return
    const parent = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0]
      ?.expression
    if (parent !== undefined && ts.isIdentifier(parent)) parents.set(node.name.text, parent.text)
  })
  const known = new Set(NATIVE_ERRORS)
  for (let before = 0; before < known.size; ) {
    before = known.size
    for (const [name, parent] of parents) if (known.has(parent)) known.add(name)
  }
  return known
}

/** Functions that build an error from their arguments: `badRequest('code', 'detail')`. */
function errorFunctions(classes: ReadonlySet<string>): Set<string> {
  const isError = (type: ts.TypeNode | undefined) =>
    type !== undefined &&
    ts.isTypeReferenceNode(type) &&
    ts.isIdentifier(type.typeName) &&
    classes.has(type.typeName.text)
  const names = new Set<string>()
  visitAll((node) => {
    if (ts.isFunctionDeclaration(node) && node.name !== undefined && isError(node.type)) names.add(node.name.text)
    if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name) || node.initializer === undefined) return
    if (ts.isArrowFunction(node.initializer) && isError(node.initializer.type)) names.add(node.name.text)
  })
  return names
}

/** The text with placeholders: `${name}` for an inserted value, `${…}` if it has no simple name. */
function textOf(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map((span) => textOf(span.expression) + span.literal.text).join('')
  if (ts.isConditionalExpression(node)) return `(${textOf(node.whenTrue)} / ${textOf(node.whenFalse)})`
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return textOf(node.left) + textOf(node.right)
  if (ts.isParenthesizedExpression(node)) return textOf(node.expression)
  if (ts.isIdentifier(node)) return placeholder(node.text)
  if (ts.isPropertyAccessExpression(node)) return placeholder(node.name.text)
  return placeholder('…')
}

const placeholder = (name: string): string => `\${${name}}`

const hasText = (node: ts.Expression): boolean => /[^\s:()]/.test(textOf(node).replace(/\$\{[^}]*\}/g, ''))
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** `{ code, what, expected, fix }` of our errors, `{ reason, detail }` of dead letters. */
function describedError(node: ts.ObjectLiteralExpression): string | undefined {
  const fields = new Map<string, ts.Expression>()
  for (const field of node.properties) {
    if (ts.isShorthandPropertyAssignment(field)) fields.set(field.name.text, field.name)
    if (ts.isPropertyAssignment(field) && ts.isIdentifier(field.name)) fields.set(field.name.text, field.initializer)
  }
  const name = fields.get('code') ?? fields.get('reason')
  const what = fields.get('what') ?? fields.get('detail')
  if (name === undefined || what === undefined) return undefined
  const [expected, fix] = [fields.get('expected'), fields.get('fix')]
  if (![name, what].some(hasText)) return undefined
  return [
    `${textOf(name)}: ${textOf(what)}`,
    ...(expected === undefined ? [] : [`expected ${textOf(expected)}`]),
    ...(fix === undefined ? [] : [textOf(fix)]),
  ].join(' | ')
}

function errorTexts(): string[] {
  const classes = errorClasses()
  const functions = errorFunctions(classes)
  const texts = new Set<string>()
  const add = (name: string, given: readonly ts.Expression[]) => {
    const withText = given.filter((each) => hasText(each) && !ts.isObjectLiteralExpression(each))
    if (withText.length > 0) texts.add(oneLine(`${name}: ${withText.map(textOf).join(' | ')}`))
  }
  visitAll((node) => {
    if (ts.isObjectLiteralExpression(node)) {
      const text = describedError(node)
      if (text !== undefined) texts.add(oneLine(text))
    }
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && classes.has(node.expression.text))
      add(node.expression.text, node.arguments ?? [])
    if (!ts.isCallExpression(node)) return
    const { expression: called } = node
    if (ts.isIdentifier(called) && functions.has(called.text)) add(called.text, node.arguments)
    // Configuration problems are collected and reported in one error.
    if (
      ts.isPropertyAccessExpression(called) &&
      called.name.text === 'push' &&
      textOf(called.expression) === placeholder('problems')
    )
      add('configuration', node.arguments)
  })
  return [...texts].sort()
}

it('matches the reviewed error texts', async () => {
  const texts = errorTexts()
  expect(texts.length).toBeGreaterThan(200)
  await expect(`${texts.join('\n')}\n`).toMatchFileSnapshot('error-texts.snapshot.txt')
})
