import { describe, expect, it } from 'vitest'
import { TOKEN } from '../../../../../services/ingest/decode/solana/native-programs.js'
import { METAPLEX, metaplexAddress, readMetaplex } from '../../../../../services/ingest/decode/solana/token/metadata.js'
import { borsh, key } from '../anchor-calls.js'
import { KODAMA, KODAMA_METADATA, realAccount, USDC, USDC_METADATA } from './real-accounts.js'

describe('metadata from mainnet', () => {
  it('USDC, without an address', () => {
    expect(readMetaplex(realAccount(USDC_METADATA), USDC)).toEqual({
      ...{ name: 'USD Coin', symbol: 'USDC', uri: null },
      updateAuthority: '2wmVCSfPxGPjrnMMn7rchp4uaeoTqN39mXFC2zhPdri9',
    })
  })

  it('KODAMA0, with creators before the mutability flag', () => {
    expect(readMetaplex(realAccount(KODAMA_METADATA), KODAMA)).toEqual({
      ...{ name: 'KODAMA0', symbol: 'KODAMA' },
      uri: 'https://arweave.net/Ef2m3emO0G-yZYgelNWJe_I6xQm3s17-70Fu1xu5Udc',
      updateAuthority: 'AwaQ2ms2pcgV82AWRdtwRxHv7XTSussEtRX5jBjySzSA',
    })
  })

  it('is null for another mint, another program or another account kind', () => {
    const account = realAccount(USDC_METADATA)
    expect(readMetaplex(account, KODAMA)).toBeNull()
    expect(readMetaplex({ ...account, owner: TOKEN }, USDC)).toBeNull()
    const data = Uint8Array.from(account.data)
    data[0] = 6
    expect(readMetaplex({ ...account, data }, USDC)).toBeNull()
  })
})

/** The layout since strings are no longer padded (docs.rs, `mpl_token_metadata::accounts::Metadata`). */
function written(isMutable: boolean, name: string): Uint8Array {
  const { u8, u16, text } = borsh
  const texts = [text(name), text('SHORT'), text('ar://short')]
  const rest = [u16(0), u8(0), u8(1), u8(isMutable ? 1 : 0), u8(0), u8(1), u8(2), u8(0), u8(0)]
  return Uint8Array.from(Buffer.concat([u8(4), borsh.key(key('updater')), borsh.key(key('mint')), ...texts, ...rest]))
}

describe('strings without padding', () => {
  const read = (data: Uint8Array) => readMetaplex({ owner: METAPLEX, data }, key('mint'))

  it('are read the same; immutable metadata has no authority', () => {
    const words = { name: 'Short', symbol: 'SHORT', uri: 'ar://short' }
    expect(read(written(true, 'Short'))).toEqual({ ...words, updateAuthority: key('updater') })
    expect(read(written(false, 'Short'))).toEqual({ ...words, updateAuthority: null })
  })

  it('of only zeros are null', () => {
    expect(read(written(true, '\u0000'.repeat(32)))).toMatchObject({ name: null, symbol: 'SHORT' })
  })
})

it('has an address that can be derived', () => {
  expect(metaplexAddress(USDC)).toBe(USDC_METADATA)
  expect(metaplexAddress(KODAMA)).toBe(KODAMA_METADATA)
  expect(metaplexAddress('0xdac17f958d2ee523a2206206994597c13d831ec7')).toBeNull()
})
