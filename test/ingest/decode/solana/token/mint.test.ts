/** Mints written by the real token programs, and some from mainnet. */
import { describe, expect, it } from 'vitest'
import {
  TOKEN,
  TOKEN_2022,
  WRAPPED_SOL,
  WRAPPED_SOL_2022,
} from '../../../../../services/ingest/decode/solana/native-programs.js'
import { type Mint, NO_EXTENSIONS, readMint } from '../../../../../services/ingest/decode/solana/token/mint.js'
import { createRandom } from '../../../../rig/market/random.js'
import { key } from '../anchor-calls.js'
import { startMachine } from './machine.js'
import { PUMP_MINT, realAccount, USDC } from './real-accounts.js'
import {
  burn,
  createMint,
  type Extension,
  extensions,
  mintTo,
  openAccount,
  pause,
  setAuthority,
  setTransferFee,
  setUpdateAuthority,
  wrap,
  writeMetadata,
} from './token-calls.js'

const machine = startMachine(key('payer'))
const [maker, freezer, user] = [key('maker'), key('freezer'), key('user')]
const words = { name: 'Rain Coin', symbol: 'RAIN', uri: 'https://rain.example/coin.json' }

let made = 0
const fresh = (): string => {
  made += 1
  return key(`made ${made}`)
}

function read(address: string): Mint | null {
  const account = machine.account(address)
  return account === null ? null : readMint(account, address)
}

function extended(...chosen: Extension[]): string {
  const mint = fresh()
  const recipe = { program: TOKEN_2022, decimals: 6, mintAuthority: maker, freezeAuthority: freezer }
  createMint(machine, mint, { ...recipe, extensions: chosen, roomLater: 400 })
  return mint
}

describe.each([
  ['Token', TOKEN],
  ['Token-2022', TOKEN_2022],
])('a mint of %s', (_, program) => {
  it('has its decimals and authorities, including a revoked one', () => {
    const mint = fresh()
    createMint(machine, mint, { program, decimals: 4, mintAuthority: maker, freezeAuthority: freezer })
    const reported = { program, decimals: 4, supplyRaw: 0n, mintAuthority: maker, freezeAuthority: freezer }
    expect(read(mint)).toEqual({ ...reported, extensions: NO_EXTENSIONS })
    machine.run(setAuthority(program, mint, 'mint', maker, user), setAuthority(program, mint, 'freeze', freezer, null))
    expect(read(mint)).toMatchObject({ mintAuthority: user, freezeAuthority: null })
    machine.run(setAuthority(program, mint, 'mint', user, null))
    expect(read(mint)).toMatchObject({ mintAuthority: null, freezeAuthority: null })
  })

  it('has a supply of minted minus burnt tokens, up to all 64 bits', () => {
    const random = createRandom(31)
    const [mint, account] = [fresh(), fresh()]
    createMint(machine, mint, { program, decimals: 0, mintAuthority: maker })
    openAccount(machine, program, account, mint, user)
    let supply = 0n
    for (let n = 0; n < 60; n += 1) {
      const isMinted = supply === 0n || random.chance(0.6)
      const most = isMinted ? 2n ** 64n - 1n - supply : supply
      const raw = (most * BigInt(random.int(1, 1000))) / 1000n
      machine.run(isMinted ? mintTo(program, mint, account, maker, raw) : burn(program, account, mint, user, raw))
      supply += isMinted ? raw : -raw
      expect(read(mint)?.supplyRaw).toBe(supply)
    }
  })

  it('is not a token account, an account of another program, or an uninitialised one', () => {
    const [mint, account] = [fresh(), fresh()]
    createMint(machine, mint, { program, decimals: 0, mintAuthority: maker })
    openAccount(machine, program, account, mint, user)
    expect(read(account)).toBeNull()
    const { data, lamports } = machine.account(mint) ?? { data: new Uint8Array(0), lamports: 0n }
    expect(readMint({ owner: maker, data }, mint)).toBeNull()
    machine.put(account, { owner: program, lamports, data: new Uint8Array(82) })
    expect(read(account)).toBeNull()
  })
})

