import { isSame } from '../reference/same.js'

/** The first paths at which two plain values differ; numbers compare bit for bit (NaN equals NaN, 0 differs from -0). */
export function exactDifferences(got: unknown, expected: unknown, limit = 10): string[] {
  const found: string[] = []
  walk(got, expected, '', found, limit)
  return found
}

function walk(got: unknown, expected: unknown, path: string, found: string[], limit: number): void {
  if (found.length >= limit || isSame(got, expected, Object.is)) return
  if (typeof got === 'object' && typeof expected === 'object' && got !== null && expected !== null) {
    const left = entries(got)
    const right = entries(expected)
    for (const key of new Set([...left.keys(), ...right.keys()])) {
      walk(left.get(key), right.get(key), `${path}.${key}`, found, limit)
    }
    return
  }
  found.push(`${path}: got ${String(got)}, expected ${String(expected)}`)
}

function entries(value: object): Map<unknown, unknown> {
  return value instanceof Map ? value : new Map(Object.entries(value))
}
