/** Blocks with their logs: headers and logs are asked for side by side, and what does not fit is asked for again by its hash. */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { EvmLog } from '../../../decode/evm/log.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking } from '../../nodes/endpoint-pool.js'
import { blameOn, NodeFault } from '../../nodes/node-fault.js'
import type { CheckedBlock } from '../chain-reader.js'
import { createBloomCache, isInBloom } from './bloom.js'
import { type Doubt, doubts } from './check-logs.js'
import type { FullHeader, HeaderFetcher } from './fetch-headers.js'
import { type LogFetcher, type LogPiece, readPassing, type ToldLogs } from './fetch-logs.js'
import type { ListedSenders } from './listed-senders.js'
import { type LogEvidence, mayHaveLogs, type ReceiptWitness } from './log-evidence.js'
import type { CompiledFilter } from './log-filter.js'

export interface BlockFetcher {
  range(from: number, to: number, filter: CompiledFilter, asking: Asking): Promise<CheckedBlock[]>
  byHash(hash: string, filter: CompiledFilter, asking: Asking): Promise<CheckedBlock>
}

export type BlockFetcherOptions = {
  chain: string
  headers: HeaderFetcher
  logs: LogFetcher
  witness: ReceiptWitness
  evidence: LogEvidence
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
/** A bloom that so seldom alarms falsely is not contradicted without a look. */
const UNLIKELY = 0.1
/** Long enough for a node to catch up with another, short enough for a block that was orphaned. */
const VANISHED_PATIENCE = { attempts: 6, ms: 5_000 }

export function createBlockFetcher(options: BlockFetcherOptions): BlockFetcher {
  const { chain: chainName, headers, logs, witness, evidence, listed, wantsWhole, nowMs, sleep } = options
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
      await refuseWithoutLogs(piece, part, filter, asking)
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

  /** Who has the logs of a block has those of later ones: what comes before the first that was given is looked at. */
  async function refuseWithoutLogs(
    { logs: given, by }: LogPiece,
    part: readonly FullHeader[],
    filter: CompiledFilter,
    asking: Asking,
  ): Promise<void> {
    const first = given[0]?.blockNumber ?? Number.POSITIVE_INFINITY
    const suspect = part.find((header) => header.number < first && mayHaveLogs(header, filter))
    for (const endpoint of by) {
      if (suspect !== undefined && (await evidence.of(endpoint, suspect, asking)) === 'none')
        throw new WithoutLogs(endpoint, evidence.fault(endpoint, suspect))
      if (given[0] !== undefined) evidence.gave(endpoint, first)
    }
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
      const before = found.get(header.number) === 'cut' ? logsOf.get(header.number) : undefined
      const its = await trueLogs(header, answers[place] as ToldLogs, filter, asking, before)
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
    before: readonly EvmLog[] = [],
  ): Promise<EvmLog[]> {
    const liars = new Set<Endpoint>()
    let told = first
    for (let attempt = 1; ; attempt++) {
      const lie = await lieIn(header, told.logs, before, asking)
      const fault = lie === null ? null : (blameOn(told.by, chainName)('lies', lie, header.number) as NodeFault)
      const its = fault ?? (await lookedAt(header, told, filter, asking))
      if (Array.isArray(its)) return its
      if (its === 'unclear') {
        if (attempt >= LIE_ATTEMPTS) return told.logs
      } else {
        told.by.health.failed(its, nowMs())
        liars.add(told.by)
        if (attempt >= LIE_ATTEMPTS) throw its
        // What is late may come.
        if (its.kind === 'lags') await sleep(REORG_PAUSE_MS * attempt, asking.signal)
      }
      const again = { ...asking, patience: VANISHED_PATIENCE, avoid: liars }
      told = (await logs.byHash([header.hash], filter, again))[0] as ToldLogs
    }
  }

  /** What was told; where that is nothing and the bloom has it otherwise, what of all the block's logs passes. */
  async function lookedAt(
    header: FullHeader,
    { logs: its, by }: ToldLogs,
    filter: CompiledFilter,
    asking: Asking,
  ): Promise<EvmLog[] | NodeFault | 'unclear'> {
    if (its.length > 0) evidence.gave(by, header.number)
    if (its.length > 0 || !mayHaveLogs(header, filter)) return its
    const isSuspect = filter.falseAlarm(header.bloom ?? '') <= UNLIKELY
    const all = await evidence.allOf(by, header, isSuspect, asking)
    if (all === 'none') return evidence.fault(by, header)
    if (all === 'unclear') return all
    if (all === 'known') return its
    try {
      return readPassing(all, header.hash, filter, blameOn(by, chainName))
    } catch (error) {
      if (error instanceof NodeFault) return error
      throw error
    }
  }

  /** Logs that the block's bloom does not have must at least be in their transactions' receipts. */
  async function lieIn(
    header: FullHeader,
    its: readonly EvmLog[],
    before: readonly EvmLog[],
    asking: Asking,
  ): Promise<string | null> {
    const { bloom, number } = header
    if (its.some(({ blockNumber }) => blockNumber !== number))
      return `logs of ${header.hash} with a different block number`
    const indexes = new Set(its.map(({ logIndex }) => logIndex))
    if (before.some(({ logIndex }) => !indexes.has(logIndex))) return `fewer logs of ${header.hash} than before`
    if (bloom === null || witness.trustsWithout(bloom)) return null
    const strange = its.filter((log) => !isLogInBloom(log, bloom))
    if (strange.length === 0 || (await witness.confirms(header, strange, asking))) return null
    return 'a log missing from both the block bloom and its receipt'
  }

  return {
    async range(from, to, filter, asking) {
      const avoid = new Set<Endpoint>(asking.avoid)
      for (let attempt = 1; ; attempt++) {
        try {
          return await once(from, to, filter, { ...asking, avoid })
        } catch (error) {
          if (error instanceof WithoutLogs) avoid.add(error.endpoint)
          const fault = error instanceof WithoutLogs ? error.fault : error
          const mayPass = error instanceof WithoutLogs || (fault instanceof NodeFault && fault.kind === 'unknown_block')
          if (!mayPass || attempt >= REORG_ATTEMPTS) throw fault
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

/** Another endpoint may have them. */
class WithoutLogs extends Error {
  constructor(
    readonly endpoint: Endpoint,
    readonly fault: NodeFault,
  ) {
    super(fault.message)
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
