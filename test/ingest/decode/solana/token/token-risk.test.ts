/** The risk flags of a mint, from real mints with each authority and extension. */
import { describe, expect, it } from 'vitest'
import { TOKEN, TOKEN_2022 } from '../../../../../services/ingest/decode/solana/native-programs.js'
import { readMetaplex } from '../../../../../services/ingest/decode/solana/token/metadata.js'
import { type Mint, readMint } from '../../../../../services/ingest/decode/solana/token/mint.js'
import { ownerOf, riskOf } from '../../../../../services/ingest/decode/solana/token/token-risk.js'
import { key } from '../anchor-calls.js'
import { startMachine } from './machine.js'
import { PUMP_MINT, realAccount, USDC, USDC_METADATA } from './real-accounts.js'
import { createMint, type Extension, extensions, pause, setAuthority, setTransferFee } from './token-calls.js'

const machine = startMachine(key('payer'))
const [maker, user] = [key('maker'), key('user')]

/** A mint without any authority. */
const HARMLESS = {
  ...{ is_mintable: 0, has_mint_method: 0, has_black_method: 0, has_white_method: 0, transfer_pausable: 0 },
  ...{ owner_change_balance: 0, external_call: 0, slippage_modifiable: 0, cannot_buy: 0, cannot_sell_all: 0 },
  ...{ buy_tax: 0, sell_tax: 0, transfer_tax: 0, has_not_renounced: 0, can_take_back_ownership: 0 },
}

const OWNED = { has_not_renounced: 1 }

function mintOf(address: string): Mint {
  const account = machine.account(address)
  const mint = account === null ? null : readMint(account, address)
  if (mint === null) throw new Error(`${address} is no mint`)
  return mint
}

/** A mint without a mint authority. */
function finished(name: string, extension: Extension, freezeAuthority?: string): string {
  const mint = key(name)
  const recipe = { program: TOKEN_2022, decimals: 6, mintAuthority: maker, extensions: [extension] }
  createMint(machine, mint, freezeAuthority === undefined ? recipe : { ...recipe, freezeAuthority })
  machine.run(setAuthority(TOKEN_2022, mint, 'mint', maker, null))
  return mint
}

function risk(mint: string, epoch: bigint | null = 0n): Record<string, unknown> {
  const { risk_info, is_honeypot, risk_score, risk_level, ...facts } = riskOf(mintOf(mint), null, epoch)
  return facts
}

/** The score, whether it is a honeypot, and why. */
function judged(mint: Mint, metadata: Parameters<typeof riskOf>[1] = null, epoch: bigint | null = 0n) {
  const { is_honeypot, risk_score, risk_info } = riskOf(mint, metadata, epoch)
  return [risk_score, is_honeypot, ...(risk_info as { reasons: string[] }).reasons]
}

describe('the score', () => {
  it.each<[string, Extension, unknown[]]>([
    [
      'permanent delegate',
      extensions.permanentDelegate(user),
      [60, -1, 'an account may move or burn the tokens of every holder'],
    ],
    [
      'transfer hook',
      extensions.transferHook(user, maker),
      [
        60,
        -1,
        'a program is called with every transfer and may refuse it',
        'the program called with transfers can be changed',
      ],
    ],
    ['pausable', extensions.pausable(user), [25, -1, 'transfers can be paused']],
    ['non-transferable', extensions.nonTransferable(), [100, 1, 'it cannot be transferred']],
    ['fee', extensions.transferFee(null, 250, 9n), [20, 0, 'a fee takes 2.5 % of a transfer']],
    ['fee of everything', extensions.transferFee(null, 10_000, 9n), [60, 1, 'a fee takes 100 % of a transfer']],
    ['close authority', extensions.closeAuthority(user), [0, 0]],
  ])('of a mint with: %s', (name, extension, expected) => {
    expect(judged(mintOf(finished(`scored ${name}`, extension)))).toEqual(expected)
  })

  it('is never that of a safe token where something is unknown', () => {
    const mint = mintOf(finished('unknown', extensions.closeAuthority(user)))
    const odd = { ...mint, extensions: { ...mint.extensions, names: ['99'] } }
    expect(judged(odd)).toEqual([30, 0, 'it has extensions of unknown purpose: 99'])
    const changing = finished('unknown epoch', extensions.transferFee(user, 100, 9n))
    machine.run(setTransferFee(changing, user, 500, 9n))
    const reasons = ['the transfer fee can be changed', 'the transfer fee depends on an epoch that is not known']
    expect(judged(mintOf(changing), null, null)).toEqual([45, -1, ...reasons])
    expect(riskOf(mintOf(changing), null, null).risk_info).toMatchObject({
      unchecked: ['is_honeypot', 'buy_tax', 'sell_tax', 'transfer_tax', 'is_lp_not_locked'],
    })
  })

  it('tells a name that can be changed', () => {
    const mint = mintOf(finished('renamed', extensions.closeAuthority(user)))
    const metadata = { name: 'A', symbol: 'A', uri: null, updateAuthority: user }
    expect(judged(mint, metadata)).toEqual([5, 0, 'its name and links can be changed'])
    expect(riskOf(mint, metadata, 0n).risk_info).toMatchObject({ is_metadata_mutable: true })
    expect(riskOf(mint, { ...metadata, updateAuthority: null }, 0n).risk_info).toMatchObject({
      is_metadata_mutable: false,
    })
  })
})

