/** Current facts of tokens from their mints and metadata: nodes have no history of accounts. */
import type { LockInspection } from '../../decode/lock-facts.js'
import { keyBytes } from '../../decode/solana/keys/derived-address.js'
import { WRAPPED_SOL, WRAPPED_SOL_2022 } from '../../decode/solana/native-programs.js'
import { type Metadata, metaplexAddress, readMetaplex } from '../../decode/solana/token/metadata.js'
import { type Mint, readMint } from '../../decode/solana/token/mint.js'
import { CLOCK, isTaxChanging, ownerOf, readEpoch, riskOf } from '../../decode/solana/token/token-risk.js'
import { RecentMap } from './recent-map.js'
import type { SlotReader, SolanaAccount } from './slot-block.js'

export type TokenFacts = {
  name: string | null
  symbol: string | null
  decimals: number
  totalSupply: bigint | null
  /** The strongest authority; null: none. */
  owner: string | null
  /** Under the API's names. */
  risk: Readonly<Record<string, unknown>>
  /** Address of more metadata; not read. */
  uri: string | null
}

export interface TokenFactsReader {
  /** By mint; omits addresses that are not mints. Node errors are passed on. */
  of(mints: Iterable<string>, signal: AbortSignal): Promise<Map<string, TokenFacts>>
  /** Read again, with what was found of their locks. */
  fresh(locks: ReadonlyMap<string, LockInspection>, signal: AbortSignal): Promise<Map<string, TokenFacts>>
}

const KEPT_MINTS = 100_000

/** `keptMints`: cache size. */
export function createTokenFacts(accounts: SlotReader['accounts'], keptMints = KEPT_MINTS): TokenFactsReader {
  const known = new RecentMap<string, TokenFacts>(keptMints)
  return {
    async of(mints, signal) {
      const facts = new Map<string, TokenFacts>()
      const asked: string[] = []
      for (const mint of new Set(mints)) {
        const found = known.get(mint)
        if (found !== undefined) facts.set(mint, found)
        // One invalid address fails the whole request.
        else if (keyBytes(mint) !== null) asked.push(mint)
      }
      for (const [mint, read] of await readFacts(asked, accounts, signal)) {
        known.set(mint, read)
        facts.set(mint, read)
      }
      return facts
    },
    async fresh(locks, signal) {
      const facts = await readFacts([...locks.keys()], accounts, signal, locks)
      for (const [mint, read] of facts) known.set(mint, read)
      return facts
    },
  }
}

/** At most two requests: the mints, then the accounts they refer to. */
async function readFacts(
  addresses: readonly string[],
  accounts: SlotReader['accounts'],
  signal: AbortSignal,
  locks: ReadonlyMap<string, LockInspection> = new Map(),
): Promise<Map<string, TokenFacts>> {
  const mints = new Map<string, Mint>()
  for (const [address, account] of await readAccounts(addresses, accounts, signal)) {
    const mint = readMint(account, address)
    if (mint !== null) mints.set(address, mint)
  }
  const elsewhere = new Map<string, string>()
  for (const [address, mint] of mints) {
    const place = placeOfMetadata(address, mint)
    if (place !== address && place !== null) elsewhere.set(address, place)
  }
  const isClockNeeded = [...mints.values()].some(({ extensions }) => isTaxChanging(extensions))
  const wanted = new Set([...elsewhere.values(), ...(isClockNeeded ? [CLOCK] : [])])
  const read = await readAccounts([...wanted], accounts, signal)
  const clock = read.get(CLOCK)
  const epoch = clock === undefined ? null : readEpoch(clock)
  const facts = new Map<string, TokenFacts>()
  for (const [address, mint] of mints) {
    const place = elsewhere.get(address)
    const account = place === undefined ? undefined : read.get(place)
    const metadata = account === undefined ? null : readMetaplex(account, address)
    const found = place === undefined ? mint.extensions.metadata : metadata
    facts.set(address, factsOf(address, mint, found, epoch, locks.get(address) ?? null))
  }
  return facts
}

/** A mint's metadata pointer is authoritative; Metaplex is used if the mint has neither pointer nor metadata. */
function placeOfMetadata(address: string, { extensions }: Mint): string | null {
  if (extensions.metadataAddress !== null) return extensions.metadataAddress
  return extensions.metadata === null ? metaplexAddress(address) : address
}

function factsOf(
  address: string,
  mint: Mint,
  metadata: Metadata | null,
  epoch: bigint | null,
  locks: LockInspection | null,
): TokenFacts {
  return {
    name: metadata?.name ?? null,
    symbol: metadata?.symbol ?? null,
    decimals: mint.decimals,
    // Wrapping creates tokens without minting: the mint's supply is always 0.
    totalSupply: address === WRAPPED_SOL || address === WRAPPED_SOL_2022 ? null : mint.supplyRaw,
    owner: ownerOf(mint, metadata),
    risk: riskOf(mint, metadata, epoch, locks),
    uri: metadata?.uri ?? null,
  }
}

/** Existing accounts only. */
async function readAccounts(
  addresses: readonly string[],
  accounts: SlotReader['accounts'],
  signal: AbortSignal,
): Promise<Map<string, SolanaAccount>> {
  if (addresses.length === 0) return new Map()
  const answers = await accounts(addresses, signal)
  const found = new Map<string, SolanaAccount>()
  for (const [place, address] of addresses.entries()) {
    const account = answers[place]
    if (account !== null && account !== undefined) found.set(address, account)
  }
  return found
}
