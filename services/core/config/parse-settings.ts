/** The text of a configuration file, as YAML or JSON. */
import { createRequire } from 'node:module'

/** YAML covers JSON. Its parser is a tenth of the main thread's start, so that JSON is tried first. */
export function parseSettings(text: string): unknown {
  const json = parseJson(text)
  return json === undefined ? parseYaml(text) : json
}

/** Undefined if it is not JSON, or names a key twice: YAML refuses that, JSON would take the last one. */
function parseJson(text: string): unknown {
  let keys = 0
  try {
    const value: unknown = JSON.parse(text, (_key, part: unknown) => {
      if (typeof part === 'object' && part !== null && !Array.isArray(part)) keys += Object.keys(part).length
      return part
    })
    return keys === writtenKeys(text) ? value : undefined
  } catch {
    return undefined
  }
}

function writtenKeys(json: string): number {
  return [...json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length
}

function parseYaml(text: string): unknown {
  const { parse } = createRequire(import.meta.url)('yaml') as typeof import('yaml')
  return parse(text)
}
