/** Lists the fields of a schema. */
import { element } from './elements.js'

export function shapeView(title, schema) {
  const lines = linesOf(schema, '')
  return element(
    'details',
    {},
    element('summary', { text: `${title} (${lines.length} fields)` }),
    element(
      'ul',
      { class: 'shape' },
      ...lines.map(({ name, type, about }) =>
        element('li', about === undefined ? {} : { title: about }, `${name} `, element('small', { text: type })),
      ),
    ),
  )
}

function linesOf(schema, path) {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.flatMap((one) => linesOf(one, path))
  const inside = [
    ...Object.entries(schema.properties ?? {}).map(([name, part]) => [path === '' ? name : `${path}.${name}`, part]),
    ...(isSchema(schema.additionalProperties) ? [[`${path}.*`, schema.additionalProperties]] : []),
    ...(isSchema(schema.items) ? [[`${path}[]`, schema.items]] : []),
  ]
  if (inside.length === 0) {
    if (path === '' || schema.type === 'null') return []
    return [{ name: path, type: typeText(schema), about: schema.description }]
  }
  return inside.flatMap(([name, part]) => linesOf(part, name))
}

function isSchema(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeText({ type, enum: choices, const: only }) {
  if (only !== undefined) return JSON.stringify(only)
  if (choices !== undefined) return choices.join(' | ')
  return Array.isArray(type) ? type.join(' or ') : (type ?? 'any')
}
