/** WebSockets by uWebSockets.js, with its sockets and publish used directly. */
import type { us_listen_socket } from 'uWebSockets.js'
import { NOT_A_WEBSOCKET, type Transport, type TransportHandlers, type TransportLimits } from './push-transport.js'

export type Uws = typeof import('uWebSockets.js')

export function createUwsTransport<Admission>(
  uws: Uws,
  handlers: TransportHandlers<Admission>,
  limits: TransportLimits,
): Transport {
  const app = uws.App()
  let listening: us_listen_socket | undefined

  app.ws<{ admission: Admission }>('/*', {
    maxPayloadLength: limits.maxMessageBytes,
    // 0: no limit. With a limit the server drops messages while publish still returns true.
    maxBackpressure: 0,
    idleTimeout: limits.idleTimeoutS,
    sendPingsAutomatically: true,
    compression: uws.DISABLED,
    upgrade: (response, request, context) => {
      const header = (name: string) => request.getHeader(name)
      const admission = handlers.admit(header('x-api-key'), request.getQuery('token') ?? '')
      const [key, protocol] = [header('sec-websocket-key'), header('sec-websocket-protocol')]
      response.upgrade({ admission }, key, protocol, header('sec-websocket-extensions'), context)
    },
    open: (socket) => handlers.open(socket, socket.getUserData().admission),
    message: (socket, bytes, isBinary) =>
      handlers.message(socket, isBinary ? undefined : Buffer.from(bytes).toString()),
    ping: (socket) => handlers.ping(socket),
    drain: (socket) => handlers.drain(socket),
    close: (socket) => handlers.close(socket),
  })
  app.any('/*', (response) => {
    response.writeStatus('426 Upgrade Required').end(NOT_A_WEBSOCKET)
  })

  return {
    publish: (group, text) => void app.publish(group, text, false),
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        app.listen(host, port, (socket) => {
          if (socket === false) {
            reject(new Error('uWebSockets.js cannot bind the address'))
            return
          }
          listening = socket
          resolve(uws.us_socket_local_port(socket))
        })
      }),
    stopListening() {
      if (listening !== undefined) uws.us_listen_socket_close(listening)
      listening = undefined
    },
  }
}
