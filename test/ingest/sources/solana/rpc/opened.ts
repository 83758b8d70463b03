/** Nodes and readers of one test, closed after it. */
import { sleep } from '../../../../../services/core/runtime/backoff.js'
import { silentLogger } from '../../../../../services/core/runtime/logger.js'
import {
  createSlotReader,
  type RpcSlotReader,
  type SlotReaderOptions,
} from '../../../../../services/ingest/sources/solana/rpc/slot-reader.js'
import type { SlotChain } from './slot-chain.js'
import { type Interfere, type SlotNode, startSlotNode } from './slot-node.js'

const opened: (() => Promise<void>)[] = []

export async function closeAll(): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close()
}

export const toClose = (close: () => Promise<void>): void => void opened.push(close)

export async function nodeOf(chain: SlotChain, interfere?: Interfere): Promise<SlotNode> {
  const node = await startSlotNode(chain)
  if (interfere !== undefined) node.interfere = interfere
  opened.push(node.stop)
  return node
}

/** Pauses are short: only the retry matters here. */
export function readerOf(urls: string | string[], options: Partial<SlotReaderOptions> = {}): RpcSlotReader {
  const reader = createSlotReader({
    ...{ chain: 'solana', genesisHash: undefined, commitment: 'confirmed', logger: silentLogger },
    urls: typeof urls === 'string' ? [urls] : urls,
    sleep: (ms, until) => sleep(ms / 20, until),
    ...options,
  })
  opened.push(reader.close)
  return reader
}
