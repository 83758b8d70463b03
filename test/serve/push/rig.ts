/** Setup for push tests: a serving node with its first updates, and clients that are closed after each test. */
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { BlockUpdate } from '../../../services/core/domain/records.js'
import type { PushLimits, ServeDeps } from '../../../services/serve/serve-deps.js'
import { type Client, connect } from '../push-client.js'
import { type Rig, startRig } from '../rig.js'
import { firstUpdate, update } from '../updates.js'

export function usePushRig(push: Partial<PushLimits> = {}, more: Partial<ServeDeps> = {}) {
  let rig: Rig
  let seq = 1
  const clients: Client[] = []

  beforeAll(async () => {
    rig = await startRig({ ...more, push })
    await rig.append(firstUpdate())
    await rig.start()
    await rig.feed(update({ seq: ++seq }))
  }, 60_000)
  afterAll(() => rig.stop())
  afterEach(() => {
    for (const one of clients.splice(0)) one.close()
  })

  return {
    get rig() {
      return rig
    },
    /** Seq of the last update fed. */
    get seq() {
      return seq
    },
    client: async (headers?: Record<string, string>, query = '') => {
      const made = await connect(`${rig.wsUrl}/${query}`, headers)
      clients.push(made)
      return made
    },
    /** Appends the next update; resolves once it is served. */
    feed: (given: Partial<BlockUpdate> = {}) => rig.feed(update({ seq: ++seq, number: 100 + seq, ...given })),
  }
}
