/** Figures that no other operation has, counted by the server. */
import type { SqlQuery } from '@dextape/client'
import { ask } from '../app/session.js'

export async function askRows(query: string, signal: AbortSignal): Promise<Record<string, unknown>[]> {
  const { data } = (await ask('sqlQuery', { query, format: 'json' }, signal)) as SqlQuery
  return data
}
