/** WebSockets by uWebSockets.js, with its sockets and publish used directly. */

import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { TlsFiles } from '../../../core/runtime/tls-files.js'
import { NOT_A_WEBSOCKET, type Transport, type TransportHandlers, type TransportLimits } from './push-transport.js'

export type Uws = typeof import('uWebSockets.js')

/** With TLS an app has one certificate for its life: a new one is a new app, and the old app keeps its sockets until they close. */
type Door = { app: TemplatedApp; sockets: number }

export function createUwsTransport<Admission>(
  uws: Uws,
  handlers: TransportHandlers<Admission>,
  limits: TransportLimits,
  tls?: TlsFiles,
): Transport {
  let door = openDoor(tls)
  const doors = new Set([door])
  let listening: us_listen_socket | undefined
  let address: { host: string; port: number } | undefined

  function openDoor(files: TlsFiles | undefined): Door {
    const app = files === undefined ? uws.App() : uws.SSLApp({ cert_file_name: files.cert, key_file_name: files.key })
    const opened: Door = { app, sockets: 0 }
    app.ws<{ admission: Admission }>('/*', {
      maxPayloadLength: limits.maxMessageBytes,
      // 0: no limit. With a limit the server drops messages while publish still returns true.
      maxBackpressure: 0,
      idleTimeout: limits.idleTimeoutS,
      sendPingsAutomatically: true,
      compression: limits.compresses ? uws.SHARED_COMPRESSOR : uws.DISABLED,
      upgrade: (response, request, context) => {
        const header = (name: string) => request.getHeader(name)
        const address = Buffer.from(response.getRemoteAddressAsText()).toString()
        const admission = handlers.admit(header('x-api-key'), request.getQuery('token') ?? '', address)
        const [key, protocol] = [header('sec-websocket-key'), header('sec-websocket-protocol')]
        response.upgrade({ admission }, key, protocol, header('sec-websocket-extensions'), context)
      },
      open: (socket) => {
        opened.sockets += 1
        handlers.open(socket, socket.getUserData().admission)
      },
      message: (socket, bytes, isBinary) =>
        handlers.message(socket, isBinary ? undefined : Buffer.from(bytes).toString()),
      ping: (socket) => handlers.ping(socket),
      drain: (socket) => handlers.drain(socket),
      close: (socket) => {
        handlers.close(socket)
        opened.sockets -= 1
        if (opened.sockets === 0 && opened !== door) doors.delete(opened)
      },
    })
    app.any('/*', (response) => {
      response.writeStatus('426 Upgrade Required').end(NOT_A_WEBSOCKET)
    })
    return opened
  }

  function listenAt(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      door.app.listen(host, port, (socket) => {
        if (socket === false) {
          reject(new Error('uWebSockets.js cannot bind the address'))
          return
        }
        const before = listening
        listening = socket
        address = { host, port: uws.us_socket_local_port(socket) }
        if (before !== undefined) uws.us_listen_socket_close(before)
        resolve(address.port)
      })
    })
  }

  return {
    publish(group, text) {
      for (const { app } of doors) app.publish(group, text, false, limits.compresses)
    },
    // A port that the system chose cannot be shared with the app of a later certificate, a named one can.
    listen: async (host, port) => listenAt(host, tls !== undefined && port === 0 ? await freePort(host) : port),
    renew(files) {
      const before = door
      door = openDoor(files)
      doors.add(door)
      if (before.sockets === 0) doors.delete(before)
      if (address !== undefined) void listenAt(address.host, address.port)
    },
    stopListening() {
      if (listening !== undefined) uws.us_listen_socket_close(listening)
      listening = undefined
      address = undefined
    },
  }
}

async function freePort(host: string): Promise<number> {
  const probe = createServer().listen(0, host)
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
