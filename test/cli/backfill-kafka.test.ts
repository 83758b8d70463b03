/** Backfill on a cluster: the reader and the backfill share nothing but Kafka. */
import { expect, it } from 'vitest'
import { heldBy, heldLive } from '../rig/chains/log-contents.js'
import { newChainWorld, until } from '../rig/chains/world.js'
import { freshPrefix } from '../rig/kafka/open-log.js'
import { generateRecording } from '../rig/market/generate.js'
import { acceptedBlocks } from '../rig/reference/lines.js'
import { sharedBroker } from '../rig/servers/shared.js'

it('makes a backfill in Kafka live and assigns the chain once', async () => {
  const options = { retracts: { probability: 0.2, maxDepth: 8 }, swapsPerBlock: 1 }
  const lines = generateRecording({ seed: 5, chain: 'eth', blocks: 60, options })
  const hashes = acceptedBlocks(lines).map(({ hash }) => hash)
  const late = acceptedBlocks(lines.slice(0, 30))[12]?.number ?? 0
  const kafka = { brokers: [await sharedBroker()], topic_prefix: freshPrefix() }
  const world = await newChainWorld({ lines, start: late, trueLines: 30, settings: { kafka } })
  try {
    const { ingests } = await world.follow()
    await world.untilLiveAt(30)
    expect(await world.backfill({ from: { kind: 'block', number: 0 } })).toBe(0)
    world.trueLines = lines.length
    await world.untilLiveAt(lines.length)
    expect(await heldLive(world.platform, 'eth')).toMatchObject({ generation: 2, wrong: [], hashes })
    expect((await heldBy(world.platform, 'eth', 1)).wrong).toEqual([])
    expect(ingests.statuses[0]).toMatchObject({ state: 'running' })
    const assigned: (readonly string[])[] = []
    const leave = new AbortController()
    const following = world.platform.followChains((chains) => assigned.push(chains), leave.signal)
    await until('assigned', () => assigned.length > 0)
    leave.abort()
    await following
    expect(assigned[0]).toEqual(['eth'])
  } finally {
    await world.close()
  }
})
