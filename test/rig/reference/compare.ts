import { isSame } from './same.js'

/** Equal, both unknown, or nearly equal, since sums may be taken in another order than the reference's. */
export function closeTo(a: number, b: number, tolerance = 1e-9): boolean {
  if (Object.is(a, b) || a === b) return true
  return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b))
}

/** The paths at which two plain values differ: numbers compare by `closeTo`, the rest by identity. Empty if equal. */
export function differences(got: unknown, expected: unknown, path = ''): string[] {
  if (isSame(got, expected, isClose)) return []
  if (typeof got === 'number' && typeof expected === 'number') {
    return closeTo(got, expected) ? [] : [`${path}: got ${got}, expected ${expected}`]
  }
  if (!isObject(got) || !isObject(expected)) {
    return got === expected ? [] : [`${path}: got ${show(got)}, expected ${show(expected)}`]
  }
  const left = entriesOf(got)
  const right = entriesOf(expected)
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) =>
    differences(left.get(key), right.get(key), path === '' ? key : `${path}.${key}`),
  )
}

const isClose = (got: unknown, expected: unknown): boolean =>
  got === expected || (typeof got === 'number' && typeof expected === 'number' && closeTo(got, expected))

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const show = (value: unknown): string =>
  typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? 'nothing')

function entriesOf(value: object): Map<string, unknown> {
  return value instanceof Map
    ? new Map([...value].map(([key, item]) => [String(key), item]))
    : new Map(Object.entries(value))
}
