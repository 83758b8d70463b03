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

/** Bytes with a form of their own: the type of the value they are read as, and its module beside the records. */
const PACKED: Record<string, { name: string; module: string }> = {
  candles: { name: 'PackedCandles', module: '../packed-candles.js' },
  windows: { name: 'PackedWindows', module: '../packed-windows.js' },
}

/** `SwapEvent` is the union branch that recordings mark with `"type":"swap"`. */
export function eventTypeOf(recordName: string): string | undefined {
  return recordName.endsWith('Event') ? recordName.slice(0, -'Event'.length).toLowerCase() : undefined
}

export const GENERATED_BY = '// Generated from schemas/avro by `npm run generate`; a test fails when it differs.\n'

/** One source text per group of schemas. A type that several groups use is declared in the first and imported by the others. */
export function typesFromSchemas(groups: Readonly<Record<string, readonly AvroRecord[]>>): Map<string, string> {
  const declared = new Map<string, string>()
  const groupOf = new Map<string, string>()
  for (const [group, schemas] of Object.entries(groups)) {
    for (const schema of schemas) declareRecord(schema, declared)
    for (const name of declared.keys()) if (!groupOf.has(name)) groupOf.set(name, group)
  }
  return new Map(Object.keys(groups).map((group) => [group, sourceOf(group, declared, groupOf)]))
}

function sourceOf(group: string, declared: Map<string, string>, groupOf: Map<string, string>): string {
  const own = [...declared].filter(([name]) => groupOf.get(name) === group).map(([, text]) => text)
  const code = own.join('\n').replace(/\/\*\*.*?\*\//g, '')
  const imported = new Map<string, string[]>()
  for (const [name, home] of groupOf) {
    if (home === group || !new RegExp(`\\b${name}\\b`).test(code)) continue
    imported.set(home, [...(imported.get(home) ?? []), name])
  }
  const packed = Object.values(PACKED).filter(({ name }) => new RegExp(`\\b${name}\\b`).test(code))
  const imports = [
    ...packed.map(({ name, module }) => `import type { ${name} } from '${module}'`),
    ...[...imported].map(([home, names]) => `import type { ${names.sort().join(', ')} } from './${home}.js'`),
  ]
  return `${[GENERATED_BY.trimEnd(), ...(imports.length === 0 ? [] : [imports.join('\n')]), ...own].join('\n\n')}\n`
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
    case 'bytes':
      return PACKED[type.logicalType]?.name ?? 'Uint8Array'
    case 'array': {
      const items = typeName(type.items, where, declared)
      return items.includes('|') ? `(${items})[]` : `${items}[]`
    }
  }
}
