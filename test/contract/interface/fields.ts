/** Notation for the interface's records: field names, grouped by type. */

export type FieldType =
  /** A string; "" where unknown. */
  | 'text'
  /** A plain decimal in a string; "" where unknown. */
  | 'decimal'
  /** A plain decimal in a string; null where unknown. */
  | 'decimalOrNull'
  | 'number'
  | 'numberOrNull'
  | 'whole'
  | 'wholeOrNull'
  /** Epoch seconds; 0 where unknown. */
  | 'time'
  | 'timeMs'
  | 'boolean'
  | 'object'
  | 'list'
  /** A list of strings, or null. */
  | 'tags'
  /** Whole minutes, or `s1`. */
  | 'interval'

export type Field = { name: string; type: FieldType }

export type Names = Partial<Record<FieldType, string>>

export const words = (text: string): string[] => text.trim().split(/\s+/)

export const fields = (names: Names): Field[] =>
  Object.entries(names).flatMap(([type, list]) => words(list).map((name) => ({ name, type: type as FieldType })))

/** The same fields for each time window; `{w}` stands for the window. */
export const fieldsOfWindows = (windows: string, names: Names): Field[] =>
  words(windows).flatMap((window) =>
    fields(names).map(({ name, type }) => ({ name: name.replace('{w}', window), type })),
  )

/** A record based on another; the changed fields override the base. */
export const withFields = (base: readonly Field[], changed: readonly Field[]): Field[] => [
  ...base.filter(({ name }) => !changed.some((field) => field.name === name)),
  ...changed,
]

export const namesOf = (list: readonly Field[]): string[] => list.map(({ name }) => name)
