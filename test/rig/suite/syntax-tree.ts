/** Sources as syntax trees (ESTree), for tests of what they say. */
import { type Node, parseSync, visitorKeys } from 'oxc-parser'
import type { Source } from '../services-sources.js'

export type { Node } from 'oxc-parser'

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

/** Of an identifier. */
export const nameOf = (node: Node | null | undefined): string | undefined =>
  node?.type === 'Identifier' ? node.name : undefined
