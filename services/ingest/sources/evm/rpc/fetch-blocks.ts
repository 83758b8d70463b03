/** Blocks with their logs: headers and logs are asked for side by side, and what does not fit is asked for again by its hash. */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { EvmLog } from '../../../decode/evm/log.js'
import { blameOn } from '../../nodes/blame.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking } from '../../nodes/endpoint-pool.js'
import { NodeFault } from '../../nodes/node-fault.js'
import type { CheckedBlock } from '../chain-reader.js'
import { createBloomCache, isInBloom } from './bloom.js'
import type { FullHeader } from './check-headers.js'
import { type Doubt, doubts } from './check-logs.js'
import type { HeaderFetcher } from './fetch-headers.js'
import type { LogFetcher, LogPiece, ToldLogs } from './fetch-logs.js'
import type { ListedSenders } from './listed-senders.js'
import type { CompiledFilter } from './log-filter.js'
import type { ReceiptWitness } from './receipt-witness.js'

export interface BlockFetcher {
  range(from: number, to: number, filter: CompiledFilter, asking: Asking): Promise<CheckedBlock[]>
  byHash(hash: string, filter: CompiledFilter, asking: Asking): Promise<CheckedBlock>
}

export type BlockFetcherOptions = {
  chain: string
  headers: HeaderFetcher
  logs: LogFetcher
  witness: ReceiptWitness
  listed: ListedSenders
  /** Whether blocks come with their transactions. */
  wantsWhole: () => boolean
  nowMs: () => number
  sleep: Sleep
}

/** A block that vanished between two questions: the range is read anew. */
const REORG_ATTEMPTS = 5
const REORG_PAUSE_MS = 200
const LIE_ATTEMPTS = 4
/** Long enough for a node to catch up with another, short enough for a block that was orphaned. */
const VANISHED_PATIENCE = { attempts: 6, ms: 5_000 }

export function createBlockFetcher(options: BlockFetcherOptions): BlockFetcher {
  const { chain: chainName, headers, logs, witness, listed, wantsWhole, nowMs, sleep } = options
  const bitsOf = createBloomCache()

  function isLogInBloom({ address, topics }: EvmLog, bloom: string): boolean {
    const [first] = topics
    return isInBloom(bloom, bitsOf(address)) && (first === undefined || isInBloom(bloom, bitsOf(first)))
  }

  async function once(from: number, to: number, filter: CompiledFilter, asking: Asking): Promise<CheckedBlock[]> {
    const [chain, pieces] = await Promise.all([
      headers.range(from, to, asking, wantsWhole()),
      logs.range(from, to, filter, asking),
    ])
    const logsOf = byNumber(pieces)
    const found = new Map<number, Doubt>()
    for (const piece of pieces) {
      const part = chain.slice(piece.from - from, piece.to - from + 1)
      for (const [number, doubt] of doubts(part, logsOf, filter, isLogInBloom)) found.set(number, doubt)
    }
    if (found.size > 0) await settle(chain, found, logsOf, filter, asking)
    listed.wanted(
      txCountIn(logsOf.values()),
      chain.reduce((sum, { txCount }) => sum + (txCount ?? 0), 0),
    )
    return chain.map(({ number, hash, parentHash, timeS }) => ({
      number,
      hash,
      parentHash,
      timeS,
      logs: logsOf.get(number) ?? [],
    }))
  }

  /** Asks for the blocks in doubt, each by its hash, and puts in place what comes. */
  async function settle(
    chain: readonly FullHeader[],
    found: ReadonlyMap<number, Doubt>,
    logsOf: Map<number, EvmLog[]>,
    filter: CompiledFilter,
    asking: Asking,
  ): Promise<void> {
    const doubtful = chain.filter(({ number }) => found.has(number))
    const hashes = doubtful.map(({ hash }) => hash)
    const answers = await logs.byHash(hashes, filter, { ...asking, patience: VANISHED_PATIENCE })
    for (const [place, header] of doubtful.entries()) {
      const its = await trueLogs(header, answers[place] as ToldLogs, filter, asking)
      if (its.length === 0) logsOf.delete(header.number)
      else logsOf.set(header.number, its)
    }
  }

  /** A block's logs as they were told, unless they cannot be its: then as another endpoint tells them. */
  async function trueLogs(
    header: FullHeader,
    first: ToldLogs,
    filter: CompiledFilter,
    asking: Asking,
  ): Promise<EvmLog[]> {
    const liars = new Set<Endpoint>()
    let told = first
    for (let attempt = 1; ; attempt++) {
      const lie = await lieIn(header, told.logs, asking)
      if (lie === null) return told.logs
      const fault = blameOn(told.by, chainName)('lies', lie, header.number) as NodeFault
      told.by.health.failed(fault, nowMs())
      liars.add(told.by)
      if (attempt >= LIE_ATTEMPTS) throw fault
      const again = { ...asking, patience: VANISHED_PATIENCE, avoid: liars }
      told = (await logs.byHash([header.hash], filter, again))[0] as ToldLogs
    }
  }

  /** Logs that the block's bloom does not have must at least be in their transactions' receipts. */
  async function lieIn(header: FullHeader, its: readonly EvmLog[], asking: Asking): Promise<string | null> {
    const { bloom, number } = header
    if (its.some(({ blockNumber }) => blockNumber !== number)) return `logs of ${header.hash} with another number`
    if (bloom === null || witness.trustsWithout(bloom)) return null
    const strange = its.filter((log) => !isLogInBloom(log, bloom))
    if (strange.length === 0 || (await witness.confirms(header, strange, asking))) return null
    return 'a log that neither the block’s bloom nor its receipt has'
  }

  return {
    async range(from, to, filter, asking) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await once(from, to, filter, asking)
        } catch (error) {
          const vanished = error instanceof NodeFault && error.kind === 'unknown_block'
          if (!vanished || attempt >= REORG_ATTEMPTS) throw error
          await sleep(REORG_PAUSE_MS * attempt, asking.signal)
          asking.signal.throwIfAborted()
        }
      }
    },
    async byHash(hash, filter, asking) {
      const patient = { ...asking, patience: VANISHED_PATIENCE }
      const [header, [told]] = await Promise.all([headers.byHash(hash, patient), logs.byHash([hash], filter, patient)])
      const { number, parentHash, timeS } = header
      return { number, hash, parentHash, timeS, logs: await trueLogs(header, told as ToldLogs, filter, asking) }
    },
  }
}

/** Logs of a transaction stand together. */
function txCountIn(lists: Iterable<readonly EvmLog[]>): number {
  let count = 0
  for (const logs of lists)
    for (let place = 0; place < logs.length; place++) if (logs[place]?.txHash !== logs[place - 1]?.txHash) count++
  return count
}

function byNumber(pieces: readonly LogPiece[]): Map<number, EvmLog[]> {
  const logsOf = new Map<number, EvmLog[]>()
  for (const { logs } of pieces) {
    let number = -1
    let list: EvmLog[] = []
    for (const log of logs) {
      if (log.blockNumber !== number) {
        number = log.blockNumber
        list = []
        logsOf.set(number, list)
      }
      list.push(log)
    }
  }
  return logsOf
}
