import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimSharedOrigin, sharedOrigin } from '../../../services/core/coordination/cluster-origin.js'
import { SOURCES_TOPIC } from '../../../services/core/log/port.js'
import { type SharedLog, sharedLog } from '../../rig/shared-log.js'

let shared: SharedLog
beforeEach(() => {
  shared = sharedLog()
})
afterEach(() => shared.close())

const seven = { origin: 'simulated', seed: 7 } as const
const eight = { origin: 'simulated', seed: 8 } as const
const real = { origin: 'real' } as const

describe('the origin of a cluster', () => {
  it('is unset until it is claimed, and then stays', async () => {
    expect(await sharedOrigin(shared.open())).toBeUndefined()
    await claimSharedOrigin(shared.open(), seven, 'a')
    await claimSharedOrigin(shared.open(), seven, 'b')
    expect(await sharedOrigin(shared.open())).toEqual(seven)
  })

  it.each([
    ['real', real, seven],
    ['simulated (seed 7)', seven, real],
    ['simulated (seed 7)', seven, eight],
  ] as const)('of %s data rejects other data', async (held, first, second) => {
    await claimSharedOrigin(shared.open(), first, 'a')
    await expect(claimSharedOrigin(shared.open(), second, 'b')).rejects.toMatchObject({
      ...{ name: 'ConfigError', code: 'data_mixed' },
      message: expect.stringContaining(`holds ${held} data`),
    })
    expect(await sharedOrigin(shared.open())).toEqual(first)
  })

  it('goes to one of several concurrent claims', async () => {
    const claims = [real, seven, eight, real]
    const outcomes = await Promise.allSettled(
      claims.map((claim, at) => claimSharedOrigin(shared.open(), claim, `w${at}`)),
    )
    const held = await sharedOrigin(shared.open())
    expect(outcomes.map(({ status }) => status)).toEqual(
      claims.map((claim) => (JSON.stringify(claim) === JSON.stringify(held) ? 'fulfilled' : 'rejected')),
    )
  })

  it('is an error if its record is unreadable', async () => {
    const entry = { key: 'origin/x', value: Buffer.from('"maybe"'), timestampMs: 0 }
    await shared.open().append(SOURCES_TOPIC, [entry])
    await expect(sharedOrigin(shared.open())).rejects.toMatchObject({ code: 'data_origin_unknown' })
  })
})
