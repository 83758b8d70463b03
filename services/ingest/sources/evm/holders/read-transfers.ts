/** Reads all transfers of a token from its creation on, in ranges that suit their density and the nodes' limits. */
import { DextapeError } from '../../../../core/domain/errors.js'
import type { Logger } from '../../../../core/runtime/logger.js'
import type { DecodeRules } from '../../../decode/evm/block/decode-rules.js'
import { followedTransfers } from '../../../decode/evm/block/transfers.js'
import { TRANSFER, WRAPPING_TOPICS } from '../../../decode/evm/erc20.js'
import type { EvmLog } from '../../../decode/evm/log.js'
import type { ChainReader } from '../chain-reader.js'
import { hasCodeAt } from '../has-code.js'
import type { KeptSums, Moves } from './transfer-sums.js'

export type TransferNodes = Pick<ChainReader, 'head' | 'headerByNumber' | 'logs' | 'state'>

export type TransferReading = {
  chain: string
  token: string
  nodes: TransferNodes
  rules: DecodeRules
  logger: Logger
  progressMs: number
  nowMs: () => number
}

const FIRST_RANGE = 10_000
const WIDEST_RANGE = 160_000
/** A range with more logs is followed by a smaller one. */
const MANY_LOGS = 20_000

/** They are in memory until all balances are read. */
const MOST_ADDRESSES = 500_000

/** `finalOf`: the last final block as seen from a head. Resolves when all transfers up to a final block are in. */
export async function readHistory(
  reading: TransferReading,
  kept: KeptSums,
  finalOf: (head: number) => number,
  signal: AbortSignal,
): Promise<void> {
  const { chain, token, nodes, logger, progressMs, nowMs } = reading
  let next = (kept.throughBlock ?? (await beforeCreation(token, nodes, signal))) + 1
  let loggedMs = nowMs()
  let range = FIRST_RANGE
  for (;;) {
    const head = (await nodes.head(signal)).number
    const final = finalOf(head)
    if (next > final) {
      // So that a restart finds the list, even an empty one.
      if (kept.throughBlock === undefined) kept.add([], Math.min(next - 1, final))
      return
    }
    const last = Math.min(final, next + range - 1)
    const logs = await readLogs(reading, next, last, signal)
    kept.add(transfersIn(reading, logs), last)
    if (kept.sums.size > MOST_ADDRESSES) throw tooMany(chain, token)
    next = last + 1
    range = logs.length > MANY_LOGS ? Math.max(1, Math.floor(range / 2)) : Math.min(WIDEST_RANGE, range * 2)
    if (nowMs() - loggedMs < progressMs) continue
    loggedMs = nowMs()
    logger.info('reading the transfers of a token', { chain, token, block: last, head, addresses_done: kept.sums.size })
  }
}

function tooMany(chain: string, token: string): DextapeError {
  return new DextapeError({
    code: 'holders_too_many',
    what: `Token ${token} was held by more than ${MOST_ADDRESSES} addresses: their balances are not read`,
    where: { chain },
    fix: `Remove it: dextape scope remove --chain ${chain} --holders ${token}. Holders that move are followed with balances: scoped.`,
  })
}

export async function readTransfers(
  reading: TransferReading,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Moves[]> {
  return from > to ? [] : transfersIn(reading, await readLogs(reading, from, to, signal))
}

async function readLogs(
  { token, nodes, rules }: TransferReading,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<EvmLog[]> {
  if (nodes.logs === undefined) throw new Error('the nodes cannot be asked for logs of a range')
  const topics = [TRANSFER, ...(token === rules.contracts.wrappedNative ? WRAPPING_TOPICS : [])]
  return nodes.logs(from, to, { addresses: [token], topics }, signal)
}

const transfersIn = ({ rules }: TransferReading, logs: readonly EvmLog[]): Moves[] =>
  followedTransfers({ logs }, () => false, rules).map(({ transfer }) => transfer)

/** The last block without the token's contract; -1 where the nodes do not have old state. */
async function beforeCreation(token: string, nodes: TransferNodes, signal: AbortSignal): Promise<number> {
  let [without, having] = [-1, (await nodes.head(signal)).number]
  while (having - without > 1) {
    const middle = Math.floor((without + having) / 2)
    const hasCode = await hasCodeAt(token, middle, nodes, signal)
    if (hasCode === null) return -1
    if (hasCode) having = middle
    else without = middle
  }
  return without
}
