/** WebSockets by `ws`, for systems where uWebSockets.js does not load. Same limits, close codes and timeouts, but slower. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { constants, deflateRawSync } from 'node:zlib'
import { WebSocket, WebSocketServer } from 'ws'
import type { TlsFiles } from '../../../core/runtime/tls-files.js'
import { readCertificate } from '../../../core/runtime/tls-files.js'
import {
  NOT_A_WEBSOCKET,
  type PushSocket,
  type Transport,
  type TransportHandlers,
  type TransportLimits,
} from './push-transport.js'

const IDLE_CHECK_S = 4
/** Upper bound for a client that slowly reads what was sent before the close frame. */
const LONGEST_CLOSE_MS = 600_000

const NOT_UPGRADED = `HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\nContent-Length: ${NOT_A_WEBSOCKET.length}\r\n\r\n${NOT_A_WEBSOCKET}`

/** `ws` calls `close` with only a code after a protocol violation; uWebSockets.js drops the connection. */
class Peer extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    if (code !== undefined && reason === undefined) this.terminate()
    else super.close(code, reason)
  }
}

interface Link extends PushSocket {
  /** It reads compressed frames. */
  readonly inflates: boolean
  /** Buffers a frame until `flush`: everything published in one turn is one write. */
  hold(frame: Buffer): void
  flush(): void
  checkIdle(nowMs: number): void
}

export function createWsTransport<Admission>(
  handlers: TransportHandlers<Admission>,
  limits: TransportLimits,
  tls?: TlsFiles,
): Transport {
  const links = new Set<Link>()
  const groups = new Map<string, Set<Link>>()
  const held = new Set<Link>()
  const options = {
    ...{ noServer: true, clientTracking: false, WebSocket: Peer, maxPayload: limits.maxMessageBytes },
    ...{ autoPong: false, closeTimeout: LONGEST_CLOSE_MS },
    perMessageDeflate: limits.compresses ? { serverNoContextTakeover: true, clientNoContextTakeover: true } : false,
  }
  const peers = new WebSocketServer(options)
  const refuse: RequestListener = (_request, response) => {
    response.writeHead(426, { 'content-length': NOT_A_WEBSOCKET.length }).end(NOT_A_WEBSOCKET)
  }
  const server = tls === undefined ? createServer(refuse) : createTlsServer(readCertificate(tls), refuse)
  let idleTimer: NodeJS.Timeout | undefined

  function join(group: string, link: Link): void {
    const members = groups.get(group)
    if (members === undefined) groups.set(group, new Set([link]))
    else members.add(link)
  }

  function leave(group: string, link: Link): void {
    const members = groups.get(group)
    members?.delete(link)
    if (members?.size === 0) groups.delete(group)
  }

  function flushHeld(): void {
    for (const link of held) link.flush()
    held.clear()
  }

  server.on('upgrade', (request, raw: Socket, head) => {
    const admission = handlers.admit(keyOf(request), tokenOf(request), raw.remoteAddress ?? '')
    peers.handleUpgrade(request, raw, head, (peer) => {
      const link = openLink(peer, raw, { handlers, join, leave, limits, onUnreachable: () => links.delete(link) })
      links.add(link)
      idleTimer ??= setInterval(checkIdle, IDLE_CHECK_S * 1000).unref()
      handlers.open(link, admission)
    })
  })
  peers.on('wsClientError', (_error, raw) => raw.end(NOT_UPGRADED))

  function checkIdle(): void {
    const nowMs = Date.now()
    for (const link of links) link.checkIdle(nowMs)
  }

  return {
    publish(group, text) {
      const members = groups.get(group)
      if (members === undefined) return
      const plain = textFrame(text)
      let compressed: Buffer | undefined
      if (held.size === 0) queueMicrotask(flushHeld)
      for (const link of members) {
        held.add(link)
        if (link.inflates) compressed ??= compressedFrame(text)
        link.hold(link.inflates && compressed !== undefined ? compressed : plain)
      }
    },
    async listen(host, port) {
      server.listen(port, host)
      await once(server, 'listening')
      return (server.address() as AddressInfo).port
    },
    renew: (files) => (server as TlsServer).setSecureContext(readCertificate(files)),
    stopListening() {
      clearInterval(idleTimer)
      server.close()
      server.closeIdleConnections()
    },
  }
}

type LinkDeps = {
  handlers: Omit<TransportHandlers<unknown>, 'admit' | 'open'>
  join(group: string, link: Link): void
  leave(group: string, link: Link): void
  limits: TransportLimits
  /** The connection is closed; always after `close`. */
  onUnreachable(): void
}

