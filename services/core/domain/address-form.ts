/** What an address looks like on chains of each family, to tell ids that cannot exist from ids that are not known yet. */
import type { ChainFamily } from './chains.js'

/** A pair may also be a pool id, or a bonding curve without a pool address. */
export type AddressKind = 'token' | 'pair'

/** A bonding curve without a pool address is `<token>_fo`. */
const CURVE_SUFFIX = '_fo'

/** Why no token or pair on a chain of this family can have this address; undefined: it can. */
export function addressProblem(family: ChainFamily, address: string, kind: AddressKind): string | undefined {
  const isCurve = kind === 'pair' && address.endsWith(CURVE_SUFFIX)
  const bare = isCurve ? address.slice(0, -CURVE_SUFFIX.length) : address
  if (family === 'solana') return solanaProblem(bare)
  return evmProblem(bare, kind === 'pair' && !isCurve)
}

const ADDRESS_DIGITS = 40
/** Uniswap V4 and Balancer name pools by a hash. */
const POOL_ID_DIGITS = 64

function evmProblem(address: string, mayBePoolId: boolean): string | undefined {
  if (!/^0x/i.test(address)) return 'expected a 0x prefix'
  const digits = address.slice(2)
  const wrong = /[^0-9a-f]/i.exec(digits)?.[0]
  if (wrong !== undefined) return `"${wrong}" is not a hexadecimal digit`
  if (digits.length === ADDRESS_DIGITS || (mayBePoolId && digits.length === POOL_ID_DIGITS)) return undefined
  const poolId = mayBePoolId ? ` (${POOL_ID_DIGITS} for a pool id)` : ''
  return `expected ${ADDRESS_DIGITS} hexadecimal digits after 0x${poolId}, got ${digits.length}`
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const KEY_BYTES = 32

function solanaProblem(address: string): string | undefined {
  const wrong = [...address].find((letter) => !BASE58.includes(letter))
  const hint = address === address.toLowerCase() ? '; upper and lower case matter' : ''
  if (wrong !== undefined) return `"${wrong}" is not a base58 character${hint}`
  const bytes = base58Bytes(address)
  return bytes === KEY_BYTES ? undefined : `expected ${KEY_BYTES} bytes in base58, got ${bytes}${hint}`
}

/** So many digits fit into a number. */
const DIGITS_PER_STEP = 9

/** The number of bytes a base58 text stands for; each leading 1 is a zero byte. */
function base58Bytes(text: string): number {
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  let value = 0n
  for (let at = zeros; at < text.length; at += DIGITS_PER_STEP) {
    const digits = text.slice(at, at + DIGITS_PER_STEP)
    const step = [...digits].reduce((sum, letter) => sum * 58 + BASE58.indexOf(letter), 0)
    value = value * BigInt(58 ** digits.length) + BigInt(step)
  }
  return zeros + (value === 0n ? 0 : Math.ceil(value.toString(16).length / 2))
}
