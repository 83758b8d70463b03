/** Declared schemas as plain JSON Schema: what the documents show instead of how the declaration was made. */
import type { TSchema } from '@sinclair/typebox'

export type JsonSchema = { [keyword: string]: unknown }

/** OpenAPI 3.1 speaks 2020-12, AsyncAPI 3.0 draft 7: they differ in how a tuple is written. */
export type Dialect = '2020-12' | 'draft-7'

export function jsonSchema(declared: TSchema, dialect: Dialect): JsonSchema {
  // Symbols, undefined and functions of the declaration do not survive this.
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

/** Applies to every schema inside, and to no value that only looks like one (defaults, examples). */
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

/** One of several texts is an enum to everybody who reads documents. */
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

/** A record by any text is declared as one pattern that everything matches. */
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