describe('extensions of Token-2022', () => {
  it.each<[string, Extension, Partial<Mint['extensions']>]>([
    ['PermanentDelegate', extensions.permanentDelegate(user), { permanentDelegate: user }],
    ['DefaultAccountState', extensions.frozenByDefault(), { isFrozenByDefault: true }],
    ['NonTransferable', extensions.nonTransferable(), { isTransferable: false }],
    ['Pausable', extensions.pausable(user), { pausing: { authority: user, isPaused: false } }],
    ['TransferHook', extensions.transferHook(user, maker), { transferHook: { authority: user, program: maker } }],
    ['MetadataPointer', extensions.metadataPointer(user), { metadataAddress: user }],
    ['MintCloseAuthority', extensions.closeAuthority(user), {}],
    ['InterestBearingConfig', extensions.interestBearing(), {}],
  ])('%s', (name, extension, expected) => {
    expect(read(extended(extension))?.extensions).toEqual({ ...NO_EXTENSIONS, names: [name], ...expected })
  })

  it('a transfer fee, and the one that replaces it two epochs later', () => {
    const fee = { fromEpoch: 0n, maximumRaw: 5_000n, basisPoints: 100 }
    const mint = extended(extensions.transferFee(user, 100, 5_000n))
    expect(read(mint)?.extensions.transferFee).toEqual({ authority: user, withheldRaw: 0n, older: fee, newer: fee })
    machine.run(setTransferFee(mint, user, 250, 9n))
    const newer = { fromEpoch: 2n, maximumRaw: 9n, basisPoints: 250 }
    expect(read(mint)?.extensions.transferFee).toEqual({ authority: user, withheldRaw: 0n, older: fee, newer })
  })

  it('of a token account or an uninitialised mint are ignored: the byte before them is the account type', () => {
    const mint = extended(extensions.permanentDelegate(user))
    const account = machine.account(mint)
    const withKind = (kind: number) =>
      Uint8Array.from(account?.data ?? [], (byte, place) => (place === 165 ? kind : byte))
    const readable = [0, 1, 2].map((kind) => readMint({ owner: TOKEN_2022, data: withKind(kind) }, mint) !== null)
    expect(readable).toEqual([false, true, false])
  })

  it('pausable and paused', () => {
    const mint = extended(extensions.pausable(user))
    machine.run(pause(mint, user))
    expect(read(mint)?.extensions.pausing).toEqual({ authority: user, isPaused: true })
  })

  it('many at once, with metadata in the mint and its authority revoked', () => {
    const mint = fresh()
    const chosen = [
      ...[extensions.transferFee(null, 30, 1n), extensions.permanentDelegate(user), extensions.metadataPointer(mint)],
      ...[extensions.closeAuthority(user), extensions.pausable(user)],
    ]
    const recipe = { program: TOKEN_2022, decimals: 6, mintAuthority: maker }
    createMint(machine, mint, { ...recipe, extensions: chosen, roomLater: 400 })
    machine.run(writeMetadata(mint, user, maker, words))
    const metadata = { ...words, updateAuthority: user }
    expect(read(mint)?.extensions).toMatchObject({ metadata, metadataAddress: mint, permanentDelegate: user })
    expect(read(mint)?.extensions.names).toEqual([
      ...['TransferFeeConfig', 'PermanentDelegate', 'MetadataPointer', 'MintCloseAuthority', 'Pausable'],
      'TokenMetadata',
    ])
    machine.run(setUpdateAuthority(mint, user, null))
    expect(read(mint)?.extensions.metadata).toEqual({ ...words, updateAuthority: null })
  })

  it('names are cleaned: blank ones are null, long ones are truncated, and URIs that are too long are null', () => {
    const named = (name: string, uri: string) => {
      const mint = fresh()
      const recipe = { program: TOKEN_2022, decimals: 6, mintAuthority: maker, roomLater: 4_000 }
      createMint(machine, mint, { ...recipe, extensions: [extensions.metadataPointer(mint)] })
      machine.run(writeMetadata(mint, user, maker, { name, symbol: ' \u0000\n', uri }))
      return read(mint)?.extensions.metadata
    }
    expect(named(' Snow\u0000\u0007 ☃\n', '')).toEqual({
      name: 'Snow ☃',
      symbol: null,
      uri: null,
      updateAuthority: user,
    })
    expect(named('x', `https://x/${'y'.repeat(1_015)}`)).toMatchObject({ uri: null })
  })
})

describe('wrapped SOL', () => {
  it.each([
    ['Token', TOKEN, WRAPPED_SOL],
    ['Token-2022', TOKEN_2022, WRAPPED_SOL_2022],
  ])('of %s is a mint without authority whose supply is unknown', (_, program, mint) => {
    const account = fresh()
    openAccount(machine, program, account, mint, user)
    machine.run(...wrap(machine, program, account, 5_000_000_000n))
    expect(Buffer.from(machine.account(account)?.data ?? []).readBigUInt64LE(64)).toBe(5_000_000_000n)
    expect(read(mint)).toMatchObject({ decimals: 9, supplyRaw: 0n, mintAuthority: null, freezeAuthority: null })
  })
})

describe('mints from mainnet', () => {
  it('USDC', () => {
    expect(readMint(realAccount(USDC), USDC)).toEqual({
      ...{ program: TOKEN, decimals: 6, supplyRaw: 8_436_442_105_182_029n, extensions: NO_EXTENSIONS },
      mintAuthority: 'BJE5MMbqXjVwjAF7oxwPYXnTXDyspzZyt4vwenNw5ruG',
      freezeAuthority: '7dGbd2QZcCKcTndnHcTL8q7SMVXAkp688NTQYwrRCrar',
    })
  })

  it('of Pump.fun, with its metadata in the mint', () => {
    const metadata = {
      ...{ name: 'Doomed Rocket', symbol: 'DOOROC', updateAuthority: null },
      uri: 'https://ipfs.io/ipfs/QmNnswE3ms7rLmUyg2knMZcowkVvxeLnaPE7M7cGRYRBt5',
    }
    expect(readMint(realAccount(PUMP_MINT), PUMP_MINT)).toEqual({
      ...{ program: TOKEN_2022, decimals: 6, supplyRaw: 2_000_000_000_000_000n },
      ...{ mintAuthority: null, freezeAuthority: null },
      extensions: {
        ...NO_EXTENSIONS,
        ...{ names: ['MetadataPointer', 'TokenMetadata'], metadataAddress: PUMP_MINT, metadata },
      },
    })
    // Metadata that names another mint is ignored.
    expect(readMint(realAccount(PUMP_MINT), USDC)?.extensions.metadata).toBeNull()
  })
})
