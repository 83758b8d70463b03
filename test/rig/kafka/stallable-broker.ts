/** A broker with a second door: a client that uses it can be stalled, while others go on. A Java process. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { steadyPort } from '../servers/steady-port.js'
import { proxyTo, type StoreProxy } from '../store-proxy.js'
import { type Broker, startBrokerProcess } from './broker.js'

export type StallableBroker = Broker & {
  /** For KAFKA_BROKERS of who is to be stalled. */
  readonly stallable: string
  readonly door: Pick<StoreProxy, 'stall' | 'flow'>
}

export async function startStallableBroker(): Promise<StallableBroker> {
  const [port, doorPort] = [await steadyPort(3), await steadyPort()]
  const directory = mkdtempSync(join(tmpdir(), 'dextape-kafka-'))
  const settings = join(directory, 'doors.properties')
  const doors = [
    '',
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1},DOOR://127.0.0.1:${port + 2}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port},DOOR://127.0.0.1:${doorPort}`,
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,DOOR:PLAINTEXT',
    'inter.broker.listener.name=PLAINTEXT',
    '',
  ]
  writeFileSync(settings, doors.join('\n'))
  const door = await proxyTo(new URL(`http://127.0.0.1:${port + 2}`), { port: doorPort })
  const server = await startBrokerProcess(port, directory, ['--settings', settings])
  const stopServer = server.stop
  return Object.assign(server, {
    ...{ brokers: `127.0.0.1:${port}`, stallable: `127.0.0.1:${doorPort}`, door },
    async stop() {
      await door.close()
      await stopServer()
    },
  })
}
