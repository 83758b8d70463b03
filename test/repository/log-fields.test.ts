/** Every log line of the services fits schemas/log-line.json: constant messages, and fields of its list. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { type Source, servicesSources } from '../rig/services-sources.js'
import { type Node, nameOf, treeOf, visit } from '../rig/suite/syntax-tree.js'

type LogSchema = { properties: Record<string, unknown>; patternProperties: Record<string, unknown> }

const root = repositoryRoot()
const schema = JSON.parse(readFileSync(join(root, 'schemas/log-line.json'), 'utf8')) as LogSchema
const patterns = Object.keys(schema.patternProperties).map((pattern) => new RegExp(pattern))
const isKnown = (name: string) => name in schema.properties || patterns.some((pattern) => pattern.test(name))

/** Fields written as literals; those of a spread are checked where it is made. */
function fieldsIn(source: Source): { fields: string[]; calls: number } {
  const fields: string[] = []
  let calls = 0
  visit(treeOf(source), (node) => {
    if (node.type !== 'CallExpression' || !isLogCall(node.callee)) return
    calls += 1
    fields.push(...node.arguments.flatMap(namesOf))
  })
  return { fields, calls }
}

function isLogCall(callee: Node): boolean {
  if (callee.type !== 'MemberExpression' || !['info', 'warn', 'error'].includes(nameOf(callee.property) ?? ''))
    return false
  const { object: owner } = callee
  return /logger$/i.test(nameOf(owner.type === 'MemberExpression' ? owner.property : owner) ?? '')
}

function namesOf(literal: Node): string[] {
  if (literal.type !== 'ObjectExpression') return []
  return literal.properties.flatMap((property) => {
    if (property.type === 'SpreadElement') return namesOf(property.argument)
    const { key, computed } = property
    if (key.type === 'Literal' && typeof key.value === 'string') return [key.value]
    return key.type === 'Identifier' && !computed ? [key.name] : []
  })
}

it('log lines have fields of the schema only', () => {
  const logging = servicesSources().filter(
    ({ file, text }) => !file.startsWith('dashboard') && /logger\.(info|warn|error)\(/.test(text),
  )
  const found = logging.map((source) => ({ file: source.file, ...fieldsIn(source) }))
  expect(found.reduce((sum, { calls }) => sum + calls, 0)).toBeGreaterThan(60)
  expect(
    found.flatMap(({ file, fields }) => fields.filter((name) => !isKnown(name)).map((name) => [file, name])),
  ).toEqual([])
})
