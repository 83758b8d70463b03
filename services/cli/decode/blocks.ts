/** Groups input values into whole blocks, in order. Only the current block is in memory. */
import type { EvmBlock, EvmLog } from '../../ingest/decode/evm/log.js'
import { BadShape, type RawLog, readLogs } from '../../ingest/decode/evm/raw-logs.js'
import { badInput, type InputValue } from './input.js'

/** `removed`: number of its logs removed by a reorg. */
export type InputBlock = { block: EvmBlock; removed: number }

export async function* inputBlocks(values: AsyncIterable<InputValue>, name: string): AsyncGenerator<InputBlock> {
  let open: OpenBlock | undefined
  for await (const { value, line } of values) {
    for (const raw of inOrder(logsOf(value, line))) {
      const { blockNumber, blockHash } = raw.log
      if (open !== undefined && blockNumber > open.number) {
        yield close(open)
        open = undefined
      }
      open ??= { number: blockNumber, hash: blockHash, logs: new Map(), senders: new Map(), removed: 0 }
      if (blockNumber < open.number)
        throw badInput(name, line, `block ${blockNumber} comes after block ${open.number}; sort the lines by block`)
      if (blockHash !== open.hash)
        throw badInput(name, line, `block ${blockNumber} has two hashes, ${open.hash} and ${blockHash}`)
      add(open, raw, line)
    }
  }
  if (open !== undefined) yield close(open)

  function logsOf(value: unknown, line: number): RawLog[] {
    try {
      return readLogs(value)
    } catch (error) {
      throw error instanceof BadShape ? badInput(name, line, error.message) : error
    }
  }

  function add(block: OpenBlock, { log, from, removed }: RawLog, line: number): void {
    if (removed) {
      block.removed += 1
      return
    }
    const twin = block.logs.get(log.logIndex)
    if (twin !== undefined && JSON.stringify(twin) !== JSON.stringify(log))
      throw badInput(name, line, `block ${log.blockNumber} has two different logs ${log.logIndex}`)
    block.logs.set(log.logIndex, log)
    if (from !== undefined) block.senders.set(log.txHash, from)
  }
}

type OpenBlock = {
  number: number
  hash: string
  logs: Map<number, EvmLog>
  senders: Map<string, string>
  removed: number
}

/** One response may hold many blocks, in any order. */
function inOrder(logs: RawLog[]): RawLog[] {
  return logs.sort((a, b) => a.log.blockNumber - b.log.blockNumber || a.log.logIndex - b.log.logIndex)
}

function close({ number, hash, logs, senders, removed }: OpenBlock): InputBlock {
  const sorted = [...logs.values()].sort((a, b) => a.logIndex - b.logIndex)
  return { block: { number, hash, parentHash: '', timeS: 0, logs: sorted, senders }, removed }
}