describe('risk flags', () => {
  it.each<[string, Extension, object]>([
    ['a permanent delegate', extensions.permanentDelegate(user), { owner_change_balance: 1, ...OWNED }],
    ['a program called with transfers', extensions.transferHook(user, maker), { external_call: 1, ...OWNED }],
    ['a pause authority', extensions.pausable(user), { transfer_pausable: 1, ...OWNED }],
    ['no transfers at all', extensions.nonTransferable(), { cannot_buy: 1, cannot_sell_all: 1 }],
    [
      'a permanent fee',
      extensions.transferFee(null, 250, 9n),
      { buy_tax: 0.025, sell_tax: 0.025, transfer_tax: 0.025 },
    ],
    ['a fee with a maximum of zero', extensions.transferFee(null, 250, 0n), {}],
    ['a close authority', extensions.closeAuthority(user), {}],
  ])('%s', (name, extension, expected) => {
    expect(risk(finished(name, extension))).toEqual({ ...HARMLESS, ...expected })
  })

  it('accounts that are frozen by default', () => {
    const mint = finished('frozen', extensions.frozenByDefault(), user)
    expect(risk(mint)).toEqual({ ...HARMLESS, has_white_method: 1, has_black_method: 1, ...OWNED })
    expect(ownerOf(mintOf(mint), null)).toBe(user)
  })

  it('a paused mint, which cannot be bought or sold', () => {
    const mint = finished('paused', extensions.pausable(user))
    machine.run(pause(mint, user))
    expect(risk(mint)).toEqual({ ...HARMLESS, transfer_pausable: 1, cannot_buy: 1, cannot_sell_all: 1, ...OWNED })
  })

  it('a changing fee is the one of the current epoch; without a known epoch it is null', () => {
    const mint = finished('changing', extensions.transferFee(user, 100, 9n))
    machine.run(setTransferFee(mint, user, 500, 9n))
    const taxed = (tax: number) => ({
      buy_tax: tax,
      sell_tax: tax,
      transfer_tax: tax,
      slippage_modifiable: 1,
      ...OWNED,
    })
    expect(risk(mint, 1n)).toEqual({ ...HARMLESS, ...taxed(0.01) })
    expect(risk(mint, 2n)).toEqual({ ...HARMLESS, ...taxed(0.05) })
    const { buy_tax, sell_tax, transfer_tax, ...rest } = HARMLESS
    expect(risk(mint, null)).toEqual({ ...rest, slippage_modifiable: 1, ...OWNED })
  })
})

describe('mints from mainnet', () => {
  it('USDC can be minted and frozen, and is owned by its mint authority', () => {
    const [mint, metadata] = [readMint(realAccount(USDC), USDC), readMetaplex(realAccount(USDC_METADATA), USDC)]
    if (mint === null) throw new Error('no mint')
    expect(ownerOf(mint, metadata)).toBe(mint.mintAuthority)
    expect(riskOf(mint, metadata, null)).toEqual({
      ...HARMLESS,
      ...{ is_mintable: 1, has_mint_method: 1, has_black_method: 1, has_not_renounced: 1 },
      ...{ is_honeypot: -1, risk_score: 65, risk_level: -1 },
      risk_info: {
        token_program: TOKEN,
        mint_authority: 'BJE5MMbqXjVwjAF7oxwPYXnTXDyspzZyt4vwenNw5ruG',
        freeze_authority: '7dGbd2QZcCKcTndnHcTL8q7SMVXAkp688NTQYwrRCrar',
        update_authority: '2wmVCSfPxGPjrnMMn7rchp4uaeoTqN39mXFC2zhPdri9',
        is_metadata_mutable: true,
        reasons: ['new tokens can be minted', 'accounts can be frozen', 'its name and links can be changed'],
        unchecked: ['is_honeypot', 'is_lp_not_locked'],
      },
    })
    expect(ownerOf({ ...mint, mintAuthority: null, freezeAuthority: null }, metadata)).toBe(metadata?.updateAuthority)
  })

  it.each([
    ['permanent delegate', extensions.permanentDelegate(user)],
    ['pause authority', extensions.pausable(user)],
    ['fee authority', extensions.transferFee(user, 1, 1n)],
    ['transfer hook authority', extensions.transferHook(user, maker)],
  ])('a mint is owned by its %s, whoever created it', (name, extension) => {
    expect(ownerOf(mintOf(finished(`owned by ${name}`, extension)), null)).toBe(user)
  })

  it('a Pump.fun mint has no owner', () => {
    const mint = readMint(realAccount(PUMP_MINT), PUMP_MINT)
    if (mint === null) throw new Error('no mint')
    expect(ownerOf(mint, mint.extensions.metadata)).toBeNull()
    const checks = { is_metadata_mutable: false, reasons: [], unchecked: ['is_lp_not_locked'] }
    const risk_info = { token_program: TOKEN_2022, extensions: ['MetadataPointer', 'TokenMetadata'], ...checks }
    const score = { is_honeypot: 0, risk_score: 0, risk_level: 0 }
    expect(riskOf(mint, mint.extensions.metadata, null)).toEqual({ ...HARMLESS, ...score, risk_info })
  })
})
