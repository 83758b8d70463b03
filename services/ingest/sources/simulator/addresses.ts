/** Addresses and hashes in each family's form, spelled from random words. */
import type { ChainFamily } from '../../../core/domain/chains.js'
import { createRandom, type Random, wordOf } from './random.js'

const HEX = Array.from({ length: 65_536 }, (_, value) => value.toString(16).padStart(4, '0'))
const BASE58 = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 'latin1')
const scratch = Buffer.alloc(88)

/** 32 bytes are below 2^256 when their 44 digits begin with one of these many; 64 bytes in 88 digits likewise. */
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

/** The same for a seed whatever was drawn before: serial numbers name wallets, tokens and pools. */
export function createAddressBook(family: ChainFamily, seed: number, chain: string) {
  const random = createRandom()
  const chainWord = wordOf(chain)
  const known = new Map<string, string>()
  return (kind: string, serial: number): string => {
    const key = `${kind}${serial}`
    let address = known.get(key)
    if (address !== undefined) return address
    random.start(seed, chainWord, serial, wordOf(kind))
    address = spellAddress(family, random)
    known.set(key, address)
    if (known.size > MAX_KNOWN) known.clear()
    return address
  }
}

const MAX_KNOWN = 50_000

export type AddressBook = ReturnType<typeof createAddressBook>
