import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../services/core/config/index.js'
import { openDataDir } from '../../services/core/data-dir/data-dir.js'
import { ConfigError, DextapeError } from '../../services/core/domain/errors.js'
import { abortOf } from '../../services/core/runtime/backoff.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import { createHealth } from '../../services/core/runtime/part-health.js'
import type { OpenChain } from '../../services/processes/chain-sources/open-chain.js'
import { openChainIngests } from '../../services/processes/chain-sources/open-ingests.js'
import { reportedChains } from '../../services/processes/chain-status.js'
import { embeddedPlatform } from '../../services/processes/platform/embedded.js'
import { createPipeStatus } from '../../services/serve/pipe-status.js'
import { heldLive } from '../rig/chains/log-contents.js'
import { openMovingChain } from '../rig/chains/moving-chain.js'
import { generateRecording } from '../rig/market/generate.js'
import { samplesOf } from '../rig/metrics-samples.js'
import { acceptedBlocks } from '../rig/reference/lines.js'

const tapes = new Map(['eth', 'bsc'].map((chain) => [chain, generateRecording({ seed: 3, chain, blocks: 20 })]))

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const openWell: OpenChain = async ({ config: { chain } }) => {
  const lines = tapes.get(chain) ?? []
  const start = { kind: 'block', number: 0 } as const
  return openMovingChain({ lines, family: 'evm', trueLines: () => lines.length, start }, `moving:${chain}`)
}

async function start(open: OpenChain, patienceMs = 600_000) {
  const dataDir = openDataDir(mkdtempSync(join(tmpdir(), 'dextape-chains-')))
  const platform = embeddedPlatform({ dir: () => dataDir, logger: silentLogger })
  const config = loadConfig({ env: { DEXTAPE_RPC_ETH: 'http://a', DEXTAPE_RPC_BSC: 'http://b' }, cwd: dataDir.path })
  const health = createHealth({ logger: silentLogger })
  const metrics = createMetrics({ processMetrics: false })
  const stop = new AbortController()
  closing.push(() => platform.close())
  const parts = { platform, config, dataDir, logger: silentLogger, health, metrics }
  const ingests = await openChainIngests([...config.sources.values()], { ...parts, open, patienceMs }, stop.signal)
  const running = ingests.run(stop.signal)
  running.catch(() => {})
  closing.push(() => {
    stop.abort()
    return running.catch(() => {})
  })
  const untilHeld = async (chain: string) => {
    const wanted = acceptedBlocks(tapes.get(chain) ?? []).map(({ hash }) => hash)
    const status = ingests.statuses.find((one) => one.chain === chain)
    while (status?.chains.get(chain)?.blocks !== wanted.length) await new Promise((next) => setTimeout(next, 5))
    expect(await heldLive(platform, chain)).toMatchObject({ hashes: wanted, wrong: [] })
  }
  const report = () =>
    ({
      service: 'ingest',
      away: [] as never[],
      instance: 'here',
      atMs: 0,
      chains: ingests.statuses.flatMap(reportedChains),
    }) as const
  const pipe = createPipeStatus(() => [report()], Date.now).chains
  return { ingests, running, stop, health, metrics, untilHeld, pipe }
}

