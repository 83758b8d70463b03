/** A WebSocket client that reads everything and looks at nothing, so that the server is what limits. */
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import type { Socket } from 'node:net'

export async function openDiscardingSocket(
  url: string,
  key: string,
  subscriptions: readonly (readonly unknown[])[],
): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const headers = {
    ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
    ...{ 'sec-websocket-key': randomBytes(16).toString('base64'), 'x-api-key': key },
  }
  const socket = await new Promise<Socket>((resolve, reject) => {
    const asked = request({ hostname, port, headers, agent: false })
    asked.once('upgrade', (_, upgraded) => resolve(upgraded))
    asked.once('response', ({ statusCode }) => reject(new Error(`${url} answered ${statusCode}`)))
    asked.once('error', reject)
    asked.end()
  })
  socket.on('error', () => {})
  socket.resume()
  const requests = subscriptions.map((params, id) => ({ jsonrpc: '2.0', method: 'subscribe', params, id }))
  socket.write(textFrame(JSON.stringify(requests)))
  return socket
}

/** RFC 6455, 5.2: one text frame, masked with zeros. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const header = Buffer.alloc(8)
  header[0] = 0x81
  header[1] = 0x80 | 126
  header.writeUInt16BE(payload.length, 2)
  return Buffer.concat([header, payload])
}