function openLink(peer: WebSocket, raw: Socket, { handlers, join, leave, limits, onUnreachable }: LinkDeps): Link {
  const { idleTimeoutS } = limits
  const answerWithinS = answerTimeS(idleTimeoutS)
  const joined = new Set<string>()
  const heard = { bytes: raw.bytesRead, atMs: Date.now(), isPinged: false }
  /** Complete frames in order. Only control frames go through `peer`, after these. */
  let held: Buffer[] = []
  let heldBytes = 0
  let isCorked = false
  /** Bytes are pending: call `drain` once they are written. */
  let isBlocked = false
  let isClosed = false

  function hold(frame: Buffer): void {
    held.push(frame)
    heldBytes += frame.length
  }

  function flush(): void {
    if (held.length === 0) return
    const bytes = held.length === 1 ? held[0] : Buffer.concat(held, heldBytes)
    held = []
    heldBytes = 0
    // Nothing may follow a close frame.
    if (peer.readyState !== WebSocket.OPEN || bytes === undefined) return
    raw.write(bytes, onWritten)
    isBlocked ||= raw.writableLength > 0
  }

  // Every write has this callback: the stream emits no drain event below its high-water mark.
  function onWritten(): void {
    if (!isBlocked || isClosed || raw.writableLength > 0) return
    isBlocked = false
    handlers.drain(link)
  }

  function close(): void {
    if (isClosed) return
    isClosed = true
    for (const group of joined) leave(group, link)
    handlers.close(link)
  }

  const link: Link = {
    inflates: peer.extensions.includes('permessage-deflate'),
    send(text) {
      hold(textFrame(text))
      if (!isCorked) flush()
    },
    cork(work) {
      isCorked = true
      try {
        work()
      } finally {
        isCorked = false
        flush()
      }
    },
    subscribe(group) {
      joined.add(group)
      join(group, link)
    },
    unsubscribe(group) {
      joined.delete(group)
      leave(group, link)
    },
    getBufferedAmount: () => raw.writableLength + heldBytes,
    end(code, reason) {
      flush()
      peer.close(code, reason)
      raw.setTimeout(answerWithinS * 1000)
      close()
    },
    close() {
      peer.terminate()
      close()
    },
    hold,
    flush,
    checkIdle(nowMs) {
      // While bytes are pending, the raw socket's timeout detects a stalled client.
      if (raw.bytesRead !== heard.bytes || raw.writableLength > 0) {
        Object.assign(heard, { bytes: raw.bytesRead, atMs: nowMs, isPinged: false })
        return
      }
      const idleS = (nowMs - heard.atMs) / 1000
      if (idleS >= idleTimeoutS) peer.terminate()
      else if (idleS >= idleTimeoutS - answerWithinS && !heard.isPinged && !isClosed) {
        heard.isPinged = true
        peer.ping('', false, onWritten)
      }
    },
  }

  raw.setTimeout(idleTimeoutS * 1000)
  raw.on('timeout', () => {
    if (raw.writableLength > 0 || isClosed) peer.terminate()
  })
  peer.on('message', (data, isBinary) => {
    if (!isClosed) handlers.message(link, isBinary ? undefined : String(data))
  })
  peer.on('ping', (data) => {
    if (!isClosed) handlers.ping(link)
    if (isClosed) return
    flush()
    peer.pong(data, false, onWritten)
    isBlocked ||= raw.writableLength > 0
  })
  // A protocol error of the client: the connection is dropped and `close` follows.
  peer.on('error', () => {})
  peer.on('close', () => {
    close()
    onUnreachable()
  })
  return link
}

/** One unmasked text frame (RFC 6455, 5.2), written to the raw socket: `ws` would encode it again for every group member. */
function textFrame(text: string | Uint8Array, first = FINAL_TEXT): Buffer {
  const length = typeof text === 'string' ? Buffer.byteLength(text) : text.length
  const headerBytes = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(headerBytes + length)
  frame[0] = first
  if (headerBytes === 2) frame[1] = length
  else if (headerBytes === 4) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  if (typeof text === 'string') frame.write(text, headerBytes)
  else frame.set(text, headerBytes)
  return frame
}

const FINAL_TEXT = 0x81
const COMPRESSED = 0x40
/** Both ends leave out the end of a flushed block (RFC 7692, 7.2.1). */
const FLUSH_END_BYTES = 4

function compressedFrame(text: string | Uint8Array): Buffer {
  const deflated = deflateRawSync(text, { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH })
  return textFrame(deflated.subarray(0, -FLUSH_END_BYTES), FINAL_TEXT | COMPRESSED)
}

/** uWebSockets.js pings 4, 8 or 16 s before the idle timeout and waits as long for a client to answer a close frame. */
function answerTimeS(idleTimeoutS: number): number {
  if (idleTimeoutS >= 32) return 16
  return idleTimeoutS >= 16 ? 8 : 4
}

/** The first one, like uWebSockets.js; Node joins repeated headers. */
function keyOf({ headersDistinct }: IncomingMessage): string {
  return headersDistinct['x-api-key']?.[0] ?? ''
}

function tokenOf({ url = '' }: IncomingMessage): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : (new URLSearchParams(url.slice(at + 1)).get('token') ?? '')
}
