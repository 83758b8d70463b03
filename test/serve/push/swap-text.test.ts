/** The text put together for a swap is the one JSON.stringify gives for its fields. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Trade } from '../../../services/core/domain/records.js'
import { PairState } from '../../../services/serve/memory/served-chain.js'
import { pairSwapResult, swapResult, swapText } from '../../../services/serve/push/topics/swap-text.js'
import { decimalOrEmpty, quotedText, rawOrEmpty, rawToNumber } from '../../../services/serve/views/field-formats.js'
import { pairInfo, pairUpdate, tokenInfo, trade } from '../updates.js'

/** With characters that JSON escapes twice. */
const PROFILE = { 'a"': '\\' } as unknown as NonNullable<Trade['profile']>
const BLOCK = { number: 100, timeS: 1_700_000_000 }
const anyText = fc.string({ unit: 'binary' })
/** As in a real swap. Rarely is one of several texts to escape. */
const plainText = fc.oneof({ weight: 20, arbitrary: fc.base64String() }, { weight: 1, arbitrary: anyText })
const anyDouble = fc.double()
const anyRaw = fc.option(
  fc.bigInt({ min: 0n, max: 2n ** 200n }).map((raw) => String(raw)),
  { nil: null },
)
const anyToken = fc.record({ symbol: fc.option(anyText, { nil: null }), decimals: fc.constantFrom(null, 0, 6, 18) })

it('equals the JSON of its fields, for any texts and figures', () => {
  const given = fc.record({
    sell: fc.boolean(),
    target: fc.constantFrom(0, 1),
    texts: fc.oneof(
      fc.array(anyText, { minLength: 10, maxLength: 10 }),
      fc.array(plainText, { minLength: 10, maxLength: 10 }),
    ),
    doubles: fc.array(anyDouble, { minLength: 7, maxLength: 7 }),
    raws: fc.array(anyRaw, { minLength: 4, maxLength: 4 }),
    tokens: fc.tuple(anyToken, anyToken),
    profile: fc.constantFrom(null, PROFILE),
  })
  fc.assert(fc.property(given, (values) => void expect(resultsOf(values)).toEqual(expectedOf(values))))
})

type Given = {
  sell: boolean
  target: number
  texts: string[]
  doubles: number[]
  raws: (string | null)[]
  tokens: [TokenFacts, TokenFacts]
  profile: Trade['profile']
}
type TokenFacts = { symbol: string | null; decimals: number | null }

function swapOf({ sell, target, texts, doubles, raws, tokens, profile }: Given) {
  const [pair = '', amm = '', token0 = '', token1 = '', chain = '', id = '', sender = ''] = texts
  const [recipient = '', wallet = '', tx_hash = ''] = texts.slice(7)
  const [price_usd = 0, price_native = 0, quote_usd = 0, quote_native = 0, amount_usd = 0, amount_native = 0, tvl = 0] =
    doubles
  const [amountIn, amountOut, reserve0 = null, reserve1 = null] = raws
  const state = PairState.of(pairUpdate({ pair, tvl }), pairInfo({ amm, token0, token1, target }), 0)
  return {
    at: {
      ...{ chain, nowS: 0, pair: state, isMainPair: false },
      ...{ info0: tokenInfo(tokens[0]), info1: tokenInfo(tokens[1]) },
    },
    swap: trade({
      ...{ sell, id, sender, recipient, wallet, tx_hash, reserve0, reserve1, profile },
      ...{ amount_in: amountIn ?? '0', amount_out: amountOut ?? '0' },
      ...{ price_usd, price_native, quote_usd, quote_native, amount_usd, amount_native },
    }),
  }
}

function resultsOf(values: Given): string[] {
  const { at, swap } = swapOf(values)
  const text = swapText(at, BLOCK, swap)
  return [pairSwapResult(text, swap, '1:eth:2:3'), swapResult(text, '1:eth:2:3')]
}

function expectedOf(values: Given): string[] {
  const { at, swap } = swapOf(values)
  const { amm, token0, token1 } = at.pair.info
  const side0 = { address: token0, info: at.info0, reserve: swap.reserve0 }
  const side1 = { address: token1, info: at.info1, reserve: swap.reserve1 }
  const [targetSide, quoteSide] = values.target === 0 ? [side0, side1] : [side1, side0]
  const target = { ...targetSide, usd: swap.price_usd, native: swap.price_native }
  const quote = { ...quoteSide, usd: swap.quote_usd, native: swap.quote_native }
  const [from, to] = swap.sell ? [target, quote] : [quote, target]
  const quoteReserve = rawToNumber(quote.reserve, quote.info.decimals)
  const tx = {
    amm,
    amount_eth: decimalOrEmpty(swap.amount_native),
    amount_usd: decimalOrEmpty(swap.amount_usd),
    block_number: BLOCK.number,
    chain: at.chain,
    direction: swap.sell ? 'sell' : 'buy',
    from_address: from.address,
    from_amount: rawOrEmpty(swap.amount_in, from.info.decimals),
    from_price_eth: decimalOrEmpty(from.native),
    from_price_usd: decimalOrEmpty(from.usd),
    from_reserve: rawOrEmpty(from.reserve, from.info.decimals),
    from_symbol: from.info.symbol ?? '',
    id: swap.id,
    pair_address: at.pair.pair,
    pair_liquidity_eth: decimalOrEmpty(quoteReserve * swap.quote_native),
    pair_liquidity_usd: decimalOrEmpty(quoteReserve * swap.quote_usd),
    pair_type: '',
    sender: swap.sender,
    target_token: target.address,
    time: BLOCK.timeS,
    to: swap.recipient,
    to_address: to.address,
    to_amount: rawOrEmpty(swap.amount_out, to.info.decimals),
    to_price_eth: decimalOrEmpty(to.native),
    to_price_usd: decimalOrEmpty(to.usd),
    to_reserve: rawOrEmpty(to.reserve, to.info.decimals),
    to_symbol: to.info.symbol ?? '',
    transaction: swap.tx_hash,
    tvl: decimalOrEmpty(at.pair.tvl),
    tx_swap_type: swap.sell ? 1 : 0,
    wallet_address: swap.wallet,
    wallet_tag: null,
  }
  const profile = swap.profile === null ? '' : JSON.stringify(swap.profile)
  const result = { id: at.pair.pair, topic: 'tx', cursor: '1:eth:2:3' }
  const ofPair = { ...tx, profile, tx_seq: String(swap.tx_seq) }
  return [ofPair, tx].map((fields) =>
    JSON.stringify({ id: result.id, topic: result.topic, tx: fields, cursor: result.cursor }),
  )
}

it('quotes any text as JSON.stringify does', () => {
  fc.assert(fc.property(anyText, (text) => void expect(quotedText(text)).toBe(JSON.stringify(text))))
})
