/** Unknown keys from one address are answered later and later, counted and logged; a good key is not delayed by them. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import { createBadKeys } from '../../services/serve/keys/bad-keys.js'
import { createServeMetrics } from '../../services/serve/serve-metrics.js'
import { connect } from './push-client.js'
import { type Rig, startRig } from './rig.js'

const warnings: string[] = []
let rig: Rig

beforeAll(async () => {
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  rig = await startRig({ slowLoopback: true, logger })
  await rig.start()
}, 60_000)
afterAll(() => rig.stop())

it('slows down an address that guesses, over REST and sockets together', async () => {
  const guess = async () => (await rig.get('/v2/tokens/trending?chain=eth', { 'x-api-key': 'dx_wrong' })).status
  for (let n = 0; n < 10; n += 1) expect(await guess()).toBe(401)
  expect(warnings).toEqual([])
  const beforeMs = performance.now()
  expect(await guess()).toBe(401)
  expect(await guess()).toBe(401)
  expect(performance.now() - beforeMs).toBeGreaterThan(290)
  expect(warnings).toEqual(['many unknown API keys from one address, slowing it down'])
  const socket = await connect(rig.wsUrl, { 'x-api-key': 'dx_wrong' })
  expect(await socket.closed).toMatchObject({ code: 1008 })
  expect(performance.now() - beforeMs).toBeGreaterThan(690)
  const text = await (await rig.get('/metrics')).text()
  expect(text).toContain('dextape_serve_bad_keys_total{door="rest"} 12')
  expect(text).toContain('dextape_serve_bad_keys_total{door="push"} 1')
})

it('waits at most five seconds, forgets after a minute, and spares this machine unless told otherwise', () => {
  let nowMs = 0
  const metrics = createServeMetrics(createMetrics({ processMetrics: false }))
  const bad = createBadKeys({ logger: silentLogger, metrics, nowMs: () => nowMs })
  const waits = Array.from({ length: 30 }, () => bad.note('203.0.113.7', 'rest'))
  expect(waits.slice(0, 14)).toEqual([...new Array(10).fill(0), 100, 200, 400, 800])
  expect(waits.at(-1)).toBe(5000)
  expect(bad.note('203.0.113.8', 'rest')).toBe(0)
  nowMs += 60_000
  expect(bad.note('203.0.113.7', 'rest')).toBe(0)
  const own = [
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '0000:0000:0000:0000:0000:ffff:7f00:0001',
  ]
  for (const address of own) for (let n = 0; n < 20; n += 1) expect(bad.note(address, 'push')).toBe(0)
})
