/**
 * Blocks with their logs: headers and logs are requested in parallel, and what does not match is requested again by
 * block hash.
 */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { EvmLog } from '../../../decode/evm/log.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking } from '../../nodes/endpoint-pool.js'
import { blameOn, NodeFault } from '../../nodes/node-fault.js'
import type { CheckedBlock } from '../chain-reader.js'
import { type Doubt, doubts } from './check-logs.js'
import type { FullHeader, HeaderFetcher } from './fetch-headers.js'
import { type AnsweredLogs, type LogFetcher, type LogPiece, readPassing } from './fetch-logs.js'
import { type LogEvidence, mayHaveLogs, type ReceiptWitness } from './log-evidence.js'
import { type CompiledFilter, createBloomCache, isInBloom } from './log-filter.js'
import type { ListedSenders } from './sender-ways.js'

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
  /** Whether to request blocks with their transactions. */
  wantsWhole: () => boolean
  nowMs: () => number
  sleep: Sleep
}

/** Retries of a range when a block vanished between two requests. */
const REORG_ATTEMPTS = 5
const REORG_PAUSE_MS = 200
const LIE_ATTEMPTS = 4
/** Below this false-positive rate, an empty answer that contradicts the bloom is double-checked. */
const UNLIKELY = 0.1
/** Long enough for one node to catch up with another, short enough to give up on an orphaned block. */
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

  /** A node that has a block's logs has those of later blocks, so only blocks before the first returned log are checked. */
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

  /** Requests the doubtful blocks by hash and replaces their logs. */
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
      const its = await verifiedLogs(header, answers[place] as AnsweredLogs, filter, asking, before)
      if (its.length === 0) logsOf.delete(header.number)
      else logsOf.set(header.number, its)
    }
  }

  /** The block's logs as answered, unless they contradict the block: then as another endpoint answers. */
  async function verifiedLogs(
    header: FullHeader,
    first: AnsweredLogs,
    filter: CompiledFilter,
    asking: Asking,
    before: readonly EvmLog[] = [],
  ): Promise<EvmLog[]> {
    const distrusted = new Set<Endpoint>()
    let answered = first
    for (let attempt = 1; ; attempt++) {
      const lie = await contradictionIn(header, answered.logs, before, asking)
      const fault = lie === null ? null : (blameOn(answered.by, chainName)('lies', lie, header.number) as NodeFault)
      const its = fault ?? (await checkedAgainstBloom(header, answered, filter, asking))
      if (Array.isArray(its)) return its
      if (its === 'unclear') {
        if (attempt >= LIE_ATTEMPTS) return answered.logs
      } else {
        answered.by.health.failed(its, nowMs())
        distrusted.add(answered.by)
        if (attempt >= LIE_ATTEMPTS) throw its
        // A lagging node may catch up.
        if (its.kind === 'lags') await sleep(REORG_PAUSE_MS * attempt, asking.signal)
      }
      const again = { ...asking, patience: VANISHED_PATIENCE, avoid: distrusted }
      answered = (await logs.byHash([header.hash], filter, again))[0] as AnsweredLogs
    }
  }

  /** The logs as answered; if empty although the bloom says otherwise, the matching ones among all of the block's logs. */
  async function checkedAgainstBloom(
    header: FullHeader,
    { logs: its, by }: AnsweredLogs,
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

  /** Logs missing from the block's bloom must at least be in their transactions' receipts. */
  async function contradictionIn(
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
      const [header, [answered]] = await Promise.all([
        headers.byHash(hash, patient),
        logs.byHash([hash], filter, patient),
      ])
      const { number, parentHash, timeS } = header
      return {
        number,
        hash,
        parentHash,
        timeS,
        logs: await verifiedLogs(header, answered as AnsweredLogs, filter, asking),
      }
    },
  }
}

/** This endpoint lacks the logs; another may have them. */
class WithoutLogs extends Error {
  constructor(
    readonly endpoint: Endpoint,
    readonly fault: NodeFault,
  ) {
    super(fault.message)
  }
}

/** Logs of a transaction are adjacent. */
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
