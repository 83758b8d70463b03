/** Current accounts, by address or by what is in them. */
import { Buffer } from 'node:buffer'
import { DextapeError } from '../../../../core/domain/errors.js'
import type { AccountList, ListedAccount } from '../../../decode/solana/locks/state-rounds.js'
import { isFields } from '../../../decode/solana/wire/shape.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { type Blame, blameOn } from '../../nodes/node-fault.js'
import type { SolanaAccount } from '../slot-block.js'
import {
  accountsRequest,
  isCount,
  programAccountsRequest,
  type TokenAccountList,
  tokenAccountsRequest,
} from './rpc-messages.js'

/** Maximum per request (agave, `MAX_MULTIPLE_ACCOUNTS`). */
const MAX_ADDRESSES = 100
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

export async function fetchAccounts(
  pool: EndpointPool,
  chain: string,
  { addresses, minSlot }: { addresses: readonly string[]; minSlot: number },
  asking: Asking,
): Promise<(SolanaAccount | null)[]> {
  const parts: (readonly string[])[] = []
  for (let first = 0; first < addresses.length; first += MAX_ADDRESSES)
    parts.push(addresses.slice(first, first + MAX_ADDRESSES))
  const answers = await pool.ask(
    parts.map((part) => accountsRequest(part, minSlot)),
    (result, place, endpoint) => readAccounts(result, parts[place]?.length ?? 0, blameOn(endpoint, chain)),
    { ...asking, maxBatch: 1 },
  )
  return answers.flat()
}

/** More are not read: no token has as many locks, and a hostile node must not fill the memory. */
const MAX_LISTED = 10_000

export async function fetchListed(
  pool: EndpointPool,
  chain: string,
  { list, minSlot }: { list: AccountList; minSlot: number },
  asking: Asking,
): Promise<readonly ListedAccount[]> {
  const [listed = []] = await pool.ask(
    [programAccountsRequest(list, minSlot)],
    (result, _place, endpoint) => readListed(result, MAX_LISTED, blameOn(endpoint, chain)),
    { ...asking, maxBatch: 1 },
  )
  return listed
}

/** Final, so that no reorg can undo what was read; `slot`: as of which it is. */
export type AtSlot<T> = { slot: number; value: T }

export async function fetchFinalAccount(
  pool: EndpointPool,
  chain: string,
  { address, minSlot }: { address: string; minSlot: number },
  asking: Asking,
): Promise<AtSlot<SolanaAccount | null>> {
  const [answer] = await pool.ask(
    [accountsRequest([address], minSlot, 'finalized')],
    (result, _place, endpoint) => {
      const blame = blameOn(endpoint, chain)
      const [account = null] = readAccounts(result, 1, blame)
      return { slot: readSlot(result, minSlot, blame), value: account }
    },
    asking,
  )
  if (answer === undefined) throw new Error('an answer is missing')
  return answer
}

/** All accounts of a token. Throws if there are more than `most`. */
export async function fetchTokenAccounts(
  pool: EndpointPool,
  chain: string,
  { list, minSlot, most }: { list: TokenAccountList; minSlot: number; most: number },
  asking: Asking,
): Promise<AtSlot<readonly ListedAccount[]>> {
  const [answer] = await pool.ask(
    [tokenAccountsRequest(list, minSlot)],
    (result, _place, endpoint) => {
      const blame = blameOn(endpoint, chain)
      const { value } = isFields(result) ? result : {}
      const count = Array.isArray(value) ? value.length : 0
      if (count > most) throw tooMany(chain, list.mint, count, most)
      const listed = readListed(value, most, blame, list.firstBytes)
      if (new Set(listed.map(({ address }) => address)).size < count) throw blame('lies', 'listed an account twice')
      return { slot: readSlot(result, minSlot, blame), value: listed }
    },
    asking,
  )
  if (answer === undefined) throw new Error('an answer is missing')
  return answer
}

function tooMany(chain: string, token: string, count: number, most: number): DextapeError {
  return new DextapeError({
    code: 'holders_too_many',
    what: `Token ${token} has ${count} accounts, more than ${most}: their balances are not read`,
    where: { chain },
    fix: `Remove it: dextape scope remove --chain ${chain} --holders ${token}. Holders that move are followed with balances: scoped.`,
  })
}

function readSlot(result: unknown, minSlot: number, blame: Blame): number {
  const { context } = isFields(result) ? result : {}
  const { slot } = isFields(context) ? context : {}
  if (!isCount(slot) || slot < minSlot) throw blame('lies', `returned accounts as of no slot from ${minSlot} on`)
  return slot
}

/** `firstBytes`: how much of each was requested; undefined: all. */
function readListed(result: unknown, most: number, blame: Blame, firstBytes?: number): ListedAccount[] {
  if (!Array.isArray(result) || result.length > most) throw blame('lies', 'did not return a list of accounts')
  return result.map((entry: unknown) => {
    const { pubkey, account } = isFields(entry) ? entry : {}
    if (typeof pubkey !== 'string') throw blame('lies', 'listed an account without its address')
    return { address: pubkey, ...readAccount(account, blame, firstBytes) }
  })
}

function readAccounts(result: unknown, count: number, blame: Blame): (SolanaAccount | null)[] {
  const { value } = isFields(result) ? result : {}
  if (!Array.isArray(value) || value.length !== count)
    throw blame('lies', `did not return the ${count} requested accounts`)
  return value.map((account) => (account === null ? null : readAccount(account, blame)))
}

function readAccount(value: unknown, blame: Blame, firstBytes = Number.POSITIVE_INFINITY): SolanaAccount {
  const { owner, lamports, data, space } = isFields(value) ? value : {}
  const [text, encoding] = Array.isArray(data) ? (data as unknown[]) : []
  if (typeof owner !== 'string' || !Number.isInteger(lamports) || (lamports as number) < 0)
    throw blame('lies', 'returned an account without its owner or lamports')
  if (typeof text !== 'string' || encoding !== 'base64' || text.length % 4 !== 0 || !BASE64.test(text))
    throw blame('lies', 'returned an account whose data is not base64')
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  if (isCount(space) && Math.min(space, firstBytes) !== bytes.length)
    throw blame('lies', `returned ${bytes.length} of an account’s ${space} bytes`)
  return { owner, lamports: BigInt(lamports as number), data: bytes }
}
