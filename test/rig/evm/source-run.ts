/** The real source of a test's chain into an embedded log, stopped, killed and started again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EvmSourceConfig } from '../../../services/core/config/evm-source.js'
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import { openEmbeddedLog } from '../../../services/core/log/embedded.js'
import { blocksTopic, deadTopic, type EventLog } from '../../../services/core/log/port.js'
import { createBackoff } from '../../../services/core/runtime/backoff.js'
import { silentLogger } from '../../../services/core/runtime/logger.js'
import { memoryCheckpoints } from '../../../services/ingest/checkpoints.js'
import { createIngest, type IngestOutcome } from '../../../services/ingest/main.js'
import { openEvmSource } from '../../../services/ingest/sources/evm/open.js'
import { testCodec } from '../../ingest/rig.js'
import type { RecordingLine } from '../reference/lines.js'
import { type Contracts, knownContracts } from './contracts.js'

export type SourceRunOptions = Partial<Pick<EvmSourceConfig, 'start' | 'scope' | 'finality' | 'maxRps'>> & {
  urls: readonly string[]
  /** The log the ingest writes to, where it is not the place's own. */
  through?: (log: EventLog) => EventLog
}

export type SourceRun = {
  readonly ended: Promise<IngestOutcome>
  /** Ends it in order. */
  stop(): Promise<IngestOutcome>
}

/** What outlives a process: the log, the checkpoints, the source's own book. */
export type SourcePlace = {
  readonly log: EventLog
  start(options: SourceRunOptions): Promise<SourceRun>
  lines(): Promise<RecordingLine[]>
  deadLetters(): Promise<string[]>
  /** Waits for the block to be the log's last. */
  reached(hash: string, withinMs: number): Promise<boolean>
  close(): Promise<void>
}

const POLL_MS = 5
const EVERYTHING = { pools: [], tokens: [], amms: [], balances: 'all' } as const

export function chainFactsOf({ tokens: { weth, usdc, usdt, btc } }: Contracts): ChainFacts {
  const money = { anchor: usdc.address, native: weth.address, stables: [usdt.address], majors: [btc.address] }
  return { chain: 'base', family: 'evm', chainId: 8453, title: 'Base', ...money }
}

export function openSourcePlace(contracts: Contracts): SourcePlace {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-evm-'))
  const log = openEmbeddedLog({ path: join(folder, 'log') })
  const codec = testCodec()
  const checkpoints = memoryCheckpoints()
  const facts = chainFactsOf(contracts)
  const { chain } = facts

  async function recordsOf(topic: string) {
    const records = []
    const { end } = await log.info(topic)
    for (let from = 0; from < end; ) {
      const read = await log.read(topic, { from, maxRecords: 1000 })
      records.push(...read.map(({ value }) => codec.decodeLogRecord(value)))
      from += Math.max(1, read.length)
    }
    return records
  }

  async function lines(): Promise<RecordingLine[]> {
    const records = await recordsOf(blocksTopic(chain))
    return records.flatMap((record): RecordingLine[] => {
      if (record.kind === 'retract') return [{ kind: 'retract', ...record.retract }]
      return record.kind === 'block' ? [{ kind: 'block', ...record.block }] : []
    })
  }

  return {
    log,
    lines,
    async deadLetters() {
      const records = await recordsOf(deadTopic(chain))
      return records.flatMap((record) =>
        record.kind === 'dead' ? [`${record.dead.reason} ${record.dead.detail}`] : [],
      )
    },
    async start({ urls, through = (own) => own, ...over }) {
      const stopping = new AbortController()
      const { signal } = stopping
      const config: EvmSourceConfig = {
        ...{ chain, chainId: 8453, rpcUrls: urls, scope: EVERYTHING, start: { kind: 'block', number: 1 } },
        ...{ finality: { kind: 'depth', blocks: 64 }, contracts: knownContracts(contracts), explicitTokens: [] },
        ...over,
      }
      const logger = silentLogger
      const bookPath = join(folder, 'book')
      const { source } = await openEvmSource({ config, facts, bookPath, logger, progressMs: 60_000, signal })
      const backoff = createBackoff({ maxMs: 50 })
      const ingest = createIngest({
        source,
        chain,
        log: through(log),
        codec,
        checkpoints,
        logger,
        progressMs: 60_000,
        backoff,
      })
      const ended = ingest.run(signal)
      return {
        ended,
        async stop() {
          stopping.abort()
          return ended
        },
      }
    },
    async reached(hash, withinMs) {
      const deadline = Date.now() + withinMs
      const topic = blocksTopic(chain)
      for (let looked = 0; ; ) {
        const { end } = await log.info(topic)
        // What was looked at is not decoded again and again: a benchmark waits here too.
        const [last] = end === looked ? [] : await log.read(topic, { from: end - 1, maxRecords: 1 })
        looked = end
        const record = last === undefined ? undefined : codec.decodeLogRecord(last.value)
        if (record?.kind === 'block' && record.block.hash === hash) return true
        if (Date.now() > deadline) return false
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
    },
    async close() {
      await log.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
