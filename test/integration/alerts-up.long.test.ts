/** Alerts of one process, each fired in a real Prometheus by its cause. */
import { spawnSync } from 'node:child_process'
import { statfsSync, statSync, truncateSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { openDiscardingSocket } from '../rig/clients/discarding-socket.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { generateRecording, type MarketOptions } from '../rig/market/generate.js'
import { marketMoney, moneySections } from '../rig/market/money.js'
import { type AlertWatch, type Target, watchAlerts } from '../rig/prometheus/server.js'
import { isRetract, type RecordingBlock, type RecordingLine } from '../rig/reference/lines.js'
import { whilePulsing } from '../rig/servers/pulse.js'
import { startUp, type UpOptions, type UpProcess } from '../rig/up/process.js'
import { interleave } from '../rig/up/recording.js'

const KEY = 'dx_alerts_of_tests'
const SOCKETS = 30
const started: UpProcess[] = []
let watch: AlertWatch

beforeAll(async () => {
  watch = await watchAlerts()
})
afterAll(async () => {
  for (const one of started) await one.kill()
  await watch?.stop()
  removeScratchFolders()
})

type Running = { up: UpProcess; target: Target; ws: string }

async function start(
  options: Omit<UpOptions, 'dataDir'> & { dataDir?: string },
  more: Partial<Target> = {},
): Promise<Running> {
  const dataDir = options.dataDir ?? join(scratchFolder(), 'data')
  const up = startUp({ ...options, dataDir, env: { DEXTAPE_API_KEY: KEY, ...options.env } })
  started.push(up)
  const { rest, ws } = await up.serving
  const target = { url: rest, ...more }
  await watch.scrape(target)
  return { up, target, ws }
}

async function end({ up, target }: Running): Promise<void> {
  watch.forget(target)
  await up.kill()
}

const live = { simulator: { history_h: 0, swaps_per_s: 50 } }

const CALM = { secondsPerBlock: 2, swapsPerBlock: 4, maxTimeBackS: 0, quietHour: 0, quietDay: 0, nastiness: 0 }
const calm = (chain: string, blocks: number, options: MarketOptions = {}): RecordingLine[] =>
  generateRecording({ seed: 17, chain, blocks, options: { ...CALM, ...options } })

/** The section `chains` of the configuration. */
const chainsOf = (names: readonly string[]) => moneySections(names.map(marketMoney))

describe('a market that misbehaves', () => {
  /** Blocks after which the causes begin. */
  const QUIET = 100
  let running: Running

  /** A copy of the blocks from `at` on, each with another hash: a fork of that depth, then the chain again. */
  function withReorg(lines: RecordingLine[], at: number, depth: number): RecordingLine[] {
    const blocks = lines.filter((line): line is RecordingBlock => !isRetract(line))
    const [from, to] = [blocks[at + depth - 1], blocks[at - 1]]
    if (from === undefined || to === undefined) throw new Error('the recording is too short')
    const numbers = { from_number: from.number, from_hash: from.hash, to_number: to.number, to_hash: to.hash }
    return [
      ...blocks.slice(0, at + depth),
      { kind: 'retract', chain: from.chain, ...numbers },
      ...blocks.slice(at).map((block) => ({
        ...{ ...block, hash: `${block.hash}b` },
        parent_hash: block === blocks[at] ? block.parent_hash : `${block.parent_hash}b`,
      })),
    ]
  }

  beforeAll(async () => {
    const deep = withReorg(calm('deep', 1200), QUIET, 22)
    const often = calm('often', 1200, { retracts: { probability: 0.5, maxDepth: 2 } })
    const broken = calm('broken', 400).map((line, at) => (at === QUIET ? { ...line, parent_hash: '0xother' } : line))
    const dead = calm('dead', 1200).map((line, at) => {
      const isBad = at > QUIET && !isRetract(line)
      return isBad ? { ...line, events: [...line.events, { type: 'airdrop', tx_index: 900, log_index: 900 }] } : line
    })
    const folder = scratchFolder()
    const lines = interleave([deep, often, broken as RecordingLine[], dead as RecordingLine[]])
    const chains = chainsOf(['deep', 'often', 'broken', 'dead'])
    running = await start({
      ...{ events: writeRecording(folder, 'tape.jsonl', lines), speed: '10' },
      config: { chains, intervals: { checkpoint_ms: 3_600_000 } },
    })
  }, 120_000)

  it.each([
    ['DextapeDeadLetters', 'events of an unknown type'],
    ['DextapeDeepReorg', 'a reorg of 22 blocks'],
    ['DextapeReorgsFrequent', 'a reorg every other block'],
    ['DextapeChainStopped', 'a block that does not continue its chain'],
    ['DextapeCheckpointsStalled', 'no checkpoints'],
  ])('%s: %s', async (alert) => {
    await watch.fires(alert, running.target)
  })

  it('DextapeDown: the process was killed', async () => {
    await watch.fires('DextapeDown', running.target, () => running.up.kill())
    watch.forget(running.target)
  })
})

describe('clients that misbehave, on a live market', () => {
  let running: Running
  const sockets: WebSocket[] = []

  beforeAll(async () => {
    running = await start({ config: { ...live, capacity: { sockets: SOCKETS } }, args: ['--rate', '800'] })
  }, 120_000)
  afterAll(() => {
    for (const socket of sockets) socket.terminate()
  })

  async function open(count: number): Promise<WebSocket[]> {
    const opened = Array.from({ length: count }, () => new WebSocket(running.ws, { headers: { 'x-api-key': KEY } }))
    sockets.push(...opened)
    await Promise.all(opened.map((socket) => new Promise((resolve) => socket.once('open', resolve))))
    return opened
  }

  it('DextapeBadKeys: keys are guessed', async () => {
    const guess = (_: unknown, at: number) =>
      fetch(`${running.target.url}/v2/tokens/trending?chain=eth`, { headers: { 'x-api-key': `dx_guess_${at}` } })
    await watch.fires('DextapeBadKeys', running.target, () => Promise.all(Array.from({ length: 150 }, guess)))
  })

  it('DextapeSocketsTooSlow: clients subscribe to everything and do not read', async () => {
    const pairs = await busyPairs(running.target)
    await watch.fires('DextapeSocketsTooSlow', running.target, async () => {
      for (const socket of await open(15)) {
        for (const [id, pair] of pairs.entries()) {
          const params = ['tx', ...pair]
          socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'subscribe', params, id }))
        }
        socket.pause()
      }
    })
  })

  it('DextapeCapacityNearlyUsed: nearly all sockets are in use', async () => {
    for (const socket of sockets.splice(0)) socket.terminate()
    await watch.fires('DextapeCapacityNearlyUsed', running.target, () => open(SOCKETS - 2))
    await end(running)
  })
})

