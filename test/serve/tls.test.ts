/** TLS on both ports, with real sockets: a renewed certificate is used for new connections while open ones stay. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import WebSocket from 'ws'
import { ConfigError } from '../../services/core/domain/errors.js'
import { readCertificate } from '../../services/core/runtime/tls-files.js'
import { KEY, type Rig, startRig } from './rig.js'
import { firstUpdate, PAIR, pairUpdate, trade, update } from './updates.js'

const folder = mkdtempSync(join(tmpdir(), 'dextape-tls-'))
const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
const fixture = (name: string) => join(import.meta.dirname, '../fixtures/tls', name)
const authorities = ['first', 'second'].map((name) => readFileSync(fixture(`${name}.crt`), 'utf8'))

const install = (name: string, part: 'crt' | 'key') =>
  copyFileSync(fixture(`${name}.${part}`), part === 'crt' ? files.cert : files.key)

let rig: Rig

beforeAll(async () => {
  install('first', 'crt')
  install('first', 'key')
  rig = await startRig({ certificateCheckMs: 20 }, undefined, { tls: { kind: 'files', ...files } })
  await rig.append(firstUpdate())
  await rig.start()
}, 60_000)
afterAll(async () => {
  await rig.stop()
  rmSync(folder, { recursive: true })
})

/** The name on the certificate a new connection gets. */
const nameAt = (port: number) =>
  new Promise<unknown>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca: authorities }, () => {
      resolve(socket.getPeerCertificate().subject.CN)
      socket.end()
    })
    socket.on('error', reject)
  })

const ask = (path: string, method = 'GET') =>
  new Promise<string>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: rig.ports.httpPort, path, ca: authorities, agent: false }
    request({ ...options, method, headers: { 'x-api-key': KEY } }, (answer) => void text(answer).then(resolve, reject))
      .on('error', reject)
      .end()
  })

async function subscribe(url: string): Promise<{ socket: WebSocket; frames: string[] }> {
  const socket = new WebSocket(url, { ca: authorities, headers: { 'x-api-key': KEY } })
  const frames: string[] = []
  socket.on('message', (data) => frames.push(String(data)))
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'subscribe', params: ['tx', PAIR, 'eth'], id: 1 }))
  await expect.poll(() => frames.length).toBe(1)
  return { socket, frames }
}

it('serves REST and pushes, and renews the certificate without closing a socket', async () => {
  const { httpPort, wsPort } = rig.ports
  expect([await nameAt(httpPort), await nameAt(wsPort)]).toEqual(['first', 'first'])
  expect(await ask('/health')).toBe('{"status":"ok"}')
  const { url } = (JSON.parse(await ask('/v2/ws/token', 'POST')) as { data: { url: string } }).data
  expect(url).toMatch(/^wss:\/\/127\.0\.0\.1:/)
  const before = await subscribe(`wss://127.0.0.1:${wsPort}/`)

  // A certificate whose key is not there yet is not used.
  install('second', 'crt')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect([await nameAt(httpPort), await nameAt(wsPort)]).toEqual(['first', 'first'])
  install('second', 'key')
  await expect.poll(() => nameAt(httpPort), { timeout: 10_000 }).toBe('second')
  await expect.poll(() => nameAt(wsPort), { timeout: 10_000 }).toBe('second')

  const after = await subscribe(`wss://127.0.0.1:${wsPort}/`)
  await rig.feed(update({ seq: 2, pairs: [pairUpdate({ trades: [trade({ id: 'after' })] })] }))
  for (const { frames } of [before, after]) await expect.poll(() => frames.at(-1)).toContain('"topic":"tx"')
  expect([before.socket.readyState, after.socket.readyState]).toEqual([WebSocket.OPEN, WebSocket.OPEN])
  for (const { socket } of [before, after]) socket.terminate()
})

it('answers nothing to a client that does not speak TLS', async () => {
  await expect(fetch(`http://127.0.0.1:${rig.ports.httpPort}/health`)).rejects.toThrow()
})

it('says which file is wrong', () => {
  const missing = { ...files, key: join(folder, 'none.key') }
  expect(() => readCertificate(missing)).toThrow(ConfigError)
  expect(() => readCertificate(missing)).toThrow(/none\.key; got ENOENT/)
  expect(() => readCertificate({ cert: fixture('first.crt'), key: fixture('second.key') })).toThrow(
    /Cannot use the certificate/,
  )
})
