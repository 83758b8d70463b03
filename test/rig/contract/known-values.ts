/** Adds known values to the inputs of an OpenAPI document, so that fuzzing gets past validation. */

type Node = Record<string, unknown>

/** `known` is keyed by parameter or body property; values allowed before stay allowed. */
export function withKnownValues(document: unknown, known: Readonly<Record<string, readonly string[]>>): unknown {
  const copy = structuredClone(document) as { paths: Record<string, Record<string, Node>> }
  for (const item of Object.values(copy.paths)) {
    for (const operation of Object.values(item)) {
      for (const parameter of (operation.parameters ?? []) as Node[]) {
        const values = known[String(parameter.name)]
        if (values !== undefined) parameter.schema = alsoOneOf(values, parameter.schema)
      }
      const content = (operation.requestBody as { content?: Node } | undefined)?.content ?? {}
      for (const { schema } of Object.values(content) as { schema: { properties?: Record<string, Node> } }[]) {
        for (const [name, property] of Object.entries(schema.properties ?? {})) {
          const values = known[name]
          if (values !== undefined && property.items !== undefined) property.items = alsoOneOf(values, property.items)
        }
      }
    }
  }
  return copy
}

const alsoOneOf = (values: readonly string[], schema: unknown): Node => ({ anyOf: [{ enum: values }, schema] })
