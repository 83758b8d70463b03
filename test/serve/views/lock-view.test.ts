import { expect, it } from 'vitest'
import { UNKNOWN_RATES } from '../../../services/serve/history/first-buyers.js'
import { applyUpdate } from '../../../services/serve/memory/apply-update.js'
import { createServedChain } from '../../../services/serve/memory/served-chain.js'
import { contractView } from '../../../services/serve/views/contract-view.js'
import type { Market } from '../../../services/serve/views/market-facts.js'
import { TOKEN_MEASURES } from '../../../services/serve/views/ranking.js'
import { tokenView } from '../../../services/serve/views/token-view.js'
import { tokenInfo, tokenUpdate, update } from '../updates.js'

const TOKEN = `0x${'a'.repeat(40)}`
const LOCKER = `0x${'b'.repeat(40)}`
const ETHER = 10n ** 18n

function marketWith(risk: object | null): { market: Market; token: Parameters<typeof tokenView>[1] } {
  const state = createServedChain('eth')
  const info = tokenInfo({
    ...{ decimals: 18, total_supply: (1_000n * ETHER).toString(), burnt_supply: null },
    risk: risk === null ? null : JSON.stringify(risk),
  })
  applyUpdate(
    state,
    update({ tokens: [tokenUpdate({ token: TOKEN, info, main_pair: null, price_usd: 2, holders: 0 })] }),
    1,
  )
  const token = state.tokens.get(TOKEN)
  if (token === undefined) throw new Error('the token is missing')
  return { market: { state, facts: undefined, amms: [] }, token }
}

const LOCKED = {
  ...{ lock_raw: (250n * ETHER).toString(), burn_raw: (100n * ETHER).toString(), lock_platform: 'UNCX, PinkLock' },
  ...{
    is_lp_not_locked: 0,
    pair_lock_percent: 0.95,
    token_lock_percent: 0.25,
    pair_total_raw: (40n * ETHER).toString(),
  },
  locks: [
    { of: 'token', platform: 'PinkLock', locker: LOCKER, raw: (250n * ETHER).toString(), unlock_at: 1_800_000_000 },
    { of: 'pair', platform: 'UNCX', locker: LOCKER, raw: (10n * ETHER).toString(), unlock_at: null },
  ],
}

it('leaves locked tokens out of the market value, and burnt ones out of both', () => {
  const { market, token } = marketWith(LOCKED)
  expect(tokenView(market, token, UNKNOWN_RATES)).toMatchObject({
    ...{ lock_amount: '250', locked_percent: '0.25', lock_platform: 'UNCX, PinkLock', burn_amount: '100' },
    ...{ fdv: '1800', market_cap: '1300', is_lp_not_locked: 0 },
  })
  expect([TOKEN_MEASURES.fdv(market, token), TOKEN_MEASURES.market_cap(market, token)]).toEqual([1800, 1300])
})

it('lists the locks of holders and of the pool', () => {
  const { market, token } = marketWith(LOCKED)
  const largest = [{ holder: LOCKER, balanceRaw: (300n * ETHER).toString() }]
  const view = contractView(market, token, {
    largest,
    balances: new Map(),
    rates: UNKNOWN_RATES,
    creator: '',
    earlier: null,
  })
  expect(view).toMatchObject({
    lock_amount: '250',
    pair_total: '40',
    pair_lock_percent: 0.95,
    token_lock_percent: 0.25,
  })
  expect(view.token_holders_rank).toMatchObject([
    {
      ...{ address: LOCKER, mark: 'lock', is_contract: 1 },
      lock: [{ platform: 'PinkLock', amount: '250', unlock_at: 1_800_000_000 }],
    },
  ])
  expect(view.pair_holders_rank).toMatchObject([
    { address: LOCKER, percent: 0.25, quantity: '10', lock: [{ platform: 'UNCX', amount: '10', unlock_at: 0 }] },
  ])
})

it('says nothing where nothing was read', () => {
  const { market, token } = marketWith(null)
  expect(tokenView(market, token, UNKNOWN_RATES)).toMatchObject({
    ...{ lock_amount: null, locked_percent: null, lock_platform: '', burn_amount: null, is_lp_not_locked: null },
    ...{ fdv: '2000', market_cap: '2000' },
  })
})

it.each([
  ['a text', 'no list'],
  ['other things than locks', [null, 7, 'x', { raw: 5 }]],
])('has no locks where a recording gives %s', (_what, locks) => {
  const { market, token } = marketWith({ lock_raw: '1', locks })
  const holdings = { largest: [], balances: new Map(), rates: UNKNOWN_RATES, creator: '', earlier: null }
  expect(contractView(market, token, holdings).pair_holders_rank).toEqual([])
})
