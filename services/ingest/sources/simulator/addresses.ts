/** Random addresses and hashes in each family's form. */
import type { ChainFamily } from '../../../core/domain/chains.js'
import { createRandom, type Random, wordOf } from './random.js'

const HEX = Array.from({ length: 65_536 }, (_, value) => value.toString(16).padStart(4, '0'))
const BASE58 = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 'latin1')
const scratch = Buffer.alloc(88)

/** 44 digits are below 2^256 if the first is one of these; likewise 88 digits for 64 bytes. */
const KEY = { length: 44, firstDigits: 16 }
const SIGNATURE = { length: 88, firstDigits: 4 }

function hex(random: Random, words: number): string {
  let text = '0x'
  for (let at = 0; at < words; at += 1) {
    const word = random.word()
    text += (HEX[word >>> 16] ?? '') + (HEX[word & 0xffff] ?? '')
  }
  return text
}

function base58(random: Random, { length, firstDigits }: typeof KEY): string {
  scratch[0] = BASE58[1 + (random.word() % firstDigits)] ?? 0
  let word = 0
  for (let at = 1; at < length; at += 1) {
    if (at % 5 === 1) word = random.word()
    scratch[at] = BASE58[word % 58] ?? 0
    word = Math.floor(word / 58)
  }
  return scratch.toString('latin1', 0, length)
}

export const spellAddress = (family: ChainFamily, random: Random): string =>
  family === 'evm' ? hex(random, 5) : base58(random, KEY)

export const spellBlockHash = (family: ChainFamily, random: Random): string =>
  family === 'evm' ? hex(random, 8) : base58(random, KEY)

export const spellTxHash = (family: ChainFamily, random: Random): string =>
  family === 'evm' ? hex(random, 8) : base58(random, SIGNATURE)

export type AddressBook = (kind: string, serial: number) => string

/** Cached addresses of each kind; others are computed again. */
const MAX_KNOWN = 20_000

/** Depends only on the seed and the serial number of a wallet, token or pool. */
export function createAddressBook(family: ChainFamily, seed: number, chain: string): AddressBook {
  const random = createRandom()
  const chainWord = wordOf(chain)
  const kinds = new Map<string, Map<number, string>>()
  return (kind, serial) => {
    let known = kinds.get(kind)
    if (known === undefined || known.size > MAX_KNOWN) {
      known = new Map()
      kinds.set(kind, known)
    }
    let address = known.get(serial)
    if (address !== undefined) return address
    random.start(seed, chainWord, serial, wordOf(kind))
    address = spellAddress(family, random)
    known.set(serial, address)
    return address
  }
}
