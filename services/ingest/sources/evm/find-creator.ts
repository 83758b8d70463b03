/** Who sent the transaction that created a token's contract, where the nodes still have the state from before it. */

import { ZERO_ADDRESS } from '../../../core/domain/chains.js'
import { addressAtEnd } from '../../decode/evm/abi/abi-words.js'
import { topicOf } from '../../decode/evm/abi/keccak.js'
import { TRANSFER } from '../../decode/evm/erc20.js'
import type { EvmLog } from '../../decode/evm/log.js'
import type { ChainReader, Header } from './chain-reader.js'
import { hasCodeAt } from './has-code.js'

/** How far back a creation is looked for, a power of two: nodes keep the state of 128 blocks, archive nodes all. */
export const SEARCHED_BLOCKS = { live: 64, archive: 8_192 }
/** Blocks asked about at once. */
const PROBES = 15

type Nodes = Pick<ChainReader, 'headerByNumber' | 'block' | 'senders' | 'state'>

/** Null: unknown. `at`: a block where the contract exists. */
export async function findCreator(
  token: string,
  at: Pick<Header, 'number'>,
  nodes: Nodes,
  searchedBlocks: number,
  signal: AbortSignal,
): Promise<string | null> {
  const created = await creationBlock()
  if (created === null) return null
  const { logs } = await nodes.block(created.hash, { addresses: [token], topics: [] }, signal)
  const [first] = logs
  if (first === undefined || !isOfCreation(first)) return null
  const senders = await nodes.senders([{ block: created, txHashes: [first.txHash] }], signal)
  return senders.get(first.txHash) ?? null

  /** The first block with its code: between one without and one with it, ever closer. */
  async function creationBlock(): Promise<Header | null> {
    let [without, having] = [-1, at.number]
    let probes = Array.from({ length: Math.log2(searchedBlocks) + 1 }, (_, power) => at.number - 2 ** power)
    do {
      const wanted = probes.filter((number) => number >= 0)
      const found = await Promise.all(wanted.map((number) => hasCodeAt(token, number, nodes, signal)))
      for (const [place, number] of wanted.entries()) {
        if (found[place] === false) without = Math.max(without, number)
        else if (found[place] === true) having = Math.min(having, number)
      }
      if (without < 0 || found.every((one) => one === null)) return null
      const step = Math.max(1, Math.ceil((having - without) / (PROBES + 1)))
      probes = Array.from({ length: PROBES }, (_, n) => without + (n + 1) * step).filter((number) => number < having)
    } while (having - without > 1)
    return nodes.headerByNumber(having, signal)
  }
}

const OWNER_SET = topicOf('OwnershipTransferred(address,address)')

/** Constructors mint or set the owner. Another first log may be of a later transaction in the block. */
function isOfCreation({ topics }: EvmLog): boolean {
  const [topic, from = ''] = topics
  return (topic === TRANSFER || topic === OWNER_SET) && addressAtEnd(from) === ZERO_ADDRESS
}
