/** Turns Avro schemas into TypeScript types. Pure: schemas in, source text out. */
import type { AvroField, AvroRecord, AvroType } from './avro.js'

const PRIMITIVES: Record<string, string> = {
  null: 'null',
  boolean: 'boolean',
  int: 'number',
  long: 'number',
  float: 'number',
  double: 'number',
  string: 'string',
  bytes: 'Uint8Array',
}

/** `SwapEvent` is the union branch that recordings mark with `"type":"swap"`. */
export function eventTypeOf(recordName: string): string | undefined {
  return recordName.endsWith('Event') ? recordName.slice(0, -'Event'.length).toLowerCase() : undefined
}

export const GENERATED_BY = '// Generated from schemas/avro by `npm run generate`; a test fails when it differs.\n'

export function typesFromSchemas(schemas: AvroRecord[]): string {
  const declared = new Map<string, string>()
  for (const schema of schemas) declareRecord(schema, declared)
  return `${GENERATED_BY}\n${[...declared.values()].join('\n\n')}\n`
}

function declareRecord(record: AvroRecord, declared: Map<string, string>): string {
  if (declared.has(record.name)) return record.name
  declared.set(record.name, '')
  const eventType = eventTypeOf(record.name)
  const lines = record.fields.map((field) => declareField(field, record.name, declared))
  if (eventType !== undefined) lines.unshift(`  type: '${eventType}'`)
  const comment = record.doc === undefined ? '' : `/** ${record.doc} */\n`
  const text = `${comment}export interface ${record.name} {\n${lines.join('\n')}\n}`
  declared.delete(record.name)
  declared.set(record.name, text)
  return record.name
}

function declareField(field: AvroField, owner: string, declared: Map<string, string>): string {
  const comment = field.doc === undefined ? '' : `  /** ${field.doc} */\n`
  return `${comment}  ${field.name}: ${typeName(field.type, `${owner}.${field.name}`, declared)}`
}

function typeName(type: AvroType, where: string, declared: Map<string, string>): string {
  if (typeof type === 'string') {
    const primitive = PRIMITIVES[type]
    return primitive ?? type.replace(/^dextape\./, '')
  }
  if (Array.isArray(type)) {
    const names = type.map((branch) => typeName(branch, where, declared))
    if (names.every((name) => name.endsWith('Event'))) {
      declared.set('Event', `export type Event = ${names.join(' | ')}`)
      return 'Event'
    }
    return [...names.filter((name) => name !== 'null'), ...names.filter((name) => name === 'null')].join(' | ')
  }
  switch (type.type) {
    case 'record':
      return declareRecord(type, declared)
    case 'enum':
      declared.set(type.name, `export type ${type.name} = ${type.symbols.map((symbol) => `'${symbol}'`).join(' | ')}`)
      return type.name
    case 'array': {
      const items = typeName(type.items, where, declared)
      return items.includes('|') ? `(${items})[]` : `${items}[]`
    }
  }
}
