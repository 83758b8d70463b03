/** HTTPS in front of a ClickHouse, which lets nobody in without this user and password, as the server does. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'

export const STORE_USER = { user: 'tape', password: 'p@ss:word/of tests' }

const fixture = (name: string) => join(repositoryRoot(), 'test/fixtures/tls', name)
export const STORE_AUTHORITY = fixture('second.crt')

/** `to`: the port behind it; undefined: it answers `Ok.` to everybody it lets in. */
export async function startSecureFront(to?: number) {
  const wanted = `Basic ${Buffer.from(`${STORE_USER.user}:${STORE_USER.password}`).toString('base64')}`
  const server = createServer(
    { cert: readFileSync(STORE_AUTHORITY), key: readFileSync(fixture('second.key')) },
    (asked, answer) => {
      if (asked.headers.authorization !== wanted) {
        asked.resume()
        answer.writeHead(403, { 'x-clickhouse-exception-code': '516' })
        answer.end('Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)')
        return
      }
      if (to === undefined) {
        asked.resume().on('end', () => answer.end('Ok.\n'))
        return
      }
      const { authorization: _, ...headers } = asked.headers
      const passed = request({ port: to, method: asked.method, path: asked.url, headers }, (from) => {
        answer.writeHead(from.statusCode ?? 500, from.headers)
        from.pipe(answer)
      })
      passed.on('error', () => answer.destroy())
      asked.pipe(passed)
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}/dextape`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
