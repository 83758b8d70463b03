import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { problem } from './problem.js'

const REASONS: Record<string, { status: number; code: string; detail: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', detail: 'The address and headers are over 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', detail: 'The request did not arrive in time.' },
}
const NO_HTTP = { status: 400, code: 'http_malformed', detail: 'This is not an HTTP request that can be read.' }

/** Bytes that never became a request are told so in the same form as any other error. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, code, detail } = REASONS[error.code ?? ''] ?? NO_HTTP
  const body = JSON.stringify(problem(status, code, detail))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
