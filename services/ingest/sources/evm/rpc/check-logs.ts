/** Checks that logs are those requested: inside the range, matching the filter, in order, without duplicates. */
import type { EvmLog } from '../../../decode/evm/log.js'
import type { Blame } from '../../nodes/node-fault.js'
import { LowerHex } from '../../nodes/pick-json.js'
import type { WireLog } from './answer-shapes.js'
import type { FullHeader } from './fetch-headers.js'
import { ADDRESS_CHARS, HASH_CHARS, lowerBytes, lowerWord, quantity } from './hex.js'
import type { CompiledFilter } from './log-filter.js'

export type AskedLogs = { from: number; to: number; hash?: string }

export function readLogs(result: unknown, asked: AskedLogs, filter: CompiledFilter, blame: Blame): EvmLog[] {
  if (!Array.isArray(result)) throw blame('lies', 'logs are not a list', asked.from)
  const logs = new Array<EvmLog>(result.length)
  let before: EvmLog | undefined
  for (let place = 0; place < result.length; place++) {
    const log = readLog(result[place], before, blame)
    checkAsked(log, asked, filter, blame)
    if (before !== undefined) checkOrder(before, log, blame)
    logs[place] = log
    before = log
  }
  return logs
}

function readLog(wire: WireLog | null, before: EvmLog | undefined, blame: Blame): EvmLog {
  if (typeof wire !== 'object' || wire === null) throw blame('lies', 'a log is not an object')
  const blockNumber = quantity(wire.blockNumber)
  const txIndex = quantity(wire.transactionIndex)
  const logIndex = quantity(wire.logIndex)
  if (blockNumber === null || txIndex === null || logIndex === null)
    throw blame('lies', 'a log without block number, transaction index or log index')
  if (wire.removed === true) throw blame('lies', 'a removed log', blockNumber)
  const address = lowerWord(wire.address, ADDRESS_CHARS)
  const data = wire.data instanceof LowerHex ? wire.data.text : lowerBytes(wire.data)
  const topics = readTopics(wire.topics)
  if (address === null || data === null || topics === null)
    throw blame('lies', `log ${logIndex} is malformed`, blockNumber)
  // Recurring strings are shared: otherwise most of a range's memory would be copies.
  const blockHash = wire.blockHash === before?.blockHash ? before?.blockHash : lowerWord(wire.blockHash, HASH_CHARS)
  const txHash = wire.transactionHash === before?.txHash ? before?.txHash : lowerWord(wire.transactionHash, HASH_CHARS)
  if (typeof blockHash !== 'string' || typeof txHash !== 'string')
    throw blame('lies', `log ${logIndex} has no block or transaction hash`, blockNumber)
  return { address, topics, data, blockNumber, blockHash, txHash, txIndex, logIndex }
}

/** Lower-cases in place. */
function readTopics(wire: unknown): string[] | null {
  if (!Array.isArray(wire) || wire.length > 4) return null
  for (let place = 0; place < wire.length; place++) {
    const topic = lowerWord(wire[place], HASH_CHARS)
    if (topic === null) return null
    wire[place] = topic
  }
  return wire
}

function checkAsked(log: EvmLog, asked: AskedLogs, filter: CompiledFilter, blame: Blame): void {
  if (log.blockNumber < asked.from || log.blockNumber > asked.to)
    throw blame('lies', `a log of block ${log.blockNumber} outside ${asked.from} to ${asked.to}`, log.blockNumber)
  if (asked.hash !== undefined && log.blockHash !== asked.hash)
    throw blame('lies', `a log of block ${log.blockHash} returned for ${asked.hash}`, log.blockNumber)
  const address = filter.address(log.address)
  if (address === undefined || filter.topic(log.topics[0]) === undefined)
    throw blame('lies', `log ${log.logIndex} does not pass the filter`, log.blockNumber)
  log.address = address
}

function checkOrder(before: EvmLog, log: EvmLog, blame: Blame): void {
  if (log.blockNumber < before.blockNumber)
    throw blame('lies', `logs of block ${log.blockNumber} after those of ${before.blockNumber}`, log.blockNumber)
  if (log.blockNumber > before.blockNumber) return
  if (log.blockHash !== before.blockHash)
    throw blame('lies', `two blocks with number ${log.blockNumber} in one response`, log.blockNumber)
  if (log.logIndex <= before.logIndex || log.txIndex < before.txIndex)
    throw blame('lies', `log ${log.logIndex} after log ${before.logIndex}`, log.blockNumber)
}

/** Why a block's logs are requested again, alone and by its hash. */
export type Doubt = 'other_block' | 'not_in_bloom' | 'empty' | 'cut'

/** Above this false-positive rate, a bloom match on an empty block proves nothing. */
const USELESS_BLOOM = 0.5
/** No provider silently truncates below this many logs. */
const SMALLEST_CAP = 100

/** Blocks of a range response that need a second look, by number. */
export function doubts(
  headers: readonly FullHeader[],
  logsOf: ReadonlyMap<number, readonly EvmLog[]>,
  filter: CompiledFilter,
  isLogInBloom: (log: EvmLog, bloom: string) => boolean,
): Map<number, Doubt> {
  const found = new Map<number, Doubt>()
  let count = 0
  let lastWithLogs: FullHeader | undefined
  for (const header of headers) {
    const logs = logsOf.get(header.number)
    if (logs === undefined) continue
    count += logs.length
    lastWithLogs = header
    if (logs[0]?.blockHash !== header.hash) found.set(header.number, 'other_block')
    else if (header.bloom !== null && !logs.every((log) => isLogInBloom(log, header.bloom as string)))
      found.set(header.number, 'not_in_bloom')
  }
  // A truncated response ends inside a block, or too early.
  if (lastWithLogs !== undefined && !found.has(lastWithLogs.number)) found.set(lastWithLogs.number, 'cut')
  const last = headers.at(-1)
  for (const header of headers) {
    const { number, bloom } = header
    if (logsOf.has(number) || (bloom !== null && !filter.mayPass(bloom))) continue
    const afterMany = count >= SMALLEST_CAP && number > (lastWithLogs?.number ?? 0)
    const isBloomUseful = bloom !== null && filter.falseAlarm(bloom) <= USELESS_BLOOM
    // A node that returns the last block by hash was not lagging.
    if (header === last || afterMany || isBloomUseful) found.set(number, 'empty')
  }
  return found
}
