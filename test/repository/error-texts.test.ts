/**
 * Every error text in one file, so that a change of wording is reviewed. Update it with
 * `npx vitest run test/repository/error-texts.test.ts -u`.
 */
import { expect, it } from 'vitest'
import { servicesSources } from '../rig/services-sources.js'
import { type Node, nameOf, treeOf, visit } from '../rig/suite/syntax-tree.js'

const NATIVE_ERRORS = ['Error', 'RangeError', 'SyntaxError', 'TypeError']

const trees = servicesSources().map(treeOf)

function visitAll(onNode: (node: Node) => void): void {
  for (const tree of trees) visit(tree, onNode)
}

/** Names of classes that extend an error class, directly or not. */
function errorClasses(): Set<string> {
  const parents = new Map<string, string>()
  visitAll((node) => {
    if (node.type !== 'ClassDeclaration') return
    const [name, parent] = [nameOf(node.id), nameOf(node.superClass)]
    if (name !== undefined && parent !== undefined) parents.set(name, parent)
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
  const isError = (type: Node | undefined) =>
    type?.type === 'TSTypeReference' && classes.has(nameOf(type.typeName) ?? '')
  const names = new Set<string>()
  visitAll((node) => {
    const made = node.type === 'VariableDeclarator' && node.init?.type === 'ArrowFunctionExpression' ? node.init : node
    if (made.type !== 'FunctionDeclaration' && made.type !== 'ArrowFunctionExpression') return
    const name = nameOf('id' in node ? (node.id as Node | null) : null)
    if (name !== undefined && isError(made.returnType?.typeAnnotation)) names.add(name)
  })
  return names
}

/** The text with placeholders: `${name}` for an inserted value, `${…}` if it has no simple name. */
function textOf(node: Node): string {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'TemplateLiteral')
    return node.quasis
      .map(({ value }, at) => (value.cooked ?? '') + (node.expressions[at] ? textOf(node.expressions[at]) : ''))
      .join('')
  if (node.type === 'ChainExpression') return textOf(node.expression)
  if (node.type === 'ConditionalExpression') return `(${textOf(node.consequent)} / ${textOf(node.alternate)})`
  if (node.type === 'BinaryExpression' && node.operator === '+') return textOf(node.left) + textOf(node.right)
  return placeholder(nameOf(node.type === 'MemberExpression' && !node.computed ? node.property : node) ?? '…')
}

const placeholder = (name: string): string => `\${${name}}`

const hasText = (node: Node): boolean => /[^\s:()]/.test(textOf(node).replace(/\$\{[^}]*\}/g, ''))
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** `{ code, what, expected, fix }` of our errors, `{ reason, detail }` of dead letters. */
function describedError(node: Extract<Node, { type: 'ObjectExpression' }>): string | undefined {
  const fields = new Map<string, Node>()
  for (const field of node.properties) {
    const name = field.type === 'Property' && !field.computed ? nameOf(field.key) : undefined
    if (name !== undefined && field.type === 'Property') fields.set(name, field.value)
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
  const add = (name: string, given: readonly Node[]) => {
    const withText = given.filter((each) => hasText(each) && each.type !== 'ObjectExpression')
    if (withText.length > 0) texts.add(oneLine(`${name}: ${withText.map(textOf).join(' | ')}`))
  }
  visitAll((node) => {
    if (node.type === 'ObjectExpression') {
      const text = describedError(node)
      if (text !== undefined) texts.add(oneLine(text))
    }
    if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return
    const { callee, arguments: given } = node
    const name = nameOf(callee)
    if (name !== undefined && (node.type === 'NewExpression' ? classes : functions).has(name)) add(name, given)
    // Configuration problems are collected and reported in one error.
    if (
      node.type === 'CallExpression' &&
      callee.type === 'MemberExpression' &&
      nameOf(callee.property) === 'push' &&
      textOf(callee.object) === placeholder('problems')
    )
      add('configuration', given)
  })
  return [...texts].sort()
}

it('matches the reviewed error texts', async () => {
  const texts = errorTexts()
  expect(texts.length).toBeGreaterThan(200)
  await expect(`${texts.join('\n')}\n`).toMatchFileSnapshot('error-texts.snapshot.txt')
})
