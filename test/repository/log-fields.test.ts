/** Every log line of the services fits schemas/log-line.json: constant messages, and fields of its list. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'

type LogSchema = { properties: Record<string, unknown>; patternProperties: Record<string, unknown> }

const root = repositoryRoot()
const schema = JSON.parse(readFileSync(join(root, 'schemas/log-line.json'), 'utf8')) as LogSchema
const patterns = Object.keys(schema.patternProperties).map((pattern) => new RegExp(pattern))
const isKnown = (name: string) => name in schema.properties || patterns.some((pattern) => pattern.test(name))

/** Fields written as literals; those of a spread are checked where it is made. */
function fieldsIn(file: string): { fields: string[]; calls: number } {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  const fields: string[] = []
  let calls = 0
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isLogCall(node.expression)) {
      calls += 1
      for (const argument of node.arguments)
        if (ts.isObjectLiteralExpression(argument)) fields.push(...namesOf(argument))
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return { fields, calls }
}

function isLogCall(callee: ts.Expression): boolean {
  if (!ts.isPropertyAccessExpression(callee) || !['info', 'warn', 'error'].includes(callee.name.text)) return false
  const { expression: owner } = callee
  const name = ts.isPropertyAccessExpression(owner) ? owner.name.text : ts.isIdentifier(owner) ? owner.text : ''
  return /logger$/i.test(name)
}

function namesOf(literal: ts.ObjectLiteralExpression): string[] {
  return literal.properties.flatMap((property) => {
    if (ts.isSpreadAssignment(property))
      return ts.isObjectLiteralExpression(property.expression) ? namesOf(property.expression) : []
    const { name } = property
    return name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? [name.text] : []
  })
}

it('log lines have fields of the schema only', () => {
  const folder = join(root, 'services')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('dashboard'),
  )
  const logging = files.filter((file) => /logger\.(info|warn|error)\(/.test(readFileSync(join(folder, file), 'utf8')))
  const found = logging.map((file) => ({ file, ...fieldsIn(join(folder, file)) }))
  expect(found.reduce((sum, { calls }) => sum + calls, 0)).toBeGreaterThan(60)
  expect(
    found.flatMap(({ file, fields }) => fields.filter((name) => !isKnown(name)).map((name) => [file, name])),
  ).toEqual([])
})
