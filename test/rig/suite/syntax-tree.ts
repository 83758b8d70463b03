/** Sources of the services as syntax trees (ESTree), for tests of what they say. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Node, parseSync, visitorKeys } from 'oxc-parser'
import { repositoryRoot } from '../../../schemas/avro.js'

export type { Node } from 'oxc-parser'

export type Source = { file: string; text: string }

/** Without declarations, which have no code. */
export function servicesSources(): Source[] {
  const folder = join(repositoryRoot(), 'services')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
}

export function treeOf({ file, text }: Source): Node {
  const { program, errors } = parseSync(file, text, { preserveParens: false })
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  return program
}

/** Each node before its parts, in the order of the text. */
export function visit(node: Node, onNode: (node: Node) => void): void {
  onNode(node)
  for (const key of visitorKeys[node.type] ?? []) {
    const part = (node as unknown as Record<string, Node | (Node | null)[] | null | undefined>)[key]
    for (const one of Array.isArray(part) ? part : [part]) if (one !== null && one !== undefined) visit(one, onNode)
  }
}