describe('chains read from nodes', () => {
  it('run side by side, each with its own counts', async () => {
    const { ingests, running, stop, metrics, untilHeld } = await start(openWell)
    await Promise.all(['eth', 'bsc'].map(untilHeld))
    expect(ingests.statuses.map(({ chain, source, state }) => [chain, source, state])).toEqual([
      ['eth', 'moving:eth', 'running'],
      ['bsc', 'moving:bsc', 'running'],
    ])
    const samples = samplesOf(await metrics.text())
    for (const chain of ['eth', 'bsc']) {
      expect(samples.get(`dextape_ingest_blocks_total{chain="${chain}"}`)).toBe(20)
      expect(samples.get(`dextape_ingest_appended_bytes_total{source="moving:${chain}"}`)).toBeGreaterThan(0)
    }
    stop.abort()
    expect(await running).toEqual({ kind: 'stopped' })
  })

  it('continue when one fails, which is reported', async () => {
    const { ingests, untilHeld, pipe } = await start(async (options) => {
      if (options.config.chain === 'eth') throw new DextapeError({ code: 'node_broken', what: 'The node is broken' })
      return openWell(options)
    })
    await untilHeld('bsc')
    expect(ingests.statuses.map(({ state }) => state)).toEqual(['failed', 'running'])
    expect(pipe()).toEqual([
      {
        ...{ chain: 'eth', source: 'eth', sourceAgeS: null, indexedFrom: null },
        stopped: 'source failed: The node is broken',
      },
      { chain: 'bsc', source: 'moving:bsc', sourceAgeS: 0, indexedFrom: null },
    ])
  })

  it('retry while nodes are unreachable, and report the chain by name', async () => {
    let isAway = true
    const { health, untilHeld } = await start(async (options) => {
      if (isAway && options.config.chain === 'eth')
        throw new DextapeError({ code: 'node_away', what: 'No node answers', retry: true })
      return openWell(options)
    })
    await untilHeld('bsc')
    expect(health.report()).toMatchObject([{ part: 'source', reason: 'eth: No node answers' }])
    isAway = false
    await untilHeld('eth')
    expect(health.report()).toEqual([])
  })

  it('end without a failure when stopped while they are opened', async () => {
    const { ingests, running, stop } = await start(async ({ config, signal }) => {
      await abortOf(signal)
      throw new DOMException(`${config.chain} aborted`, 'AbortError')
    }, 50)
    stop.abort()
    expect(await running).toEqual({ kind: 'stopped' })
    expect(ingests.statuses.map(({ error }) => error)).toEqual([undefined, undefined])
  })

  it('are added, removed and changed while others are read', async () => {
    const opened: string[] = []
    const { ingests, running, stop, untilHeld } = await start(async (options) => {
      const { chain, scope } = options.config
      opened.push(`${chain} ${scope.amms.join()}`)
      if (scope.amms.includes('curve')) throw new ConfigError({ code: 'token_missing', what: 'A stable is not there' })
      return openWell(options)
    })
    await Promise.all(['eth', 'bsc'].map(untilHeld))
    const configs = (env: Record<string, string>, amms: string[] = []) => [
      ...loadConfig({ env, cwd: tmpdir(), chains: amms.length === 0 ? {} : { eth: { amms } } }).sources.values(),
    ]
    const [eth, both] = [{ DEXTAPE_RPC_ETH: 'http://a' }, { DEXTAPE_RPC_ETH: 'http://a', DEXTAPE_RPC_BSC: 'http://b' }]
    const states = () => ingests.statuses.map(({ chain, state }) => `${chain} ${state}`)
    ingests.change?.(configs(eth))
    expect(states()).toEqual(['eth running'])
    ingests.change?.(configs(eth, ['curve']))
    await expect.poll(states).toEqual(['eth failed'])
    ingests.change?.(configs(both, ['uniswapv3']))
    await expect.poll(states).toEqual(['eth running', 'bsc running'])
    expect(opened).toEqual(['eth ', 'bsc ', 'eth curve', 'eth uniswapv3', 'bsc '])
    stop.abort()
    expect(await running).toEqual({ kind: 'stopped' })
  })

  it('abort the start at a configuration error, even if found late', async () => {
    const wrong: OpenChain = async (options) => {
      if (options.config.chain === 'bsc') return openWell(options)
      throw new ConfigError({ code: 'token_missing', what: 'A stable is not on this chain' })
    }
    await expect(start(wrong)).rejects.toThrow('A stable is not on this chain')
    const { running } = await start(async (options) => {
      await new Promise((next) => setTimeout(next, 100))
      return wrong(options)
    }, 10)
    await expect(running).rejects.toThrow('A stable is not on this chain')
  })
})
