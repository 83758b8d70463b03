/** Requests for token facts and how answers are used; accounts are real, or written by the token programs. */
import { describe, expect, it } from 'vitest'
import { TOKEN_2022, WRAPPED_SOL, WRAPPED_SOL_2022 } from '../../../../services/ingest/decode/solana/native-programs.js'
import { METAPLEX, metaplexAddress } from '../../../../services/ingest/decode/solana/token/metadata.js'
import { CLOCK } from '../../../../services/ingest/decode/solana/token/token-risk.js'
import type { SlotReader, SolanaAccount } from '../../../../services/ingest/sources/solana/slot-block.js'
import { createTokenFacts } from '../../../../services/ingest/sources/solana/token-facts.js'
import { borsh, key } from '../../decode/solana/anchor-calls.js'
import { startMachine } from '../../decode/solana/token/machine.js'
import { PUMP_MINT, realAccounts, USDC, USDC_METADATA } from '../../decode/solana/token/real-accounts.js'
import { createMint, extensions, setTransferFee, writeMetadata } from '../../decode/solana/token/token-calls.js'

const { signal } = new AbortController()
const machine = startMachine(key('payer'))
for (const [address, account] of realAccounts()) machine.put(address, { ...account, lamports: 10n ** 9n })
const [maker, user] = [key('maker'), key('user')]
const recipe = { program: TOKEN_2022, decimals: 6, mintAuthority: maker }

/** The machine's accounts, and the addresses of each request. */
function counted(): { accounts: SlotReader['accounts']; asked: string[][] } {
  const asked: string[][] = []
  return {
    asked,
    accounts(addresses, stop) {
      asked.push([...addresses])
      return machine.accounts(addresses, stop)
    },
  }
}

/** Metaplex's program is not in a registry, so its layout is filled in (docs.rs, `mpl_token_metadata::accounts::Metadata`). */
function metaplexAccount(mint: string, name: string): SolanaAccount {
  const { u8, u16, text } = borsh
  const texts = [text(name), text('META'), text('')]
  const head = [u8(4), borsh.key(user), borsh.key(mint)]
  const data = Uint8Array.from(Buffer.concat([...head, ...texts, u16(0), u8(0), u8(0), u8(1)]))
  return { owner: METAPLEX, lamports: 10n ** 9n, data }
}

describe('facts', () => {
  it('of many mints take two requests: the mints, then metadata stored elsewhere', async () => {
    const { accounts, asked } = counted()
    const nowhere = key('nowhere')
    const facts = await createTokenFacts(accounts).of([USDC, PUMP_MINT, nowhere, USDC, USDC_METADATA], signal)
    expect(asked).toEqual([[USDC, PUMP_MINT, nowhere, USDC_METADATA], [USDC_METADATA]])
    expect([...facts.keys()]).toEqual([USDC, PUMP_MINT])
    expect(facts.get(USDC)).toMatchObject({
      ...{ name: 'USD Coin', symbol: 'USDC', decimals: 6, totalSupply: 8_436_442_105_182_029n, uri: null },
      owner: 'BJE5MMbqXjVwjAF7oxwPYXnTXDyspzZyt4vwenNw5ruG',
    })
    expect(facts.get(PUMP_MINT)).toMatchObject({
      ...{ name: 'Doomed Rocket', symbol: 'DOOROC', decimals: 6, totalSupply: 2_000_000_000_000_000n, owner: null },
      uri: 'https://ipfs.io/ipfs/QmNnswE3ms7rLmUyg2knMZcowkVvxeLnaPE7M7cGRYRBt5',
    })
  })

  it('are cached, except for mints that were not found or were evicted', async () => {
    const { accounts, asked } = counted()
    const reader = createTokenFacts(accounts, 2)
    const nowhere = key('nowhere')
    const [first] = [await reader.of([PUMP_MINT, nowhere], signal)]
    expect(await reader.of([PUMP_MINT, nowhere], signal)).toEqual(first)
    expect(asked).toEqual([[PUMP_MINT, nowhere], [nowhere]])
    const others = ['other 1', 'other 2'].map(key)
    for (const other of others)
      createMint(machine, other, { ...recipe, extensions: [extensions.metadataPointer(other)] })
    await reader.of(others, signal)
    await reader.of(others, signal)
    await reader.of([PUMP_MINT], signal)
    expect(asked.slice(2)).toEqual([others, [PUMP_MINT]])
  })

  it('of an invalid address are null, because a node would reject the whole request', async () => {
    const { accounts, asked } = counted()
    const facts = await createTokenFacts(accounts).of(['0xdac17f958d2ee523a2206206994597c13d831ec7', ''], signal)
    expect([facts.size, asked]).toEqual([0, []])
  })

  it('of wrapped SOL have no supply, and only the name of its metadata, here none', async () => {
    const facts = await createTokenFacts(machine.accounts).of([WRAPPED_SOL, WRAPPED_SOL_2022], signal)
    for (const mint of [WRAPPED_SOL, WRAPPED_SOL_2022])
      expect(facts.get(mint)).toMatchObject({ name: null, symbol: null, decimals: 9, totalSupply: null, owner: null })
  })

  it('that a node cannot return are its error', async () => {
    const broken = new Error('the node is away')
    const reader = createTokenFacts(() => Promise.reject(broken))
    await expect(reader.of([USDC], signal)).rejects.toBe(broken)
  })
})