type Trending = { tokens?: { main_pair: string }[] }

async function busyPairs({ url }: Target): Promise<[pair: string, chain: string][]> {
  const found: [string, string][] = []
  for (const chain of ['eth', 'bsc', 'solana']) {
    const path = `${url}/v2/tokens/trending?chain=${chain}&page_size=50`
    const { tokens = [] } = (await (await fetch(path, { headers: { 'x-api-key': KEY } })).json()) as Trending
    found.push(...tokens.map(({ main_pair }): [string, string] => [main_pair, chain]))
  }
  expect(found.length).toBeGreaterThan(10)
  return found
}

describe('a machine that misbehaves', () => {
  const freeMb = () => {
    const { bavail, bsize } = statfsSync(scratchFolder())
    return Math.floor((bavail * bsize) / 2 ** 20)
  }

  it('DextapeDiskLow: less than four reserves are free', async () => {
    const running = await start({ config: { ...live, disk: { reserve_mb: Math.floor(freeMb() / 2) } } })
    await watch.fires('DextapeDiskLow', running.target)
    await end(running)
  })

  it('DextapeDiskFull: less than the reserve is free', async () => {
    const running = await start({ config: { ...live, disk: { reserve_mb: freeMb() * 2 } } })
    await watch.fires('DextapeDiskFull', running.target)
    await end(running)
  })

  it('DextapeCertificateExpires: the certificate is valid for a day', async () => {
    const folder = scratchFolder()
    const [tls_key, tls_cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const names = ['-subj', '/CN=localhost', '-days', '1', '-keyout', tls_key, '-out', tls_cert]
    const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...names])
    expect(made.status).toBe(0)
    const running = await start({ config: { ...live, tls_key, tls_cert } })
    await watch.fires('DextapeCertificateExpires', running.target)
    await end(running)
  })

  it('DextapeTracesDropped: the collector does not answer', async () => {
    const running = await start({ config: { ...live, tracing: { otlp_url: 'http://127.0.0.1:1', every_blocks: 1 } } })
    await watch.fires('DextapeTracesDropped', running.target)
    await end(running)
  })

  it('DextapeDamage: the file of the checkpoints is cut in half', async () => {
    const dataDir = join(scratchFolder(), 'data')
    const lines = calm('eth', 600)
    const events = writeRecording(scratchFolder(), 'tape.jsonl', lines)
    const config = { chains: chainsOf(['eth']) }
    const first = await start({ dataDir, events, config })
    await first.up.until('everything folded', async () => (await first.up.status()).get('eth')?.seq === lines.length)
    expect((await first.up.stop()).code).toBe(0)
    watch.forget(first.target)
    const file = join(dataDir, 'state/eth/data.mdb')
    truncateSync(file, statSync(file).size / 2)
    // Repaired once its rows are stored again.
    const second = await start({ dataDir, events, config: { ...config, intervals: { flush_ms: 30_000 } } })
    await watch.fires('DextapeDamage', second.target)
    await end(second)
  })

  it('DextapeThreadRestarted: the thread that folds fails', async () => {
    const program = `
      import { BroadcastChannel, isMainThread, workerData } from 'node:worker_threads'
      const channel = new BroadcastChannel('fail')
      channel.unref()
      if (isMainThread) process.on('SIGUSR2', () => channel.postMessage('fold'))
      else if (workerData.config && !workerData.source && !workerData.pushed)
        channel.onmessage = () => setImmediate(() => { throw new Error('unforeseen') })`
    const running = await start({
      ...{ config: live, env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` } },
    })
    await watch.fires('DextapeThreadRestarted', running.target, () => process.kill(running.up.pid, 'SIGUSR2'))
    await end(running)
  })

  /** It gets CPU for a moment after each pause. */
  const whileFreezing = ({ up }: Running, stopMs: number, goMs: number, work: () => Promise<void>) => {
    const send = (signal: NodeJS.Signals) => () => void process.kill(up.pid, signal)
    return whilePulsing({ stop: send('SIGSTOP'), stopMs, go: send('SIGCONT'), goMs }, work)
  }

  it('DextapeEventLoopSlow: the process hardly gets any CPU', async () => {
    const running = await start({ config: live }, { scrapeEvery: '5s' })
    await whileFreezing(running, 1_800, 300, () => watch.fires('DextapeEventLoopSlow', running.target))
    await end(running)
  })

  it('DextapePushSlow: a process with little CPU writes large blocks to many sockets', async () => {
    // A write takes long, so five seconds would hold too few of them.
    const slowWatch = await watchAlerts({ shorter: 15 })
    const lines = calm('eth', 600, { swapsPerBlock: 600 })
    const running = await start(
      {
        ...{ events: writeRecording(scratchFolder(), 'tape.jsonl', lines), speed: '2' },
        ...{ config: { chains: chainsOf(['eth']) }, env: { DEXTAPE_PUSH_SERVER: 'ws' } },
      },
      { scrapeEvery: '5s' },
    )
    const { up, target, ws } = running
    await up.until('all pairs', async () => ((await up.status()).get('eth')?.seq ?? 0) > 30)
    const events = lines.flatMap((line) => (isRetract(line) ? [] : line.events))
    const pairs = new Set(events.flatMap((event) => (event.type === 'swap' ? [event.pool] : [])))
    const subscriptions = [...pairs].map((pair) => ['tx', pair, 'eth'])
    const open = new Set<Socket>()
    let isLeaving = false
    const leave = () => {
      isLeaving = true
      for (const socket of open) socket.destroy()
    }
    /** On a busy machine some read too slowly, and come back. */
    const listen = async () => {
      while (!isLeaving) {
        const socket = await openDiscardingSocket(ws, KEY, subscriptions)
        open.add(socket)
        await new Promise((resolve) => socket.once('close', resolve))
        open.delete(socket)
      }
    }
    const listening = Array.from({ length: 40 }, listen)
    await slowWatch.scrape(target)
    await whileFreezing(running, 1_300, 100, () => slowWatch.fires('DextapePushSlow', target)).finally(() => leave())
    await Promise.all(listening)
    await slowWatch.stop()
    await end(running)
  })
})
