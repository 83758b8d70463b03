/** PumpSwap events logged on mainnet, one of each version, from other decoders' tests: their values match the formula. */
import { describe, expect, it } from 'vitest'
import { WRAPPED_SOL } from '../../../../../../services/ingest/decode/solana/native-programs.js'
import {
  readBuy,
  readSell,
  type TradeEvent,
} from '../../../../../../services/ingest/decode/solana/programs/pump/pump-amm-events.js'
import { ByteReader } from '../../../../../../services/ingest/decode/solana/wire/byte-reader.js'
import { decoded } from '../../block/decoded.js'
import { realTransaction } from '../../real-transactions.js'

type Captured = { when: string; base64: string; expected: TradeEvent }

const BUYS: readonly Captured[] = [
  {
    when: 'May 2025, before creators had a fee',
    base64:
      'Z/RSHyz1d3ewGxRoAAAAAABwOTE0AAAAOqdyYAAAAAAAAAAAAAAAADqncmAAAAAASvlGiiZCAABvDoESdgAAAEE2cl0AAAAAFAAAAAAAAAAt2C8AAAAAAAUAAAAAAAAADPYLAAAAAABuDqJdAAAAAHoErl0AAAAAtEcjOrsZ7PQMJuPsYlLsz38tXk8EDpqWp2r4QOxTPsQSoqvEp1E+fjT+gGvNzkxTJBmsOSVGYUkpX73CWQ9Pi1yCtie9n9neTrs3dnZ7MUqTnonBt2E6De/WlhEcZmrcmDJlw4Nq065SRjx5NQlq4iX/IbWqcQuq/CeQPnhgEZ/Xqo+wYNgpG0xNR12v92LJa9wNrOs2wBLq0S7TqUhBYQHIIfOo8I/viNwxQkp2gK6MloFwTPHl9ciOJ5m3+YIh',
    expected: {
      ...{ isBuy: true, baseAmount: 224_164_147_200n, quoteAmount: 1_570_901_614n, userQuoteAmount: 1_571_685_498n },
      pool: 'D8jJQR9BcBrfVhhnJ61Phok1YNfGhzwcFyKXLiLXGxYj',
      user: '2FkCvc2FqrPa5NS9r15JWqXcVUyWdUjEJXU1P7or6BvA',
      userBase: '7E87PXphaQ1hq96p39obiiPLJLeYmK55e2pS2TKVrAc3',
      userQuote: 'BF7YRsiaEH3c8ATFy85vshXhU1nEunUsWFRe1aEnHyYA',
      ...{ keepsFees: false, boost: null },
    },
  },
  {
    when: 'June 2025, with a creator',
    base64:
      'Z/RSHyz1d3eYOlxoAAAAAH43BgEMAAAAfwZRVwAAAAAAAAAAAAAAAKHD818AAAAAC+yHXf0aAADn2P9kwwAAALYqDlcAAAAAFAAAAAAAAACFkiwAAAAAAAUAAAAAAAAAoiQLAAAAAAA7vTpXAAAAAH8GUVcAAAAAhk/4liHBkhF4HcBtgqYhWZzhNhKDJViTCFsP4uhMlONIX8qmVzagoSB6sDdk6lKaboYLxDag1o7HhdfO7EbgWpiUze6cg/NCfSJ/6p8D6Q5jX6u4O1owHLAMS3z47cbKqzEqHLmC+5FJslenfVmY4TlNtoqj6520TpcdH+Mg9mtgjMwd/OlhtDt3nBkVBabi079F1aTbRhitdsgtYXVFNV0OMm1Matf/fY9TP8MJCFS9H+8ykQhAD19V155Lh4BRHwWkuyQjYGtXJX8CYeHR6OVlndW7a/8+9vxuyRVJ31sFAAAAAAAAAKIkCwAAAAAA',
    expected: {
      ...{ isBuy: true, baseAmount: 51_556_792_190n, quoteAmount: 1_463_467_323n, userQuoteAmount: 1_464_927_871n },
      pool: 'A3JMnJSj8zfkCyZL3PF6KvhXf63yDnZvoC2em7apqRJS',
      user: '5sX5DxHNXcWMUUBLccozbS4Yjghja9EvdoXxYi6E7VyT',
      userBase: 'BGcaG51KRjo4ydDqxusCwd8EEgzsuFCCXP9E1q2EC1WH',
      userQuote: 'CXGCTu4pSFQ7CsscC6qYumaJGS3a9B2fKGM7y4sn6QaW',
      ...{ keepsFees: false, boost: null },
    },
  },
  {
    when: 'July 2026, a boosted pool, with an exact input amount',
    base64:
      'Z/RSHyz1d3fkQmRqAAAAAMcNhtMoAgAAwIeLOwAAAAAAAAAAAAAAAF7OWKoHAAAAAAgBqSy8AABetLOxDwAAAMCHizsAAAAAAgAAAAAAAADWAgMAAAAAAF0AAAAAAAAAwAOMAAAAAACAWdI6AAAAAKpWzzoAAAAA6pwckxLA/KYL1J4hgZb0cRsoL7pIUK8JSMfAFpa8g82gT01zesdggWK47ySyi231AKlJ9xkEyZXyWm6zOBK4FCPA7LZeOT6/eDor1UTD9BOpxLgkecSbjTpbW3J+yhhFJMBV0Uq1ei2khbuMqkWFFxFmKN/zSZL32iwpQ+44+ZlKwvjQ3Vy8l+MonBl8tQYqVPPZVrnOblEV+WVnqlyz5nfZFZVfiIBzHOtKdaDMlsF0+kCVxOHZlnrPxChFrmeulTyimfu5xg7z13URFZgIQB4lJ5pLBTVQxPnoFu2UXkEeAAAAAAAAAIAqLQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAASAAAAYnV5X2V4YWN0X3F1b3RlX2luAAAAAAAAAAAAAAAAAAAAAIgTAAAAAAAA4AFGAAAAAADOQR4YBAAAAAAAAAAAAAAAAQCAxqR+jQMA',
    expected: {
      ...{ isBuy: true, baseAmount: 2_374_370_725_319n, quoteAmount: 986_864_000n, userQuoteAmount: 999_000_000n },
      pool: 'GnpU6c7H9CbPrbb9cUkQMxgz6DZV41h8XbU4pLh4C27e',
      user: 'BnnNJJgy9w2MLQ9XBKJKG9FQa2r9qdW7u5VpzEkwUcc3',
      userBase: '3QZtnwZkybmuRLmfwkkMsPccVyVDop7bri2Kwz4tf1cQ',
      userQuote: '3UTnCnu8oseGb7pnCBc3qbgJfKFKSXmrhV376wagzNtY',
      ...{ keepsFees: false, boost: { virtualQuote: 17_584_505_294n, isBoosted: true, mayKeepFees: false } },
    },
  },
  {
    when: 'October 2026, with appended fields',
    base64:
      'Z/RSHyz1d3fM6cBqAAAAAFB0JgIAAAAA9B4DAAAAAABZNHNvAAAAAPQeAwAAAAAAlrzoWPUyAADtn7QiRQAAAPQeAwAAAAAAFAAAAAAAAACWAQAAAAAAAAUAAAAAAAAAZgAAAAAAAACfGAMAAAAAAAkXAwAAAAAA2HDWi7oZ18wTBFdfoPVkG6Z+pvZQDjqDlaf2OYt5k+z9G4/s1gApAqqZNRIbbI4wbxy0AUSbpbjZWa8wtxg5FaQqN5j5zraPfQTJMO04EFRo3BQhAu0e2MAig32FVtUfLTyNp7DOjRu5gS+igcp6qfxWa5wp+nH0MgCsdJ86MgP/g4OBi6j6KMPNO21ek/n6uPCXm8NyFazFskaHe6jDybnwRqOiz07iErT6kv2dAPpPsLP8/TYeQK5TkflgNepjRKbk83kPdsHW50zrpvmT39BQMpVM2jI02hO1L9H3i7tLAAAAAAAAAO8FAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA2nEbAgAAAAASAAAAYnV5X2V4YWN0X3F1b3RlX2luAAAAAAAAAAAAAAAAAAAAAIgTAAAAAAAAMwAAAAAAAADIQR4YBAAAAAAAAAAAAAAAAXZVG7QJiQMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    expected: {
      ...{ isBuy: true, baseAmount: 36_074_576n, quoteAmount: 202_911n, userQuoteAmount: 204_532n },
      pool: 'FZtrit4gNT3wCKw4sM5pJStnb71vRXyDS9ewFuE3kWXM',
      user: 'J32XNh9RbgdrYzrFDohR8q6yYwfMvdCpc9Xb1N5YKNjW',
      userBase: 'C3qCaBZfCvZFMiCiPV3UPPdZH8uoaX98EAPjHsMwLn2z',
      userQuote: '43auCsS9BoqjEVDRMH8XURBRxYs8KaPSozW8bNhmMRVk',
      ...{ keepsFees: false, boost: { virtualQuote: 17_584_505_288n, isBoosted: true, mayKeepFees: true } },
    },
  },
]

