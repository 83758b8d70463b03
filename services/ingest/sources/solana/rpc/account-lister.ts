/**
 * Lists accounts through endpoints of its own: many nodes refuse such requests or take minutes for them, and neither may keep blocks
 * waiting.
 */
import type { ListedAccount } from '../../../decode/solana/locks/state-rounds.js'
import type { Asking, PatienceOptions } from '../../nodes/endpoint-pool.js'
import { blameOn } from '../../nodes/node-fault.js'
import { openNodes } from '../../nodes/open-nodes.js'
import type { SolanaAccount } from '../slot-block.js'
import { type AtSlot, fetchFinalAccount, fetchTokenAccounts } from './fetch-accounts.js'
import { readError } from './read-error.js'
import { isCount, slotRequest, type TokenAccountList } from './rpc-messages.js'
import { clusterIdentity, type SlotReaderOptions } from './slot-reader.js'

export interface AccountLister {
  /** The last final slot. */
  finalSlot(signal: AbortSignal): Promise<number>
  /** As of a final slot, `minSlot` or later. */
  account(address: string, minSlot: number, signal: AbortSignal): Promise<AtSlot<SolanaAccount | null>>
  tokenAccounts(list: TokenAccountList, minSlot: number, signal: AbortSignal): Promise<AtSlot<readonly ListedAccount[]>>
  close(): void
}

export type AccountListerOptions = Pick<SlotReaderOptions, 'chain' | 'urls' | 'maxRps' | 'logger' | 'genesisHash'> & {
  mostAccounts?: number
}

/** About 300 bytes of JSON each. */
const MOST_ACCOUNTS = 250_000
/** A node behind a balancer may be a slot behind the one that was asked before. */
const PATIENCE: PatienceOptions = { attempts: 10, ms: 300_000 }
/** A node without an index by mint searches all accounts of the program. */
const TIMEOUT_MS = 120_000

export function createAccountLister({ mostAccounts = MOST_ACCOUNTS, ...options }: AccountListerOptions): AccountLister {
  const { chain } = options
  const nodes = openNodes({ ...options, patience: PATIENCE, timeoutMs: TIMEOUT_MS }, { readError, maxInFlight: 1 })
  const { pool } = nodes
  let checked: Promise<void> | undefined

  async function asking(signal: AbortSignal): Promise<Asking> {
    checked ??= nodes.start(clusterIdentity(options.genesisHash), signal)
    await checked.catch((error: unknown) => {
      checked = undefined
      throw error
    })
    return { signal: nodes.live(signal), urgent: false }
  }

  return {
    async finalSlot(signal) {
      const [slot = 0] = await pool.ask(
        [slotRequest('finalized')],
        (result, _place, endpoint) => {
          if (isCount(result)) return result
          throw blameOn(endpoint, chain)('lies', 'returned an invalid slot')
        },
        await asking(signal),
      )
      return slot
    },
    account: async (address, minSlot, signal) =>
      fetchFinalAccount(pool, chain, { address, minSlot }, await asking(signal)),
    tokenAccounts: async (list, minSlot, signal) =>
      fetchTokenAccounts(pool, chain, { list, minSlot, most: mostAccounts }, await asking(signal)),
    close: () => nodes.close(),
  }
}
