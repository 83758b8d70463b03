/** `npm run load` with a few sockets: every expected push arrives once and in order. */
import { expect, test } from 'vitest'
import { runLive } from '../bench/sockets/live.js'

test('delivers every push to 40 sockets with 20 subscriptions each on the simulated market', async () => {
  const run = {
    sockets: 40,
    subscriptionsEach: 20,
    swapsPerS: 80,
    seconds: 6,
    historyH: 0.1,
    seed: 3,
    onProgress: () => {},
  }
  const { pushes, lost, twice, disordered, undue, closed, notices, examples } = await runLive(run)
  expect({ lost, twice, disordered, undue, closed, notices, examples }).toEqual({
    ...{ lost: 0, twice: 0, disordered: 0, undue: 0, closed: 0, notices: [], examples: [] },
  })
  expect(pushes).toBeGreaterThan(1000)
})
