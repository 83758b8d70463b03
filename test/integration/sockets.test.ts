/** What `npm run load` does with two thousand sockets, with a few: every push that was due arrived, in order, once. */
import { expect, test } from 'vitest'
import { runSockets } from '../bench/sockets/run.js'

test('forty sockets with twenty subscriptions each on the simulated market', async () => {
  const run = { sockets: 40, subscriptionsEach: 20, swapsPerS: 80, seconds: 6, historyH: 0.1, seed: 3, tell: () => {} }
  const { pushes, lost, twice, disordered, undue, closed, notices, examples } = await runSockets(run)
  expect({ lost, twice, disordered, undue, closed, notices, examples }).toEqual({
    ...{ lost: 0, twice: 0, disordered: 0, undue: 0, closed: 0, notices: [], examples: [] },
  })
  expect(pushes).toBeGreaterThan(1000)
})
