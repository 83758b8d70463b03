import { DextapeError } from './errors.js'

/** The part of the WebSocket interface that browsers, Node 22 and `ws` have in common. */
export type Socket = {
  send(text: string): void
  close(code?: number): void
  onopen: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  onerror: ((event: unknown) => void) | null
}
type SocketClass = new (url: string) => Socket

/** The global WebSocket, else that of `ws`. */
export async function loadSocketClass(): Promise<SocketClass> {
  const known = (globalThis as { WebSocket?: unknown }).WebSocket
  if (known !== undefined) return known as SocketClass
  // A variable, so that bundlers for browsers do not look for it.
  const name = 'ws'
  try {
    const { WebSocket } = (await import(/* @vite-ignore */ name)) as { WebSocket: SocketClass }
    return WebSocket
  } catch (cause) {
    throw new DextapeError('websocket_missing', 'This runtime has no WebSocket, and `ws` is not installed.', { cause })
  }
}
