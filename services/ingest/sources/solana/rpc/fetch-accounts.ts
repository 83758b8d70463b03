/** Current accounts, by address or by what is in them. */
import { Buffer } from 'node:buffer'
import type { AccountList, ListedAccount } from '../../../decode/solana/locks/state-rounds.js'
import { isFields } from '../../../decode/solana/wire/shape.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { type Blame, blameOn } from '../../nodes/node-fault.js'
import type { SolanaAccount } from '../slot-block.js'
import { accountsRequest, isCount, programAccountsRequest } from './rpc-messages.js'

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
    (result, _place, endpoint) => readListed(result, blameOn(endpoint, chain)),
    { ...asking, maxBatch: 1 },
  )
  return listed
}

function readListed(result: unknown, blame: Blame): ListedAccount[] {
  if (!Array.isArray(result) || result.length > MAX_LISTED) throw blame('lies', 'did not return a list of accounts')
  return result.map((entry: unknown) => {
    const { pubkey, account } = isFields(entry) ? entry : {}
    if (typeof pubkey !== 'string') throw blame('lies', 'listed an account without its address')
    return { address: pubkey, ...readAccount(account, blame) }
  })
}

function readAccounts(result: unknown, count: number, blame: Blame): (SolanaAccount | null)[] {
  const { value } = isFields(result) ? result : {}
  if (!Array.isArray(value) || value.length !== count)
    throw blame('lies', `did not return the ${count} requested accounts`)
  return value.map((account) => (account === null ? null : readAccount(account, blame)))
}

function readAccount(value: unknown, blame: Blame): SolanaAccount {
  const { owner, lamports, data, space } = isFields(value) ? value : {}
  const [text, encoding] = Array.isArray(data) ? (data as unknown[]) : []
  if (typeof owner !== 'string' || !Number.isInteger(lamports) || (lamports as number) < 0)
    throw blame('lies', 'returned an account without its owner or lamports')
  if (typeof text !== 'string' || encoding !== 'base64' || text.length % 4 !== 0 || !BASE64.test(text))
    throw blame('lies', 'returned an account whose data is not base64')
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  if (isCount(space) && space !== bytes.length)
    throw blame('lies', `returned ${bytes.length} of an account’s ${space} bytes`)
  return { owner, lamports: BigInt(lamports as number), data: bytes }
}
