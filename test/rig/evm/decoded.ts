/** Runs a chain's logs through the decoders alone, from its first block, and returns the final state of every pool. */

import type { EvmLog } from '../../../services/ingest/decode/evm/log.js'
import type { ChainContracts, Protocol, VenueEvent } from '../../../services/ingest/decode/evm/protocol.js'
import { PROTOCOLS } from '../../../services/ingest/decode/evm/protocols.js'
import type { Venue, VenueState } from '../../../services/ingest/decode/evm/venue.js'
import { knownContracts } from './contracts.js'
import type { OpenMarket } from './opening.js'
import type { ChainLog } from './truth.js'

export type Followed = { venue: Venue; protocol: Protocol; state: VenueState; events: VenueEvent[] }

export async function decodeChain(market: OpenMarket): Promise<Map<string, Followed>> {
  const { node, contracts } = market
  const chain: ChainContracts = {
    wrappedNative: contracts.tokens.weth.address,
    contracts: new Map(knownContracts(contracts).map((contract) => [contract.address, contract])),
    named: new Set(),
  }
  const logs = await node.rpc<ChainLog[]>('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])
  const followed = new Map<string, Followed>()
  let touched = new Set<Followed>()
  let transaction = ''
  const settle = () => {
    for (const one of touched) keep(one, one.protocol.settle?.(one.venue, one.state))
    touched = new Set()
  }
  for (const log of logs.map(evmLog)) {
    if (log.txHash !== transaction) settle()
    transaction = log.txHash
    for (const protocol of PROTOCOLS) {
      follow(protocol, log, chain, followed)
      const venue = protocol.topics.includes(log.topics[0] ?? '') ? protocol.venueOf(log) : null
      const one = followed.get(venue ?? '')
      if (one === undefined || one.protocol !== protocol) continue
      keep(one, protocol.apply(log, one.venue, one.state))
      touched.add(one)
    }
  }
  settle()
  return followed
}

function follow(protocol: Protocol, log: EvmLog, chain: ChainContracts, followed: Map<string, Followed>): void {
  const contract = chain.contracts.get(log.address)
  if (contract?.protocol !== protocol.name || !protocol.creationTopics.includes(log.topics[0] ?? '')) return
  const venue = protocol.created(log, contract, chain)
  if (venue !== null) followed.set(venue.id, { venue, protocol, state: protocol.emptyState(venue), events: [] })
}

function keep(one: Followed, applied: ReturnType<Protocol['apply']> | undefined): void {
  if (applied === undefined) return
  one.state = applied.state
  one.events.push(...applied.events)
}

export function evmLog(log: ChainLog): EvmLog {
  return {
    address: log.address.toLowerCase(),
    topics: log.topics.map((topic) => topic.toLowerCase()),
    data: log.data.toLowerCase(),
    blockNumber: Number(log.blockNumber),
    blockHash: log.blockHash,
    txHash: log.transactionHash,
    txIndex: Number(log.transactionIndex),
    logIndex: Number(log.logIndex),
  }
}
