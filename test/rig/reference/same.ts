/**
 * Whether two plain values are the same throughout, leaves by `isSameLeaf`; builds nothing, unlike a search for where they differ.
 * No where a key is missing on one side or a map stands against an object, even if only `undefined` is missing.
 */
export function isSame(a: unknown, b: unknown, isSameLeaf: (a: unknown, b: unknown) => boolean): boolean {
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return isSameLeaf(a, b)
  if (a === b) return true
  if (a instanceof Map || b instanceof Map) {
    if (!(a instanceof Map && b instanceof Map) || a.size !== b.size) return false
    for (const [key, value] of a) if (!b.has(key) || !isSame(value, b.get(key), isSameLeaf)) return false
    return true
  }
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(
    (key) => Object.hasOwn(b, key) && isSame(a[key as keyof typeof a], b[key as keyof typeof b], isSameLeaf),
  )
}
