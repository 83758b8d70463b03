/** Converts declared schemas to plain JSON Schema. */
import type { TSchema } from '@sinclair/typebox'

export type JsonSchema = { [keyword: string]: unknown }

/** OpenAPI 3.1 uses 2020-12, AsyncAPI 3.0 uses draft 7: they write tuples differently. */
export type Dialect = '2020-12' | 'draft-7'

export function jsonSchema(declared: TSchema, dialect: Dialect): JsonSchema {
  // Strips symbols, undefined and functions.
  return plain(JSON.parse(JSON.stringify(declared)) as JsonSchema, dialect)
}

export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] }
}

function plain(schema: JsonSchema, dialect: Dialect): JsonSchema {
  return tupleFor(dialect, openRecord(choiceAsEnum(mapParts(schema, (part) => plain(part, dialect)))))
}

const LISTS = ['anyOf', 'oneOf', 'allOf', 'items']
const MAPS = ['properties', 'patternProperties']
const SINGLES = ['items', 'additionalProperties', 'not']

/** Maps nested schemas, but not values that look like schemas (defaults, examples). */
function mapParts(schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema {
  const mapped = Object.entries(schema).map(([keyword, value]) => {
    if (LISTS.includes(keyword) && Array.isArray(value)) return [keyword, value.map(change)]
    if (typeof value !== 'object' || value === null) return [keyword, value]
    if (SINGLES.includes(keyword)) return [keyword, change(value as JsonSchema)]
    if (!MAPS.includes(keyword)) return [keyword, value]
    const parts = Object.entries(value as Record<string, JsonSchema>).map(([name, part]) => [name, change(part)])
    return [keyword, Object.fromEntries(parts)]
  })
  return Object.fromEntries(mapped)
}

/** Writes a union of literals as an enum. */
function choiceAsEnum(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || !anyOf.every(isLiteral)) return schema
  const types = [...new Set(anyOf.map(({ type }) => type))]
  return { ...rest, type: types.length === 1 ? types[0] : types, enum: anyOf.map((one) => one.const) }
}

function isLiteral(schema: unknown): schema is { const: unknown; type: unknown } {
  const keywords = typeof schema === 'object' && schema !== null ? Object.keys(schema) : []
  return keywords.length === 2 && keywords.includes('const') && keywords.includes('type')
}

/** TypeBox declares a record with string keys as one catch-all pattern. */
function openRecord(schema: JsonSchema): JsonSchema {
  const { patternProperties, ...rest } = schema
  const [one, ...more] = Object.entries((patternProperties ?? {}) as Record<string, JsonSchema>)
  if (one === undefined || more.length > 0 || one[0] !== '^(.*)$') return schema
  return { ...rest, additionalProperties: one[1] }
}

function tupleFor(dialect: Dialect, schema: JsonSchema): JsonSchema {
  if (dialect === 'draft-7' || !Array.isArray(schema.items)) return schema
  const { items, additionalItems, ...rest } = schema
  return { ...rest, prefixItems: items, items: additionalItems ?? true }
}
