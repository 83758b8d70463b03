/** Rules for every API document: references resolve, and schemas are plain JSON Schema. */
type Value = Record<string, unknown>

export function brokenReferences(document: Value): string[] {
  const found: string[] = []
  visit(document, (value) => {
    if (typeof value.$ref === 'string' && resolve(document, value.$ref) === undefined) found.push(value.$ref)
  })
  return found
}

function resolve(document: Value, reference: string): unknown {
  const parts = reference.slice(2).split('/')
  return parts.reduce<unknown>((at, part) => (at as Value | undefined)?.[part.replaceAll('~1', '/')], document)
}

function visit(value: unknown, look: (value: Value) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) look(value as Value)
  for (const inside of Object.values(value)) visit(inside, look)
}

/** Every schema in the document, nested ones included. */
export function schemasIn(document: Value): Value[] {
  const roots: Value[] = []
  visit(document, (value) => {
    for (const name of ['schema', 'payload']) if (isSchema(value[name])) roots.push(value[name])
  })
  const { schemas = {} } = (document.components ?? {}) as { schemas?: Value }
  return [...roots, ...Object.values(schemas).filter(isSchema)].flatMap(withParts)
}

function withParts(schema: Value): Value[] {
  const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'].flatMap((name) => schema[name] ?? [])
  const maps = ['properties', 'patternProperties'].flatMap((name) => Object.values(schema[name] ?? {}))
  const singles = ['items', 'additionalProperties', 'additionalItems', 'not'].flatMap((name) => schema[name] ?? [])
  const parts = new Set([...lists, ...maps, ...singles].filter(isSchema))
  return [schema, ...[...parts].flatMap(withParts)]
}

function isSchema(value: unknown): value is Value {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const SHARED = [
  ...['$ref', 'type', 'const', 'enum', 'title', 'description', 'default', 'examples', 'format', 'pattern'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['items', 'minItems', 'maxItems', 'uniqueItems', 'properties', 'required', 'additionalProperties'],
  ...['patternProperties', 'minProperties', 'maxProperties', 'anyOf', 'oneOf', 'allOf', 'not'],
]
const KEYWORDS = { '2020-12': [...SHARED, 'prefixItems'], 'draft-7': [...SHARED, 'additionalItems'] }
const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']

/** Keywords that this JSON Schema dialect does not know or does not accept. */
export function unsupportedKeywords(schemas: readonly Value[], dialect: keyof typeof KEYWORDS): string[] {
  const strange = schemas.flatMap((schema) => [
    ...Object.keys(schema).filter((keyword) => !keyword.startsWith('x-') && !KEYWORDS[dialect].includes(keyword)),
    ...[schema.type ?? []].flat().filter((type) => !TYPES.includes(String(type))),
    ...(dialect === '2020-12' && Array.isArray(schema.items) ? ['items as a list'] : []),
    ...(Array.isArray(schema.required) && new Set(schema.required).size < schema.required.length
      ? ['required twice']
      : []),
    ...namesWithoutProperty(schema),
  ])
  return [...new Set(strange.map(String))]
}

function namesWithoutProperty({ required, properties }: Value): string[] {
  if (!Array.isArray(required)) return []
  return required.filter((name) => !(String(name) in ((properties ?? {}) as Value))).map((name) => `requires ${name}`)
}
