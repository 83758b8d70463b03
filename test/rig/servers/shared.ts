/**
 * Servers that all test files of a run share, each started when the first file asks for it and stopped after the last: for tests
 * that break nothing and keep to names of their own. The process that runs vitest holds them, and is asked over loopback.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startBroker } from '../kafka/broker.js'
import { startRegistry } from '../registry/apicurio.js'

const ADDRESS = 'DEXTAPE_TEST_SHARED_SERVERS'

type Running = { address: string; stop(): Promise<void> }

const STARTS: Record<string, () => Promise<Running>> = {
  broker: async () => {
    const broker = await startBroker()
    return { address: broker.brokers, stop: broker.stop }
  },
  registry: async () => {
    const registry = await startRegistry()
    return { address: registry.url, stop: registry.stop }
  },
}

/** For KAFKA_BROKERS. Nobody may stop it; topics and groups need a prefix of the test's own. */
export const sharedBroker = (): Promise<string> => addressOf('broker')

/** Subjects must be the test's own. */
export const sharedRegistry = (): Promise<string> => addressOf('registry')

async function addressOf(name: keyof typeof STARTS): Promise<string> {
  const holder = process.env[ADDRESS]
  if (holder === undefined) throw new Error(`${ADDRESS} is not set: run the tests with vitest, whose set-up sets it`)
  const answer = await fetch(`${holder}/${name}`)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`The shared ${name} does not start: ${text}`)
  return text
}

/** Set-up of the whole run. */
export default async function holdServers(): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<Running>>()
  const holder = createServer((request, response) => {
    const name = request.url?.slice(1) ?? ''
    const running = started.get(name) ?? STARTS[name]?.() ?? Promise.reject(new Error('there is no such server'))
    started.set(name, running)
    running.then(
      ({ address }) => response.end(address),
      (error: Error) => response.writeHead(500).end(error.message),
    )
  })
  process.env[ADDRESS] = `http://127.0.0.1:${await listen(holder)}`
  return async () => {
    holder.close()
    for (const running of started.values()) await (await running.catch(() => undefined))?.stop()
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}
