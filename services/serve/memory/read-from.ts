/** `database`: another one with the same tables. `since`: only what changed after this version. */
export type ReadFrom = { database?: string; since?: string }

export const tableIn = ({ database }: ReadFrom, table: string): string =>
  database === undefined ? table : `${database}.${table}`
