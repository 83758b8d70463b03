/** An in-memory chain behind the reader's interface that forks at chosen moments, which a real node cannot do. */
import { setTimeout } from 'node:timers/promises'
import { keccak_256 } from '@noble/hashes/sha3'
import { bytesToHex } from '@noble/hashes/utils'
import { DextapeError } from '../../../../services/core/domain/errors.js'
import { topicOf } from '../../../../services/ingest/decode/evm/abi/keccak.js'
import type { EvmLog } from '../../../../services/ingest/decode/evm/log.js'
import type { ChainReader, CheckedBlock, Header } from '../../../../services/ingest/sources/evm/chain-reader.js'
import { createRandom } from '../../../rig/market/random.js'

export const FACTORY = `0x${'f'.repeat(40)}`
const SIGNER = `0x${'5'.repeat(40)}`

const hashOf = (text: string) => `0x${bytesToHex(keccak_256(text))}`
const addressOf = (text: string) => `0x${hashOf(text).slice(26)}`
const word = (value: number | bigint) => value.toString(16).padStart(64, '0')
const topic = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}`

const PAIR_CREATED = topicOf('PairCreated(address,address,address,uint256)')
const SYNC = topicOf('Sync(uint112,uint112)')
const SWAP = topicOf('Swap(address,uint256,uint256,uint256,uint256,address)')
const MINT = topicOf('Mint(address,uint256,uint256)')

export class ForkingChain {
  /** Canonical blocks, by height from 0. */
  blocks: CheckedBlock[] = []
  private readonly known = new Map<string, CheckedBlock>()
  private readonly random
  private names = 0
  /** Returned by the next answers instead of the head. */
  staleHeads: Header[] = []

  constructor(seed: number) {
    this.random = createRandom(seed)
    this.append(20)
  }

  /** Pools and reserves depend on the blocks before, so that a fork may create others at the same heights. */
  private poolsOf(blocks: readonly CheckedBlock[]): string[] {
    return blocks.flatMap(({ logs }) =>
      logs.flatMap((log) => (log.topics[0] === PAIR_CREATED ? [`0x${log.data.slice(26, 66)}`] : [])),
    )
  }

  append(count: number): void {
    for (let i = 0; i < count; i += 1) {
      const parent = this.blocks.at(-1)
      const number = this.blocks.length
      this.names += 1
      const hash = hashOf(`block ${this.names} ${this.random.next()}`)
      const header = {
        ...{ number, hash, parentHash: parent?.hash ?? hashOf('nothing') },
        timeS: 1_700_000_000 + number * 4 + Math.floor(this.random.next() * 3),
      }
      const block = { ...header, logs: this.logsOf(header) }
      this.blocks.push(block)
      this.known.set(hash, block)
    }
  }

  private logsOf({ number, hash }: Header): EvmLog[] {
    const logs: EvmLog[] = []
    const { next } = this.random
    const add = (tx: number, address: string, topics: string[], words: (number | bigint)[]) => {
      const data = `0x${words.map(word).join('')}`
      const txHash = hashOf(`${hash} ${tx}`)
      logs.push({
        address,
        topics,
        data,
        blockNumber: number,
        blockHash: hash,
        txHash,
        txIndex: tx,
        logIndex: logs.length,
      })
    }
    if (number === 0) return logs
    const pools = this.poolsOf(this.blocks)
    let tx = 0
    if (pools.length === 0 || next() < 0.1) {
      const pool = addressOf(`pool ${number} ${next()}`)
      const tokens = [addressOf(`a ${pool}`), addressOf('money')].sort() as [string, string]
      add(tx, FACTORY, [PAIR_CREATED, topic(tokens[0]), topic(tokens[1])], [BigInt(pool), pools.length + 1])
      add(tx, pool, [SYNC], [1_000_000, 2_000_000])
      add(tx, pool, [MINT, topic(SIGNER)], [1_000_000, 2_000_000])
      tx += 1
    }
    for (const pool of pools) {
      if (next() > 0.3) continue
      const amount = 1 + Math.floor(next() * 1000)
      add(tx, pool, [SYNC], [1_000_000 + amount, 2_000_000 - amount])
      // Some Syncs come without a swap, like after a donation.
      if (next() < 0.8) add(tx, pool, [SWAP, topic(SIGNER), topic(SIGNER)], [amount, 0, 0, amount])
      tx += 1
    }
    return logs
  }

  /** Orphans the last `depth` blocks and replaces them with `length` others. */
  fork(depth: number, length: number): void {
    this.blocks = this.blocks.slice(0, -depth)
    this.append(length)
  }

  /** Runs `meddle` between two answers. */
  reader(meddle: () => void): ChainReader {
    const answer = <T>(value: () => T): Promise<T> => {
      meddle()
      return Promise.resolve(value())
    }
    const headerOf = ({ number, hash, parentHash, timeS }: Header): Header => ({ number, hash, parentHash, timeS })
    const last = () => this.staleHeads.shift() ?? headerOf(this.blocks.at(-1) as CheckedBlock)
    const away = (what: string) => new DextapeError({ code: 'node_lags', what, retry: true })
    return {
      head: () => answer(last),
      async *heads(signal) {
        while (!signal.aborted) {
          yield await answer(last)
          await setTimeout(1)
        }
      },
      // Like some nodes: orphaned blocks are forgotten.
      headerByHash: (hash) =>
        answer(() => {
          const block = this.known.get(hash)
          return block !== undefined && this.blocks[block.number]?.hash === hash ? headerOf(block) : null
        }),
      headerByNumber: (number) =>
        answer(() => {
          const block = this.blocks[number]
          return block === undefined ? null : headerOf(block)
        }),
      finalized: () => answer(() => null),
      blocks: (from, to) =>
        answer(() => {
          const found = this.blocks.slice(from, to + 1)
          if (found.length < to - from + 1) throw away(`no block ${to}`)
          return found
        }),
      block: (hash) =>
        answer(() => {
          const block = this.known.get(hash)
          if (block === undefined || this.blocks[block.number]?.hash !== hash) throw away(`no block ${hash}`)
          return block
        }),
      senders: (wanted) => answer(() => new Map(wanted.flatMap(({ txHashes }) => txHashes.map((tx) => [tx, SIGNER])))),
      call: (calls) => answer(() => calls.map(() => null)),
      async close() {},
    }
  }
}
