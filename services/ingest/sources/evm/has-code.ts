import { isPruned } from '../nodes/node-fault.js'
import type { ChainReader } from './chain-reader.js'

/** Whether a contract exists at a block. Null: the nodes do not have the block or its state. */
export async function hasCodeAt(
  address: string,
  number: number,
  nodes: Pick<ChainReader, 'headerByNumber' | 'state'>,
  signal: AbortSignal,
): Promise<boolean | null> {
  const header = await nodes.headerByNumber(number, signal)
  if (header === null) return null
  try {
    const [code = null] = (await nodes.state?.([{ kind: 'code', address }], header, signal)) ?? []
    return code === null ? null : code !== '0x'
  } catch (error) {
    if (isPruned(error)) return null
    throw error
  }
}
