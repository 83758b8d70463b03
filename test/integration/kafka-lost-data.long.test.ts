/** A cluster comes back as docs/operations.md says: after its store has lost its data, and after its broker has. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../rig/cluster/cluster.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { marketMoney } from '../rig/market/money.js'
import { generateTape, seqsOf, writeTape } from '../rig/up/recording.js'

const CHAINS = ['eth', 'bsc']
const lines = generateTape({ seed: 8, chains: CHAINS, blocksPerChain: 150 })

let cluster: Cluster
beforeAll(async () => {
  const ingest = ['--events', writeTape(join(scratchFolder(), 'tape.jsonl'), lines)]
  cluster = await startCluster({ ingest, chains: CHAINS.map(marketMoney) })
  await cluster.untilSeqs(seqsOf(lines))
}, 300_000)
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(cluster?.tails(40))
})
afterAll(async () => {
  await cluster?.stop()
  removeScratchFolders()
})

async function deleteTopics(isLost: (topic: string) => boolean): Promise<void> {
  const kafka = new Kafka({ brokers: cluster.broker.brokers.split(','), logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith('dex.') && isLost(topic))
  expect(topics.length).toBeGreaterThan(0)
  await admin.deleteTopics({ topics })
  await admin.disconnect()
}

async function expectWhole(): Promise<void> {
  for (const service of [...cluster.aggregates, cluster.serve]) await service.restart()
  await cluster.untilSeqs(seqsOf(lines))
  expect(await cluster.run('verify')).toMatchObject({
    ...{ code: 0, out: expect.stringContaining('The store matches the log.') },
  })
}

it('the store’s data is lost', async () => {
  for (const service of [...cluster.aggregates, cluster.serve]) await service.stop()
  const dropped = await fetch(new URL('/', cluster.store.url), { method: 'POST', body: 'DROP DATABASE dextape SYNC' })
  expect(dropped.status).toBe(200)
  await deleteTopics((topic) => topic.startsWith('dex.state.'))
  await expectWhole()
})

it('the broker’s data is lost', async () => {
  const files: string[] = []
  for (const chain of CHAINS) {
    const { code, out } = await cluster.run('topics', 'export', chain)
    expect(code).toBe(0)
    files.push(join(cluster.folder, `${chain}.jsonl`))
    writeFileSync(files.at(-1) ?? '', out)
  }
  for (const service of [...cluster.aggregates, cluster.serve]) await service.stop()
  await deleteTopics(() => true)
  for (const file of files) expect(await cluster.run('topics', 'import', file)).toMatchObject({ code: 0 })
  await expectWhole()
})
