/** Two `serve` processes on one WebSocket port: both get clients, and those of a killed one resume in the other. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, KEY, startCluster } from '../rig/cluster/cluster.js'
import { openedLogOf } from '../rig/cluster/contents.js'
import { listenedMarket, openingOf, subscriptionsOn } from '../rig/cluster/listened-market.js'
import { verdictOn } from '../rig/cluster/pushes.js'
import { type ResumingClient, startResumingClient } from '../rig/cluster/resuming-client.js'
import type { Service } from '../rig/cluster/service.js'
import { marketMoney } from '../rig/market/money.js'
import { seqsOf, writeTape } from '../rig/up/recording.js'

const CHAIN = 'eth'
const CLIENTS = 24
const PUSHES = 2_000
const QUIET_MS = 3_000

const folder = mkdtempSync(join(tmpdir(), 'dx-shared-port-'))
const lines = listenedMarket({ seed: 12, chain: CHAIN, blocks: 900, isListened: true })
const clients: ResumingClient[] = []
let cluster: Cluster

beforeAll(async () => {
  cluster = await startCluster({
    ...{ ingest: ['--events', writeTape(join(folder, 'tape.jsonl'), lines), '--speed', '8'], serves: 2 },
    ...{ sharesWsPort: true, broker: 'shared', chains: [marketMoney(CHAIN)] },
    settings: { retention: { updates_h: 1_000_000 } },
  })
  const opened = seqsOf(openingOf(lines, [CHAIN])).get(CHAIN) ?? 0
  await cluster.serve.until('blocks behind the opening', async () => {
    const { chains } = await cluster.status()
    return chains.some(({ seq }) => seq > opened)
  })
  await Promise.all(cluster.serves.map((one) => one.until('it serves', one.isReady)))
}, 300_000)

afterAll(async () => {
  for (const client of clients) await client.close()
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const socketsOf = async (service: Service): Promise<number> =>
  (await service.metrics()).get('dextape_serve_sockets') ?? 0

const pushed = (): number =>
  clients.flatMap(({ told }) => told.flatMap(({ cursors }) => [...cursors.values()])).flat().length

async function untilQuiet(): Promise<void> {
  for (let before = -1; pushed() !== before; await sleep(QUIET_MS)) before = pushed()
}

describe('a shared WebSocket port', () => {
  it('spreads clients over the processes', async () => {
    const subscriptions = subscriptionsOn(new Map([[CHAIN, lines]]), [CHAIN])
    for (let n = 0; n < CLIENTS; n += 1)
      clients.push(startResumingClient({ url: cluster.wsUrl, key: KEY, subscriptions }))
    await Promise.all(clients.map(({ listening }) => listening))
    const sockets = await Promise.all(cluster.serves.map(socketsOf))
    console.info(`sockets of each process: ${sockets.join(', ')}`)
    expect(sockets[0] ?? 0).toBeGreaterThan(0)
    expect(sockets[1] ?? 0).toBeGreaterThan(0)
    await cluster.serve.until('pushes', async () => pushed() > PUSHES)
  }, 120_000)

  it('loses and repeats nothing when one is killed and comes back', async () => {
    const [first, second] = cluster.serves as [Service, Service]
    await second.kill()
    await first.until('all clients', async () => (await socketsOf(first)) === CLIENTS)
    const before = pushed()
    await first.until('pushes', async () => pushed() > before + PUSHES)
    await second.restart()
    await second.until('it serves', second.isReady)
    await first.kill()
    await second.until('all clients', async () => (await socketsOf(second)) === CLIENTS)
    const after = pushed()
    await second.until('pushes', async () => pushed() > after + PUSHES)
    await cluster.ingest.stop()
    await untilQuiet()
    for (const client of clients) await client.close()
    const told = clients.flatMap((client) => client.told)
    const { pushes, due, ...verdict } = await verdictOn(openedLogOf(cluster), [CHAIN], told)
    console.info(`${pushes} pushes, ${due} due`)
    const notices = clients.flatMap((client) => client.notices).slice(0, 5)
    expect({ ...verdict, notices }).toEqual({
      ...{ lost: 0, twice: 0, disordered: 0, undue: 0, examples: [], notices: [] },
    })
  }, 300_000)
})
