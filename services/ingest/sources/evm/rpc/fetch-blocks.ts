/** Blocks with their logs: headers and logs are asked for side by side, and what does not fit is asked for again by its hash. */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { EvmLog } from '../../../decode/evm/log.js'
import type { CheckedBlock } from '../chain-reader.js'
import { createBloomCache, isInBloom } from './bloom.js'
import type { FullHeader } from './check-headers.js'
import { type Doubt, doubts } from './check-logs.js'
import type { Asking, EndpointPool } from './endpoint-pool.js'
import type { HeaderFetcher } from './fetch-headers.js'
import type { LogFetcher, LogPiece } from './fetch-logs.js'
import type { CompiledFilter } from './log-filter.js'
import { NodeFault } from './node-fault.js'
import type { ReceiptWitness } from './receipt-witness.js'

export interface BlockFetcher {
  range(from: number, to: number, filter: CompiledFilter, asking: Asking): Promise<CheckedBlock[]>
  byHash(hash: string, filter: CompiledFilter, asking: Asking): Promise<CheckedBlock>
}

export type BlockFetcherOptions = {
  pool: EndpointPool
  headers: HeaderFetcher
  logs: LogFetcher
  witness: ReceiptWitness
  sleep: Sleep
}

/** A block that vanished between two questions: the range is read anew. */
const REORG_ATTEMPTS = 5
const REORG_PAUSE_MS = 200
/** Long enough for a node to catch up with another, short enough for a block that was orphaned. */
const VANISHED_PATIENCE = { attempts: 6, ms: 5_000 }

export function createBlockFetcher({ pool, headers, logs, witness, sleep }: BlockFetcherOptions): BlockFetcher {
  const bitsOf = createBloomCache()

  function isLogInBloom({ address, topics }: EvmLog, bloom: string): boolean {
    const [first] = topics
    return isInBloom(bloom, bitsOf(address)) && (first === undefined || isInBloom(bloom, bitsOf(first)))
  }

  async function once(from: number, to: number, filter: CompiledFilter, asking: Asking): Promise<CheckedBlock[]> {
    const [chain, pieces] = await Promise.all([headers.range(from, to, asking), logs.range(from, to, filter, asking)])
    const logsOf = byNumber(pieces)
    const found = new Map<number, Doubt>()
    for (const piece of pieces) {
      const part = chain.slice(piece.from - from, piece.to - from + 1)
      for (const [number, doubt] of doubts(part, logsOf, filter, isLogInBloom)) found.set(number, doubt)
    }
    await settle(chain, found, logsOf, filter, asking)
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
    if (doubtful.length === 0) return
    const hashes = doubtful.map(({ hash }) => hash)
    const answers = await logs.byHash(hashes, filter, { ...asking, patience: VANISHED_PATIENCE })
    for (const [place, header] of doubtful.entries()) {
      const answer = answers[place] ?? []
      if (answer.length === 0) logsOf.delete(header.number)
      else logsOf.set(header.number, answer)
      await confirm(header, answer, asking)
    }
  }

  /** Logs that the block's bloom does not have must at least be in their transactions' receipts. */
  async function confirm(header: FullHeader, of: readonly EvmLog[], asking: Asking): Promise<void> {
    const { bloom, number } = header
    if (of.some(({ blockNumber }) => blockNumber !== number)) throw contradiction(pool, header)
    if (bloom === null || witness.trustsWithout(bloom)) return
    const strange = of.filter((log) => !isLogInBloom(log, bloom))
    if (strange.length > 0) await witness.confirm(header, strange, asking)
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
      const [header, [found = []]] = await Promise.all([
        headers.byHash(hash, patient),
        logs.byHash([hash], filter, patient),
      ])
      await confirm(header, found, asking)
      const { number, parentHash, timeS } = header
      return { number, hash, parentHash, timeS, logs: found }
    },
  }
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

function contradiction(pool: EndpointPool, { number, hash }: FullHeader): NodeFault {
  const endpoint = pool.endpoints.map(({ name }) => name).join(', ')
  return new NodeFault({ kind: 'lies', endpoint, detail: `logs of ${hash} with another number`, block: number })
}
