/** An OpenAPI document whose inputs may also take values that mean something here, so that fuzzing gets past the first check. */

type Node = Record<string, unknown>

/** By the name of a parameter or a body's property. What was allowed before still is. */
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