const SALE: Captured = {
  when: 'July 2026, the same pool two seconds later',
  base64:
    'Pi83CqUD3CrmQmRqAAAAADtuhqUYAwAAAAAAAAAAAAAbGsAnUgoAANJWF+ADAAAAqhLbyY6vAAAU3GYeEQAAAGH1HV4AAAAAFAAAAAAAAAAcMDAAAAAAAAUAAAAAAAAABwwMAAAAAABFxe1dAAAAALzU/FwAAAAA6pwckxLA/KYL1J4hgZb0cRsoL7pIUK8JSMfAFpa8g81Ihrlny62JCwao1h0+OB+aTwTdHdq16yfwTu53cP005RWjZRpHJI8kV9WUKCPkH+1mk9zmoh1sC0zv8I/kalDbK4IDVG1+w3hTpd1zBzEQ5HofTtf6kklRvm4N6MDY2mfgBMh865j6XOR/gDgG/Sx5RdKVJJWa7ADe2XgU8494RpwlJHx6/mh3nE583EE55WuEze54pO2bR06h+o7pPOIllTyimfu5xg7z13URFZgIQB4lJ5pLBTVQxPnoFu2UXkFfAAAAAAAAAILk5AAAAAAAAAAAAAAAAAAAAAAAAAAAAIgTAAAAAAAAAwYGAAAAAADOQR4YBAAAAAAAAAAAAAAAAQCAxqR+jQMA',
  expected: {
    ...{ isBuy: false, baseAmount: 3_404_391_149_115n, quoteAmount: 1_575_863_621n, userQuoteAmount: 1_560_073_404n },
    pool: 'GnpU6c7H9CbPrbb9cUkQMxgz6DZV41h8XbU4pLh4C27e',
    user: '5t7WHxJTQ2t2XU44zztUWNa2FMfme99M5fA4ND2oUxNp',
    userBase: '2TU4zyoEAd4M7c8iUMWBbEkUTGc1uNkAKfTBo2AaqJgr',
    userQuote: '3vqWt27VykBeVbZvNBCS3gjFSUXkGC9qnqQREXeyq3EE',
    ...{ keepsFees: false, boost: { virtualQuote: 17_584_505_294n, isBoosted: true, mayKeepFees: false } },
  },
}

