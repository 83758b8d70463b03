/** What the push server needs from a WebSocket server. Both implementations behave the same on the wire. */
import type { TlsFiles } from '../../../core/runtime/tls-files.js'

export type PushServerName = 'uWebSockets.js' | 'ws'

/** One connection. After `end` or `close` the `close` handler has run and the socket must not be used. */
export interface PushSocket {
  /** Bytes are UTF-8, and copied. */
  send(text: string | Uint8Array): unknown
  /** Batches everything that `work` sends into one write. */
  cork(work: () => void): unknown
  subscribe(group: string): unknown
  unsubscribe(group: string): unknown
  /** Bytes the kernel has not taken yet. */
  getBufferedAmount(): number
  /** Sends a close frame after pending messages. */
  end(code: number, reason: string): void
  /** Drops the connection without a close frame. */
  close(): void
}

export type TransportHandlers<Admission> = {
  /** Runs at the upgrade, with the `X-API-KEY` header and the `token` parameter, each empty if absent, and the peer's address. */
  admit(key: string, token: string, address: string): Admission
  open(socket: PushSocket, admission: Admission): void
  /** `text` is undefined for a binary frame. */
  message(socket: PushSocket, text: string | undefined): void
  /** Runs before the pong is sent; may close the socket. */
  ping(socket: PushSocket): void
  /** Pending bytes have been written to the kernel. */
  drain(socket: PushSocket): void
  close(socket: PushSocket): void
}

/** Oversized or invalid frames drop the connection without a close frame. */
export type TransportLimits = {
  maxMessageBytes: number
  /** Idle connections are pinged, then dropped after this time. At least 8. */
  idleTimeoutS: number
  /** Published texts are compressed for clients that offer permessage-deflate, without keeping a context for each socket. */
  compresses: boolean
}

export interface Transport {
  /** Sends one text to every socket of a group, encoded once; the bytes are copied. */
  publish(group: string, text: string | Uint8Array): void
  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number>
  /** New connections get this certificate; open ones stay. Only for a transport with TLS. */
  renew(tls: TlsFiles): void
  stopListening(): void
}

/** `tls`: absent without TLS. */
export type CreateTransport = <Admission>(
  handlers: TransportHandlers<Admission>,
  limits: TransportLimits,
  tls?: TlsFiles,
) => Transport

export const NOT_A_WEBSOCKET = 'WebSocket upgrade required.'
