/** WebSockets between simulated serve nodes and clients: frames arrive in order, late, or not at all once a side is gone. */
import type { CreateTransport, PushSocket } from '../../services/serve/push/transport/push-transport.js'
import type { Random } from '../rig/market/random.js'
import type { SimulatedProcess } from './faults.js'
import type { VirtualTime } from './virtual-time.js'

export type ClientEnd = { onText(text: string): void; onClose(): void }
export type Connection = { send(text: string): void; close(): void }

/** Where a node listens. */
export type Endpoint = { readonly name: string; connect(client: ClientEnd): Connection }

export type Network = {
  /** The nodes that accept sockets now. */
  endpoints(): Endpoint[]
  transportOf(process: SimulatedProcess): CreateTransport
  /** Drops a node's sockets without a frame. */
  drop(process: SimulatedProcess): void
}

export const SIMULATED_KEY = 'dx_simulated_key'

export function createNetwork(time: VirtualTime, random: Random): Network {
  const listening = new Map<SimulatedProcess, { endpoint: Endpoint; dropAll: () => void }>()

  function transportOf(process: SimulatedProcess): CreateTransport {
    return (handlers) => {
      const groups = new Map<string, Set<Wire>>()
      const wires = new Set<Wire>()

      type Wire = { socket: PushSocket; receive(text: string): void; close(isServer: boolean): void }

      function connect(client: ClientEnd): Connection {
        let isOpen = true
        let arrivesMs = 0
        const joined = new Set<string>()
        /** Frames of one direction arrive in order. */
        const deliver = (text: string) => {
          arrivesMs = Math.max(arrivesMs, time.nowMs() + random.int(0, 20))
          void time.delay(arrivesMs - time.nowMs()).then(() => isOpen && client.onText(text))
        }
        const close = (isServer: boolean) => {
          if (!isOpen) return
          isOpen = false
          wires.delete(wire)
          for (const group of joined) groups.get(group)?.delete(wire)
          if (process.life.isAlive) time.within(process.life, () => handlers.close(socket))
          if (isServer) client.onClose()
        }
        const socket: PushSocket = {
          send: (text) => deliver(typeof text === 'string' ? text : Buffer.from(text).toString()),
          cork: (work) => work(),
          subscribe(group) {
            joined.add(group)
            groups.set(group, (groups.get(group) ?? new Set()).add(wire))
          },
          unsubscribe(group) {
            joined.delete(group)
            groups.get(group)?.delete(wire)
          },
          getBufferedAmount: () => 0,
          end: () => close(true),
          close: () => close(true),
        }
        const wire: Wire = {
          socket,
          receive: (text) => time.within(process.life, () => handlers.message(socket, text)),
          close,
        }
        wires.add(wire)
        time.within(process.life, () => handlers.open(socket, handlers.admit(SIMULATED_KEY, '', 'simulated')))
        return {
          send: (text) =>
            void time.delay(random.int(0, 20)).then(() => isOpen && process.life.isAlive && wire.receive(text)),
          close: () => close(false),
        }
      }

      return {
        publish(group, text) {
          for (const { socket } of groups.get(group) ?? []) socket.send(text)
        },
        async listen(_host, port) {
          const dropAll = () => {
            for (const wire of [...wires]) wire.close(true)
          }
          listening.set(process, { endpoint: { name: process.name, connect }, dropAll })
          return port
        },
        renew: () => {},
        stopListening: () => void listening.delete(process),
      }
    }
  }

  return {
    transportOf,
    endpoints: () => [...listening.values()].map(({ endpoint }) => endpoint),
    drop(process) {
      const node = listening.get(process)
      listening.delete(process)
      node?.dropAll()
    },
  }
}
