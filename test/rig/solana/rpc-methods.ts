/** Answers of a node of the simulated chain, method by method, following agave's `rpc/src/rpc.rs`. */
import type { SolanaAccount } from '../../../services/ingest/sources/solana/slot-block.js'
import { accountAnswer, knownMints, type Mint, mintAccount } from './accounts.js'
import { type BlockOptions, blockAnswer } from './block-answer.js'
import type { Ledger, LedgerBlock } from './ledger.js'
import { type ListConfig, listAccounts } from './program-accounts.js'
import * as errors from './rpc-errors.js'

export const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const MOST_SLOTS = 500_000
const MOST_ACCOUNTS = 100
const VERSION = { 'solana-core': '2.2.16', 'feature-set': 3073396398 }

export type NodeOptions = {
  genesisHash?: string
  /** Older blocks are pruned. */
  firstSlot?: number
  /** Old blocks come from long-term storage, which has a different error for a skipped slot. */
  hasLongTermStorage?: boolean
  /** How many slots the node is behind the chain. */
  behindSlots?: () => number
  /** Accounts besides those of the chain's transactions. */
  mints?: ReadonlyMap<string, Mint>
  /** Accounts as of the end of a slot's block, which `getProgramAccounts` lists; undefined: the node refuses to. */
  accountsAt?: (slot: number) => ReadonlyMap<string, SolanaAccount>
}

type Config = BlockOptions & { commitment?: string; minContextSlot?: number }

export type Methods = (method: string, params: readonly unknown[]) => unknown

export function createMethods(ledger: Ledger, options: NodeOptions = {}): Methods {
  const { genesisHash = MAINNET_GENESIS, firstSlot = 0, hasLongTermStorage = false, behindSlots = () => 0 } = options
  const mints = new Map([...knownMints(), ...(options.mints ?? [])])

  /** The newest block this node has. */
  const tip = (): LedgerBlock => {
    const limit = ledger.tip.slot - behindSlots()
    return ledger.blocks.findLast(({ slot }) => slot <= limit) ?? ledger.tip
  }
  const finalized = (): number => Math.min(ledger.finalizedSlot, tip().slot)
  const headOf = ({ commitment = 'finalized', minContextSlot }: Config): number => {
    const slot = commitment === 'finalized' ? finalized() : tip().slot
    if (minContextSlot !== undefined && slot < minContextSlot) throw errors.minContextSlot(slot)
    return slot
  }
  const context = (config: Config) => ({ apiVersion: VERSION['solana-core'], slot: headOf(config) })
  const atLeastConfirmed = ({ commitment }: Config): void => {
    if (commitment === 'processed') throw errors.invalidParams('Method does not support commitment below `confirmed`')
  }

  function blockAt(slot: number, config: Config): LedgerBlock {
    atLeastConfirmed(config)
    if (slot > headOf(config)) throw errors.notAvailable(slot)
    if (slot < firstSlot) throw errors.cleanedUp(slot, firstSlot)
    const block = ledger.blockAt(slot)
    if (block !== undefined) return block
    // Above the final slot, a node cannot know yet that a slot was skipped.
    if (slot >= finalized()) throw errors.notAvailable(slot)
    throw hasLongTermStorage ? errors.skippedInStorage(slot) : errors.slotSkipped(slot)
  }

  function slotsFrom(from: number, to: number, config: Config): number[] {
    atLeastConfirmed(config)
    const last = Math.min(to, headOf(config))
    const first = Math.max(from, firstSlot)
    return ledger.blocks.map(({ slot }) => slot).filter((slot) => slot >= first && slot <= last)
  }

  const methods: Record<string, (params: readonly unknown[]) => unknown> = {
    getGenesisHash: () => genesisHash,
    getVersion: () => VERSION,
    getHealth() {
      const behind = ledger.tip.slot - tip().slot
      // The default of `--health-check-slot-distance`.
      if (behind > 128) throw errors.nodeBehind(behind)
      return 'ok'
    },
    getSlot: ([config]) => headOf(configOf(config)),
    getBlockHeight: ([config]) => ledger.blockAt(headOf(configOf(config)))?.blockHeight,
    getFirstAvailableBlock: () => Math.max(firstSlot, ledger.blocks[0]?.slot ?? 0),
    getBlocks([from, second, third]) {
      const hasEnd = typeof second === 'number'
      const config = configOf(hasEnd ? third : (second ?? third))
      const start = slotOf(from)
      const end = Math.min(hasEnd ? second : start + MOST_SLOTS, headOf(config))
      if (end - start > MOST_SLOTS) throw errors.invalidParams(`Slot range too large; max ${MOST_SLOTS}`)
      return slotsFrom(start, end, config)
    },
    getBlocksWithLimit([from, limit, config]) {
      if (slotOf(limit) > MOST_SLOTS) throw errors.invalidParams(`Limit too large; max ${MOST_SLOTS}`)
      return slotsFrom(slotOf(from), Number.POSITIVE_INFINITY, configOf(config)).slice(0, slotOf(limit))
    },
    getBlock([slot, second]) {
      const config = configOf(typeof second === 'string' ? { encoding: second } : second)
      return blockAnswer(blockAt(slotOf(slot), config), config)
    },
    getBlockTime: ([slot]) => blockAt(slotOf(slot), { commitment: 'confirmed' }).blockTimeS,
    getMultipleAccounts([addresses, config]) {
      if (!Array.isArray(addresses)) throw errors.invalidParams('Invalid params: invalid type')
      if (addresses.length > MOST_ACCOUNTS) throw errors.invalidParams(`Too many inputs provided; max ${MOST_ACCOUNTS}`)
      const at = context(configOf(config))
      return { context: at, value: addresses.map((address) => accountOf(String(address), at.slot)) }
    },
    getAccountInfo([address, config]) {
      const at = context(configOf(config))
      return { context: at, value: accountOf(String(address), at.slot) }
    },
    getProgramAccounts([programId, config]) {
      const { accountsAt } = options
      if (accountsAt === undefined) throw errors.excludedFromIndex(String(programId))
      const at = context(configOf(config))
      const listed = listAccounts(accountsAt(at.slot), String(programId), configOf(config) as ListConfig)
      return (configOf(config) as ListConfig).withContext === true ? { context: at, value: listed } : listed
    },
  }
  return (method, params) => {
    const answer = methods[method]
    if (answer === undefined) throw errors.methodNotFound()
    return answer(params)
  }

  function accountOf(address: string, slot: number) {
    const account = options.accountsAt?.(slot).get(address)
    if (account !== undefined) return accountAnswer(account)
    const mint = mints.get(address)
    return mint === undefined ? null : mintAccount(address, mint)
  }
}

function configOf(value: unknown): Config {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object') throw errors.invalidParams(`Invalid params: invalid type: ${typeof value}`)
  return value
}

function slotOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw errors.invalidParams(`Invalid params: invalid type: ${JSON.stringify(value)}, expected u64.`)
  return value
}
