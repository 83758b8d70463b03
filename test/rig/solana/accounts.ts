/** Mint accounts of the tokens in the chain's transactions, in spl-token's layout, with decimals from the transactions. */
import { decodeBase58 } from '../../../services/ingest/decode/solana/keys/base58.js'
import { TOKEN, WRAPPED_SOL } from '../../../services/ingest/decode/solana/native-programs.js'
import type { SolanaAccount } from '../../../services/ingest/sources/solana/slot-block.js'
import { MOVED_TOKEN } from './block-content.js'
import { MOVING_TOKEN } from './moving-pool.js'
import { everyInJson } from './recorded/transactions.js'
import { keyFrom, randomFrom } from './seeded.js'

export type AccountAnswer = {
  data: [text: string, encoding: 'base64']
  executable: boolean
  lamports: number
  owner: string
  rentEpoch: number
  space: number
}

export type Mint = { decimals: number; programId: string }

const MINT_BYTES = 82
const LAMPORTS = 1_461_600
/** The highest 64-bit number, as JSON parsers read it. */
const RENT_EPOCH = 18446744073709552000

type TokenBalance = { mint: string; programId?: string; uiTokenAmount: { decimals?: number } }

/** Every mint with a balance in the chain's transactions. */
export function knownMints(): Map<string, Mint> {
  const mints = new Map<string, Mint>([
    [WRAPPED_SOL, { decimals: 9, programId: TOKEN }],
    // The dollar tokens of the built-in chain.
    ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', { decimals: 6, programId: TOKEN }],
    ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', { decimals: 6, programId: TOKEN }],
    [MOVING_TOKEN, { decimals: 6, programId: TOKEN }],
    [MOVED_TOKEN.mint, { decimals: MOVED_TOKEN.decimals, programId: TOKEN }],
  ])
  for (const { value } of everyInJson()) {
    const { preTokenBalances = [], postTokenBalances = [] } = value.meta as Record<string, TokenBalance[] | undefined>
    for (const { mint, programId = TOKEN, uiTokenAmount } of [...preTokenBalances, ...postTokenBalances])
      mints.set(mint, { decimals: uiTokenAmount.decimals ?? 0, programId })
  }
  return mints
}

export function accountAnswer({ owner, lamports, data }: SolanaAccount, slice = { offset: 0, length: data.length }) {
  const part = Buffer.from(data).subarray(slice.offset, slice.offset + slice.length)
  return {
    data: [part.toString('base64'), 'base64'],
    ...{ executable: false, lamports: Number(lamports), owner, rentEpoch: RENT_EPOCH, space: data.length },
  } satisfies AccountAnswer
}

export function mintAccount(mint: string, { decimals, programId }: Mint): AccountAnswer {
  const bytes = Buffer.alloc(MINT_BYTES)
  // A mint authority is present if the flag before it is 1.
  const random = randomFrom(`mint ${mint}`)
  if (random.chance(0.3)) {
    bytes.writeUInt32LE(1, 0)
    bytes.set(decodeBase58(keyFrom(`authority of ${mint}`)), 4)
  }
  bytes.writeBigUInt64LE(BigInt(random.int(1, 1_000_000_000)) * 10n ** BigInt(Math.min(decimals, 9)), 36)
  bytes.writeUInt8(decimals, 44)
  bytes.writeUInt8(1, 45)
  return {
    data: [bytes.toString('base64'), 'base64'],
    executable: false,
    lamports: LAMPORTS,
    owner: programId,
    rentEpoch: RENT_EPOCH,
    space: MINT_BYTES,
  }
}
