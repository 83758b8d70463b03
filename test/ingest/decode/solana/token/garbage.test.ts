/** Anyone can write account data: reading it gives valid facts or null. */
import { expect, it } from 'vitest'
import { TOKEN, TOKEN_2022 } from '../../../../../services/ingest/decode/solana/native-programs.js'
import { METAPLEX, readMetaplex } from '../../../../../services/ingest/decode/solana/token/metadata.js'
import { readMint } from '../../../../../services/ingest/decode/solana/token/mint.js'
import { ownerOf, readEpoch, riskOf } from '../../../../../services/ingest/decode/solana/token/token-risk.js'
import { createRandom, type Random } from '../../../../rig/market/random.js'
import { key } from '../anchor-calls.js'
import { startMachine } from './machine.js'
import { KODAMA, KODAMA_METADATA, PUMP_MINT, realAccount, USDC, USDC_METADATA } from './real-accounts.js'
import { createMint, extensions, writeMetadata } from './token-calls.js'

const MUTATIONS = 10_000

function mutated(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes)
  if (random.chance(0.1)) return copy.subarray(0, random.int(0, copy.length))
  if (random.chance(0.1)) return Buffer.concat([copy, Buffer.alloc(random.int(1, 300), random.int(0, 255))])
  for (let n = random.int(0, 4); n >= 0; n -= 1) copy[random.int(0, copy.length - 1)] = random.int(0, 255)
  return copy
}

/** A mint with every extension. */
function fullMint(): { address: string; data: Uint8Array } {
  const machine = startMachine(key('payer'))
  const [mint, user] = [key('full mint'), key('user')]
  const chosen = [
    ...[extensions.transferFee(user, 100, 5_000n), extensions.permanentDelegate(user), extensions.pausable(user)],
    ...[extensions.transferHook(user, user), extensions.frozenByDefault(), extensions.metadataPointer(mint)],
  ]
  const recipe = { program: TOKEN_2022, decimals: 6, mintAuthority: user, freezeAuthority: user }
  createMint(machine, mint, { ...recipe, extensions: chosen, roomLater: 400 })
  machine.run(writeMetadata(mint, user, user, { name: 'Full', symbol: 'FULL', uri: 'https://full.example' }))
  return { address: mint, data: machine.account(mint)?.data ?? new Uint8Array(0) }
}

it(`mutations of real accounts: ${MUTATIONS}`, () => {
  const random = createRandom(77)
  const full = fullMint()
  const samples = [
    ...[USDC, PUMP_MINT].map((address) => ({ address, data: realAccount(address).data })),
    ...[full, full, full],
    { address: USDC, data: realAccount(USDC_METADATA).data },
    { address: KODAMA, data: realAccount(KODAMA_METADATA).data },
  ]
  let [read, refused] = [0, 0]
  for (let n = 0; n < MUTATIONS; n += 1) {
    const { address, data } = random.pick(samples)
    const bytes = mutated(data, random)
    const owner = random.pick([TOKEN, TOKEN_2022, METAPLEX, key('stranger')])
    const mint = readMint({ owner, data: bytes }, address)
    const metadata = readMetaplex({ owner, data: bytes }, address)
    readEpoch({ owner, data: bytes })
    if (mint === null && metadata === null) refused += 1
    else read += 1
    if (mint === null) continue
    JSON.stringify([riskOf(mint, metadata, null), ownerOf(mint, metadata)])
    for (const text of [metadata, mint.extensions.metadata].flatMap((words) => [words?.name, words?.symbol]))
      if (text !== null && text !== undefined && (text.trim() === '' || text.includes('\u0000')))
        throw new Error(`mutation ${n} has the name ${JSON.stringify(text)}`)
  }
  expect(read).toBeGreaterThan(MUTATIONS / 20)
  expect(refused).toBeGreaterThan(MUTATIONS / 20)
})

it('random bytes of any length', () => {
  const random = createRandom(78)
  for (let n = 0; n < 1_000; n += 1) {
    const length = random.pick([random.int(0, 400), 82, 165, 166, 170, 355])
    const data = Uint8Array.from({ length }, () => random.int(0, 255))
    for (const owner of [TOKEN, TOKEN_2022, METAPLEX]) {
      readMint({ owner, data }, USDC)
      expect(readMetaplex({ owner, data }, USDC)).toBeNull()
    }
  }
})
