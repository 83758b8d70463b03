import type { Format } from '../../serve/sql/formats.js'
import type { RestClient } from '../rest-client.js'

export type View = { name: string; summary: string; columns: { name: string; type: string; description: string }[] }

export interface SqlClient {
  /** `asOf`: the seq of each chain that the answer includes. */
  run(query: string, format: Format): Promise<{ body: Buffer; asOf: string }>
  views(): Promise<View[]>
}

export function createSqlClient({ ask }: RestClient): SqlClient {
  return {
    async run(query, format) {
      const headers = { 'content-type': 'application/json' }
      const response = await ask('/v2/sql', { method: 'POST', headers, body: JSON.stringify({ query, format }) })
      return { body: Buffer.from(await response.arrayBuffer()), asOf: response.headers.get('x-as-of') ?? '' }
    },
    async views() {
      const { views } = (await (await ask('/v2/sql/schema')).json()) as { views: View[] }
      return views
    },
  }
}
