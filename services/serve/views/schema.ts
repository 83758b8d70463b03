import { Type } from '@sinclair/typebox'

/** Kinds of answer fields. Nullable ones are type arrays, which the serialiser handles without trying alternatives. */
export const text = Type.String()
export const int = Type.Integer()
export const num = Type.Number()
export const flag = Type.Boolean()
export const textOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] })
export const intOrNull = Type.Unsafe<number | null>({ type: ['integer', 'null'] })
export const numOrNull = Type.Unsafe<number | null>({ type: ['number', 'null'] })
/** A decimal string, null where unknown. */
export const decimal = textOrNull

/** An object schema whose listed fields all have one kind. */
export function fieldsOf<Name extends string, Kind>(names: readonly Name[], kind: Kind): Record<Name, Kind> {
  return Object.fromEntries(names.map((name) => [name, kind])) as Record<Name, Kind>
}

export const jsonNumberOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null)
