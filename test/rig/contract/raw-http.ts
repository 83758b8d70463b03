/** Raw HTTP bytes, for requests that no client library sends. */
import { connect } from 'node:net'

export type RawReply = { status: number; type: string; body: string }

const PATIENCE_MS = 10_000

/** Writes the bytes and reads until the connection closes; undefined if there was no reply. */
export function sendRaw(
  base: string,
  bytes: string | Buffer,
  { halfClose = false } = {},
): Promise<RawReply | undefined> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    let text = ''
    socket.setTimeout(PATIENCE_MS, () => {
      socket.destroy()
      reject(new Error(`no end of the answer within ${PATIENCE_MS} ms; so far ${JSON.stringify(text.slice(0, 300))}`))
    })
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    // A server that has sent its error may close the connection during the write.
    socket.on('error', () => {})
    socket.on('close', () => resolve(readReply(text)))
    socket.on('end', () => socket.end())
    if (halfClose) socket.end(bytes)
    else socket.write(bytes)
  })
}

function readReply(text: string): RawReply | undefined {
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(text) ?? []
  if (status === undefined) return undefined
  const [head = '', ...rest] = text.split('\r\n\r\n')
  return {
    status: Number(status),
    type: /^content-type: *(.*)$/im.exec(head)?.[1]?.trim() ?? '',
    body: rest.join('\r\n\r\n'),
  }
}

/** A request with `Connection: close`. */
export function rawRequest(line: string, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const given = { Host: 'localhost', Connection: 'close', ...headers }
  const lines = Object.entries(given).map(([name, value]) => `${name}: ${value}`)
  return [line, ...lines, '', body].join('\r\n')
}