/** The bytes after the event's discriminator. */
const readerOf = ({ base64 }: Captured) => new ByteReader(Buffer.from(base64, 'base64'), 8)
const u64 = ({ base64 }: Captured, at: number) => Buffer.from(base64, 'base64').readBigUInt64LE(at)
const [POOL_BASE, POOL_QUOTE, GROSS, WITH_LIQUIDITY_FEE, LIQUIDITY_FEE] = [48, 56, 64, 104, 80]

describe('a buy', () => {
  it.each(BUYS)('of $when', (captured) => {
    expect(readBuy(readerOf(captured))).toEqual(captured.expected)
  })

  it.each(BUYS)('of $when matches the pool’s real and virtual reserves', (captured) => {
    const { boost, baseAmount } = captured.expected
    const quote = u64(captured, POOL_QUOTE) + (boost?.virtualQuote ?? 0n)
    const paid = u64(captured, WITH_LIQUIDITY_FEE) - u64(captured, LIQUIDITY_FEE)
    const given = (u64(captured, POOL_BASE) * paid) / (quote + paid)
    // The program rounds by one quote unit, which buys several hundred base units.
    const unit = u64(captured, POOL_BASE) / quote + 1n
    expect(given - baseAmount).toBeGreaterThanOrEqual(0n)
    expect(given - baseAmount).toBeLessThanOrEqual(unit)
  })
})