describe('metadata of Token-2022', () => {
  const write = { name: 'Own', symbol: 'OWN', uri: 'https://own.example' }

  it('is where the mint points: itself, Metaplex’s account, or null if unreadable', async () => {
    const [own, pointing, astray] = [key('own'), key('pointing'), key('astray')]
    const place = metaplexAddress(pointing) ?? ''
    createMint(machine, own, { ...recipe, extensions: [extensions.metadataPointer(own)], roomLater: 400 })
    machine.run(writeMetadata(own, user, maker, write))
    createMint(machine, pointing, { ...recipe, extensions: [extensions.metadataPointer(place)] })
    machine.put(place, metaplexAccount(pointing, 'Pointed at'))
    // Points at USDC's metadata: borrowed names are rejected, and Metaplex's too if the mint names another account.
    createMint(machine, astray, { ...recipe, extensions: [extensions.metadataPointer(USDC_METADATA)] })
    machine.put(metaplexAddress(astray) ?? '', metaplexAccount(astray, 'Not meant'))
    const { accounts, asked } = counted()
    const facts = await createTokenFacts(accounts).of([own, pointing, astray], signal)
    expect(asked[1]).toEqual([place, USDC_METADATA])
    expect([own, pointing, astray].map((mint) => facts.get(mint)?.name)).toEqual(['Own', 'Pointed at', null])
  })

  it('may be Metaplex’s if the mint has no pointer', async () => {
    const mint = key('silent')
    createMint(machine, mint, { ...recipe, extensions: [extensions.closeAuthority(user)] })
    machine.put(metaplexAddress(mint) ?? '', metaplexAccount(mint, 'By Metaplex'))
    const facts = await createTokenFacts(machine.accounts).of([mint], signal)
    expect(facts.get(mint)).toMatchObject({ name: 'By Metaplex', symbol: 'META', uri: null })
  })
})

it('reads a fee that changes with the epoch using the chain’s clock', async () => {
  const mint = key('taxed')
  createMint(machine, mint, { ...recipe, extensions: [extensions.transferFee(user, 100, 10n ** 9n)] })
  machine.run(setTransferFee(mint, user, 500, 10n ** 9n))
  const { accounts, asked } = counted()
  const taxAt = async () => (await createTokenFacts(accounts).of([mint], signal)).get(mint)?.risk.transfer_tax
  expect(await taxAt()).toBe(0.01)
  machine.enterEpoch(2n)
  expect(await taxAt()).toBe(0.05)
  expect(asked[1]).toEqual([metaplexAddress(mint), CLOCK])
})
