/**
 * Both WebSocket servers, byte by byte: a client must not be able to tell them apart.
 * @own-process A busy process misses the seconds in which a ping must be answered.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { constants, deflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import {
  type ChosenTransport,
  checkPortCanBeShared,
  chooseTransport,
} from '../../../../services/serve/push/transport/choose-transport.js'
import type { PushSocket, Transport } from '../../../../services/serve/push/transport/push-transport.js'
import { steadyPort } from '../../../rig/servers/steady-port.js'

const MAX_MESSAGE_BYTES = 1000
const CLOSE_CODE = 1013
const servers = [chooseTransport('ws'), chooseTransport('auto')].filter(
  (one, at, all) => all.findIndex(({ server }) => server === one.server) === at,
)

describe.each(servers)('$server', ({ create }: ChosenTransport) => {
  const seen: string[] = []
  const sockets: PushSocket[] = []
  let transport: Transport
  let port = 0

  const start = (idleTimeoutS: number, compresses = false): Transport =>
    create(
      {
        admit: (key, token) => ({ key, token }),
        open: (socket, admission) => {
          sockets.push(socket)
          seen.push(`open ${JSON.stringify(admission)}`)
        },
        message: (socket, text) => {
          seen.push(`message ${text}`)
          if (text?.startsWith('join ')) socket.subscribe(text.slice('join '.length))
          else if (text?.startsWith('leave ')) socket.unsubscribe(text.slice('leave '.length))
          else if (text === 'end') socket.end(CLOSE_CODE, 'too slow')
          else if (text === 'drop') socket.close()
          else socket.send(`echo ${text}`)
        },
        ping: () => void seen.push('ping'),
        drain: () => void seen.push('drain'),
        close: (socket) => {
          sockets.splice(sockets.indexOf(socket), 1)
          seen.push('close')
        },
      },
      { maxMessageBytes: MAX_MESSAGE_BYTES, idleTimeoutS, compresses },
    )

  beforeAll(async () => {
    transport = start(60)
    port = await transport.listen('127.0.0.1', 0)
  })
  afterAll(() => transport.stopListening())

  const dial = async (headers = '', path = '/', at = port) => {
    const client = await openClient(at, handshake(headers, path))
    await client.until((text) => text.includes('\r\n\r\n'))
    client.forgetHead()
    return client
  }

  it('authenticates by the first key header or the decoded token, on any path', async () => {
    seen.length = 0
    const client = await dial('X-API-KEY: a\r\nX-API-KEY: b\r\n', '/any?token=x%2By')
    expect(seen).toEqual(['open {"key":"a","token":"x+y"}'])
    client.socket.destroy()
  })

  it.each([
    ['a plain request', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an upgrade without a key', 'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'],
    ['an upgrade to HTTP/2', 'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'],
  ])('answers %s with 426', async (_what, request) => {
    const client = await openClient(port, request)
    await client.until((text) => text.endsWith('WebSocket upgrade required.'))
    expect(client.text()).toMatch(/^HTTP\/1\.1 426 Upgrade Required\r\n/)
    client.socket.destroy()
  })

  it.each([
    ['a message over the limit', frame(1, 'x'.repeat(MAX_MESSAGE_BYTES + 1))],
    [
      'a message over the limit in fragments',
      Buffer.concat([frame(0x01, 'x'.repeat(900), { isLast: false }), frame(0, 'x'.repeat(900))]),
    ],
    ['text that is not UTF-8', frame(1, Buffer.from([0xff, 0xfe]))],
    ['a reserved bit', frame(0x41, 'hi')],
    ['an unknown opcode', frame(3, 'hi')],
    ['a continuation without a first frame', frame(0, 'hi')],
  ])('%s drops the connection without a close frame', async (_what, bytes) => {
    seen.length = 0
    const client = await dial()
    client.socket.write(bytes)
    await client.closed
    expect([client.text(), seen.slice(1)]).toEqual(['', ['close']])
  })

  it('accepts a message of exactly the limit, whole or in fragments, and recognizes binary', async () => {
    const client = await dial()
    seen.length = 0
    client.socket.write(frame(1, 'x'.repeat(MAX_MESSAGE_BYTES)))
    client.socket.write(Buffer.concat([frame(1, 'he', { isLast: false }), frame(0, 'llo')]))
    client.socket.write(frame(2, 'bytes'))
    await client.until((text) => text.includes('echo undefined'))
    expect(seen).toEqual([`message ${'x'.repeat(MAX_MESSAGE_BYTES)}`, 'message hello', 'message undefined'])
    client.socket.destroy()
  })

  it('answers a ping with a pong and a close frame with a close frame', async () => {
    const client = await dial()
    client.socket.write(frame(9, 'abc'))
    await client.until((text) => text === '\x8a\x03abc')
    client.socket.write(frame(8, Buffer.from([0x03, 0xe8])))
    await client.closed
    expect(client.text()).toBe('\x8a\x03abc\x88\x02\x03\xe8')
  })

  it('sends everything queued, then the close frame, after the close handler has run', async () => {
    const client = await dial()
    const socket = sockets.at(-1)
    seen.length = 0
    client.socket.write(Buffer.concat([frame(1, 'one'), frame(1, 'end'), frame(1, 'late')]))
    await client.until((text) => text.includes('too slow'))
    expect(client.text()).toBe('\x81\x08echo one\x88\x0a\x03\xf5too slow')
    expect(seen).toEqual(['message one', 'message end', 'close'])
    expect(sockets.includes(socket as PushSocket)).toBe(false)
    client.socket.end()
    await client.closed
  })

  it('drops a connection without a close frame', async () => {
    const client = await dial()
    client.socket.write(frame(1, 'drop'))
    await client.closed
    expect(client.text()).toBe('')
  })

  it('publishes only to members of a group, in order with direct sends', async () => {
    const [one, two] = [await dial(), await dial()]
    const first = sockets.at(-2)
    one.socket.write(frame(1, 'join g'))
    two.socket.write(Buffer.concat([frame(1, 'join g'), frame(1, 'leave g'), frame(1, 'x')]))
    await two.until((text) => text.includes('echo x'))
    one.socket.write(frame(1, 'y'))
    await one.until((text) => text.includes('echo y'))
    transport.publish('g', 'p1')
    first?.send('s1')
    transport.publish('g', 'p2')
    transport.publish('other', 'p3')
    first?.cork(() => {
      first.send('s2')
      first.send('s3')
    })
    two.socket.write(frame(1, 'z'))
    await two.until((text) => text.includes('echo z'))
    await one.until((text) => text.includes('s3'))
    expect([one.texts(), two.texts()]).toEqual([
      ['echo y', 'p1', 's1', 'p2', 's2', 's3'],
      ['echo x', 'echo z'],
    ])
    for (const { socket } of [one, two]) socket.destroy()
  })

  it('delivers frames of every header length unchanged, from texts and from bytes that are used again', async () => {
    const client = await dial()
    client.socket.write(Buffer.concat([frame(1, 'join sizes'), frame(1, 'x')]))
    await client.until((text) => text.includes('echo x'))
    const published = [0, 125, 126, 65_535, 65_536, 70_000].map((size) => 'é'.repeat(size / 2) + 'e'.repeat(size % 2))
    for (const text of published) transport.publish('sizes', text)
    for (const text of published) {
      const bytes = Buffer.from(text)
      transport.publish('sizes', bytes)
      bytes.fill('x')
    }
    await client.until(() => client.texts().length === 2 * published.length + 1)
    expect(client.texts().slice(1)).toEqual([...published, ...published])
    client.socket.destroy()
  })

  it('counts unsent bytes and reports when they are drained', async () => {
    const client = await dial()
    const socket = sockets.at(-1)
    if (socket === undefined) throw new Error('no socket')
    seen.length = 0
    client.socket.pause()
    const text = 'x'.repeat(100_000)
    let sent = 0
    while (socket.getBufferedAmount() === 0) {
      socket.send(text)
      sent += 1
      await new Promise(setImmediate)
    }
    socket.send('last')
    expect(seen).toEqual([])
    client.socket.resume()
    await client.until((text) => text.endsWith('last'))
    await expect.poll(() => [socket.getBufferedAmount(), seen.includes('drain')]).toEqual([0, true])
    expect(client.texts().length).toBe(sent + 1)
    client.socket.destroy()
  })

  describe('that compresses', () => {
    const OFFER = 'Sec-WebSocket-Extensions: permessage-deflate\r\n'
    const long = JSON.stringify(Array.from({ length: 300 }, (_, n) => ({ price: `${n}.5`, name: 'Zoë' })))
    let compressing: Transport
    let at = 0
    beforeAll(async () => {
      compressing = start(60, true)
      at = await compressing.listen('127.0.0.1', 0)
    })
    afterAll(() => compressing.stopListening())

    const listener = async () => {
      const received: string[] = []
      const client = new WebSocket(`ws://127.0.0.1:${at}/`)
      client.on('message', (data) => received.push(String(data)))
      await once(client, 'open')
      // Compressed by this client, too, where it is long enough.
      client.send(`join ${'long '.repeat(30)}`)
      const group = `${'long '.repeat(30)}`
      await expect.poll(() => seen.at(-1)).toBe(`message join ${group}`)
      return { client, received, group }
    }

    it('sends a client that offers it fewer bytes of the same text, and the others the text itself', async () => {
      const offering = await listener()
      expect(offering.client.extensions).toContain('permessage-deflate')
      const plain = await dial('', '/', at)
      plain.socket.write(frame(1, `join ${offering.group}`))
      await expect.poll(() => sockets.length).toBeGreaterThan(1)
      await expect.poll(() => seen.filter((line) => line === `message join ${offering.group}`).length).toBe(2)
      let bytes = 0
      ;(offering.client as unknown as { _socket: Socket })._socket.on('data', (more) => {
        bytes += more.length
      })
      for (let n = 0; n < 3; n += 1) compressing.publish(offering.group, Buffer.from(`${n}${long}`))
      await expect.poll(() => offering.received.length).toBe(3)
      expect(offering.received).toEqual([0, 1, 2].map((n) => `${n}${long}`))
      expect(bytes).toBeLessThan(long.length)
      await expect.poll(() => plain.texts().length).toBe(3)
      expect(plain.texts()).toEqual(offering.received)
      offering.client.terminate()
      plain.socket.destroy()
    })

    it('drops a client whose small frame becomes a large message', async () => {
      const client = await dial(OFFER, '/', at)
      const bomb = deflateRawSync('a'.repeat(MAX_MESSAGE_BYTES * 100), { finishFlush: constants.Z_SYNC_FLUSH })
      seen.length = 0
      client.socket.write(frame(0x41, bomb.subarray(0, -4)))
      await client.closed
      expect(seen.filter((line) => line.startsWith('message'))).toEqual([])
    })
  })

  // Repeated: a machine that is busy for four seconds misses the time to answer.
  it('drops a client that does not answer a ping, and keeps one that does', { retry: 4, timeout: 60_000 }, async () => {
    const impatient = start(8)
    const at = await impatient.listen('127.0.0.1', 0)
    const [silent, answering] = [await dial('', '/', at), await dial('', '/', at)]
    await answering.until((text) => text.includes('\x89\x00'))
    answering.socket.write(frame(10, ''))
    await silent.closed
    expect(silent.text()).toBe('\x89\x00')
    answering.socket.write(frame(1, 'here'))
    await answering.until((text) => text.includes('echo here'))
    answering.socket.destroy()
    impatient.stopListening()
  })
})

describe('a shared port', () => {
  it('spreads connections over the servers that listen on it, and keeps working when one stops', async () => {
    const { server, create } = chooseTransport('auto')
    if (server === 'ws') {
      expect(() => checkPortCanBeShared('auto')).toThrow(/cannot share a WebSocket port/)
      return
    }
    const opened: [number, number] = [0, 0]
    const listenAs = (at: 0 | 1) =>
      create(
        {
          admit: () => ({}),
          open: (socket) => {
            opened[at] += 1
            socket.subscribe('all')
          },
          ...{ message: () => {}, ping: () => {}, drain: () => {}, close: () => {} },
        },
        { maxMessageBytes: MAX_MESSAGE_BYTES, idleTimeoutS: 60, compresses: false },
      )
    const [first, second] = [listenAs(0), listenAs(1)]
    const port = await steadyPort()
    for (const transport of [first, second]) await transport.listen('127.0.0.1', port)
    const connectAll = async (count: number) => {
      const clients = await Promise.all(Array.from({ length: count }, () => openClient(port, handshake('', '/'))))
      for (const client of clients) {
        await client.until((text) => text.includes('\r\n\r\n'))
        client.forgetHead()
      }
      return clients
    }
    const clients = await connectAll(64)
    await expect.poll(() => opened[0] + opened[1]).toBe(64)
    expect(Math.min(...opened)).toBeGreaterThan(0)
    first.publish('all', 'from the first')
    second.publish('all', 'from the second')
    for (const client of clients) await client.until((text) => text.includes('from the'))
    first.stopListening()
    const before = opened[1]
    const later = await connectAll(8)
    await expect.poll(() => opened[1]).toBe(before + 8)
    for (const { socket } of [...clients, ...later]) socket.destroy()
    second.stopListening()
  })

  it('is refused for ws', () => {
    expect(() => checkPortCanBeShared('ws')).toThrow(/cannot share a WebSocket port/)
  })
})

describe('choosing the WebSocket server', () => {
  const noGlibc = () => {
    throw new Error(
      "This version of uWS.js supports only Node.js versions …\n\nError: /lib/libc.so.6: version `GLIBC_2.38' not found (required by /home/me/uws.node)",
    )
  }

  it('falls back to ws when the native build does not load, with a reason that has no local path', () => {
    expect(chooseTransport('auto', noGlibc)).toMatchObject({
      server: 'ws',
      fallbackReason: `Cannot load uWebSockets.js on Node ${process.versions.node}: /lib/libc.so.6: version \`GLIBC_2.38' not found`,
    })
  })

  it('fails to start when uWebSockets.js is requested by name', () => {
    expect(() => chooseTransport('uWebSockets.js', noGlibc)).toThrow(/GLIBC_2\.38' not found/)
  })

  it('has no fallback reason when ws is requested by name', () => {
    expect(chooseTransport('ws')).toMatchObject({ server: 'ws', fallbackReason: null })
  })
})

function handshake(headers: string, path: string): string {
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${key}${headers}\r\n`
}

/** A frame as a client sends it: masked, with an all-zero mask. */
function frame(firstByte: number, payload: string | Buffer, { isLast = true } = {}): Buffer {
  const bytes = Buffer.from(payload)
  const { length } = bytes
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | firstByte, ...size, 0, 0, 0, 0]), bytes])
}

async function openClient(port: number, request: string) {
  const socket: Socket = connect(port, '127.0.0.1')
  let received = Buffer.alloc(0)
  let wake = () => {}
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes])
    wake()
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  void closed.then(() => wake())
  await once(socket, 'connect')
  socket.write(request)
  const text = () => received.toString('latin1')
  return {
    socket,
    closed,
    text,
    texts: () => textFrames(received),
    forgetHead: () => {
      received = received.subarray(received.indexOf('\r\n\r\n') + 4)
    },
    until: async (fits: (text: string) => boolean) => {
      while (!fits(text())) {
        if (socket.closed) throw new Error(`closed after ${JSON.stringify(text().slice(-100))}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

function textFrames(bytes: Buffer): string[] {
  const texts: string[] = []
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = (bytes[at + 1] ?? 0) & 0x7f
    const header = short < 126 ? 2 : short === 126 ? 4 : 10
    if (at + header > bytes.length) break
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2))
    if (at + header + length > bytes.length) break
    if (bytes[at] === 0x81) texts.push(bytes.subarray(at + header, at + header + length).toString())
    at += header + length
  }
  return texts
}