describe('a sale', () => {
  it(`of ${SALE.when}`, () => {
    expect(readSell(readerOf(SALE))).toEqual(SALE.expected)
    const quote = u64(SALE, POOL_QUOTE) + 17_584_505_294n
    const { baseAmount } = SALE.expected
    expect((quote * baseAmount) / (u64(SALE, POOL_BASE) + baseAmount)).toBe(u64(SALE, GROSS))
  })
})

describe('a recorded transaction', () => {
  it('with a sale and a buy by two signers has the pool’s amounts and consistent reserves between them', () => {
    const { value, slot } = realTransaction('fixtures/pump-amm-sell-and-buy.json')
    const pool = '5Jrjc6w2UEGxFYfnyvvX9VdEovXyJkCaXwFXo525za8x'
    const token = 'Ejw8VHkEpehDMEYBroqhqWJdy7BFQhjig8AdNMjAgxUd'
    const [seller, buyer] = [
      'HgZDiuJBz4D5MLMvG3hm2bHQ9UvSyiAJmxXnoncWvmQB',
      'CqJviA1TaBWWnkX515NthiykyA42a5hyXrEgLXoSZM5R',
    ]
    const { events, lost } = decoded(value, slot)
    expect(lost).toEqual([])
    expect(events.filter(({ type }) => type === 'swap')).toMatchObject([
      {
        ...{ pool, amm: 'pumpamm', sender: seller, recipient: seller, wallet: seller },
        ...{ token_in: WRAPPED_SOL, amount_in: '4130787582', token_out: token, amount_out: '3603888799475' },
        ...{ reserve0: '1039714530341', reserve1: '905764238318645' },
      },
      {
        ...{ pool, amm: 'pumpamm', sender: buyer, recipient: buyer, wallet: buyer },
        ...{ token_in: token, amount_in: '2799824090886', token_out: WRAPPED_SOL, amount_out: '3196010968' },
        ...{ reserve0: '1036518519373', reserve1: '908564062409531' },
      },
    ])
  })

  it.each([
    {
      file: 'pump-amm-buy-through-okx.json',
      what: 'a leg of a route: the router’s account trades for the wallet that signed',
      ...{
        sender: 'HV1KXxWFaSeriyFvXyx48FqG9BoFbfinB8njCJonqP7K',
        wallet: 'G2341KGbNxuSAfCfqNuPhfLQtPB94hPfgyVPC89Faor4',
      },
      ...{ token_in: WRAPPED_SOL, amount_in: '3615608' },
      ...{ token_out: '8k1DvnFBsbuWJw2t4JqTibR7cAgqadMveqiykMr1pump', amount_out: '4374143343' },
      ...{ reserve0: '147928614899239', reserve1: '122035346330' },
    },
    {
      file: 'pump-amm-buy-token-2022.json',
      what: 'buys SOL with a Token-2022 mint',
      ...{
        sender: '95rVs91daKmzom4SM41dg4MRmy5M7rMEHPerenZwWaCq',
        wallet: '95rVs91daKmzom4SM41dg4MRmy5M7rMEHPerenZwWaCq',
      },
      ...{ token_in: 'EWV6bjhKF5zkXANCdWPvDs7dofRVk4pKyVTitqgEWj8E', amount_in: '468700510855632' },
      ...{ token_out: WRAPPED_SOL, amount_out: '201692493', reserve0: '148415933487', reserve1: '344503076480687631' },
    },
  ])('$file: $what', ({ file, what: _, ...expected }) => {
    const { value, slot } = realTransaction(`fixtures/${file}`)
    expect(decoded(value, slot).events.filter(({ type }) => type === 'swap')).toMatchObject([expected])
  })
})
