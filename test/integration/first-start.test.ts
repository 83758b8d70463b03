/** Exposure of a first start: which keys work, and from which addresses it is reachable. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { environmentOf, KEY, startUp, type Up, type UpPlan } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { steadyPort } from '../rig/servers/steady-port.js'

afterAll(removeScratchFolders)

function planOf(settings: Record<string, unknown>): UpPlan {
  const folder = scratchFolder()
  const events = writeRecording(folder, 'some.jsonl', generateRecording({ seed: 5, chain: 'eth', blocks: 5 }))
  return { folder, events, chains: [marketMoney('eth')], settings }
}

/** A server on 0.0.0.0 answers on every loopback address, one on 127.0.0.1 only on that one. */
const isReached = (url: string, host: string): Promise<boolean> => {
  const { port } = new URL(url)
  return fetch(`http://${host}:${port}/`).then(
    () => true,
    () => false,
  )
}
const reachedAt = async (up: Up, host: string) => [await isReached(up.restUrl, host), await isReached(up.wsUrl, host)]

describe('with a fixed key and no host', () => {
  // Undefined removes the rig's default host from the configuration file.
  const plan = planOf({ host: undefined })
  let up: Up
  beforeAll(async () => {
    up = await startUp(plan)
  }, 60_000)
  afterAll(() => up.stop())

  test('creates no other key', async () => {
    expect((await up.get('/v2/supported_chains')).status).toBe(200)
    const listed = await runCommand(['keys', 'ls', '--json'], { cwd: plan.folder, env: environmentOf(plan) })
    expect(listed).toMatchObject({ code: 0, out: '' })
    expect(up.greeting).toMatch(/key +value of DEXTAPE_API_KEY/)
    expect(up.greeting).not.toContain('dx_')
  })

  test('is reachable only from this machine', async () => {
    expect(await reachedAt(up, '127.0.0.1')).toEqual([true, true])
    expect(await reachedAt(up, '127.0.0.2')).toEqual([false, false])
  })
})

test('listens on the configured host with REST and pushes, and names it in the greeting', async () => {
  const up = await startUp(planOf({ host: '127.0.0.2' }))
  try {
    expect([new URL(up.restUrl).hostname, new URL(up.wsUrl).hostname]).toEqual(['127.0.0.2', '127.0.0.2'])
    expect(await reachedAt(up, '127.0.0.2')).toEqual([true, true])
    expect(await reachedAt(up, '127.0.0.1')).toEqual([false, false])
  } finally {
    await up.stop()
  }
}, 60_000)

test('rejects an address this machine does not have, with what to do', async () => {
  const plan = planOf({ host: '192.0.2.1' })
  // A short key is refused for other addresses than loopback.
  const key = { DEXTAPE_API_KEY: `${KEY}_long_enough` }
  const env = { ...environmentOf(plan), ...key, DEXTAPE_HTTP_PORT: String(await steadyPort()) }
  const { code, err } = await runCommand(['up'], { cwd: plan.folder, env })
  expect({ code, err }).toEqual({
    code: 78,
    err: 'dextape: Cannot listen on 192.0.2.1: it is not an address of this machine (EADDRNOTAVAIL). Set DEXTAPE_HOST to an address of this machine, or to 0.0.0.0 for all.\n',
  })
})
