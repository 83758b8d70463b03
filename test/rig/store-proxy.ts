/** A TCP proxy in front of a ClickHouse that a test can stop, restart on the same port, and stall. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

export type StoreProxy = {
  url: string
  away: () => Promise<void>
  back: () => Promise<void>
  /** Connections stay open, but no bytes pass. */
  stall: () => void
  flow: () => void
  close: () => Promise<void>
}

export type ProxyOptions = { port?: number; to?: NetConnectOpts }

/** `to`: where it connects, if not to the address of `target`. */
export async function proxyTo(target: URL, options: ProxyOptions = {}): Promise<StoreProxy> {
  const to = options.to ?? { host: target.hostname, port: Number(target.port || 8123) }
  const lines = new Set<[Socket, Socket]>()
  let stalled = false
  const join = ([near, far]: [Socket, Socket]) => near.pipe(far).pipe(near)
  const part = ([near, far]: [Socket, Socket]) => {
    near.unpipe(far).pause()
    far.unpipe(near).pause()
  }
  const server = createServer((near) => {
    const line: [Socket, Socket] = [near, connect(to)]
    lines.add(line)
    for (const socket of line) {
      socket.on('error', () => {})
      socket.on('close', () => {
        lines.delete(line)
        for (const end of line) end.destroy()
      })
    }
    if (stalled) part(line)
    else join(line)
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(options.port ?? 0)
  const { port } = server.address() as AddressInfo
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  const away = async () => {
    const closed = server.listening ? once(server, 'close') : undefined
    server.close()
    for (const ends of lines) for (const end of ends) end.destroy()
    await closed
  }
  return {
    url: url.href,
    away,
    back: () => listen(port),
    stall: () => {
      stalled = true
      for (const line of lines) part(line)
    },
    flow: () => {
      stalled = false
      for (const line of lines) join(line)
    },
    close: away,
  }
}
