import { afterAll, expect, it } from 'vitest'
import { createLiveStates } from '../../../services/core/coordination/live-states.js'
import { sharedLog } from '../../rig/shared-log.js'

const shared = sharedLog()
afterAll(() => shared.close())

it('names the live state topic of a chain for every process, and the one it replaced', async () => {
  const [one, other] = [createLiveStates(shared.open()), createLiveStates(shared.open())]
  expect(await other.of('eth')).toBeUndefined()
  await one.switchTo('eth', 2)
  expect(await other.of('eth')).toEqual({ epoch: 2, replaced: null })
  await other.switchTo('eth', 5)
  // A switch that is repeated after a crash does not replace itself.
  await one.switchTo('eth', 5)
  expect(await one.of('eth')).toEqual({ epoch: 5, replaced: 2 })
  expect(await one.of('bsc')).toBeUndefined()
})
